"""moto's S3, with a bucket `lake`. It prints its address.

A program of its own, in the environment of `requirements.txt`.
"""

import signal
from urllib.request import Request, urlopen

from moto.server import ThreadedMotoServer


def main() -> None:
    """Serve on a free port of this machine until a signal ends it."""
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    urlopen(Request(f"{url}/lake", method="PUT"))  # noqa: S310 - our own server
    print(url, flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
