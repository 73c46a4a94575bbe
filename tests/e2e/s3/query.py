"""Asks DuckDB about the files of the bucket `lake`: `query.py URL FOLDER QUERY`.

The files are fetched into the folder, whose name stands for `s3://lake` in the query.
A program of its own, in the environment of `requirements.txt`. It prints each row as
JSON, times as ISO 8601.
"""

import sys
from pathlib import Path

import boto3
import duckdb


def main(
    url: str,
    folder: str,
    query: str,
) -> None:
    """Print the rows."""
    client = boto3.client(
        "s3",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",  # noqa: S106
    )
    for page in client.get_paginator("list_objects_v2").paginate(Bucket="lake"):
        for found in page.get("Contents", []):
            path = Path(folder, found["Key"])
            path.parent.mkdir(
                parents=True,
                exist_ok=True,
            )
            client.download_file(
                "lake",
                found["Key"],
                str(path),
            )
    duckdb.execute("SET timezone = 'UTC'")
    selected = query.replace("s3://lake", folder)
    output = Path(folder, "rows.jsonl")
    duckdb.execute(f"COPY ({selected}) TO '{output}' (FORMAT json)")
    sys.stdout.write(output.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(*sys.argv[1:])
