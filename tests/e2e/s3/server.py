"""moto's S3, with a bucket `lake`. It prints its address.

A program of its own, in the environment of `requirements.txt`.
"""

import signal

import boto3
from moto.server import ThreadedMotoServer


def main() -> None:
    """Serve on a free port of this machine until a signal ends it."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    client = boto3.client(
        "s3",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",  # noqa: S106
    )
    client.create_bucket(Bucket="lake")
    print(url, flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
