"""fakesnow's server, which understands what target-snowflake says of its stage.

The target uploads files to the user's own stage (`@~`) and reads them inside MERGE and
COPY; fakesnow has no such stage and no such reading. So these statements are put into
others that mean the same, and their own text stays unproven. Login, uploads, sessions,
schemas, tables, columns, ACTIVATE_VERSION and all else pass as they are.

A program of its own, in the environment of `requirements.txt`. It prints its port.
"""

import gzip
import json
import logging
import re
import shutil
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvicorn
from fakesnow.server import app, shared_fs
from fakesnow.transforms.stage import LOCAL_BUCKET_PATH

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_QUERY = "/queries/v1/query-request"
_STAGE = "TESTDB.PUBLIC.HOME"
_FOLDER = Path(LOCAL_BUCKET_PATH, *_STAGE.split("."))

_HOME = re.compile(r"'@~/target-snowflake/([^'/]+)/?'")
_MERGE = re.compile(
    r"(?P<into>merge into .+ using )"
    r"\((?P<select>select .+) from '@~[^']+'\(file_format => [^)]+\) (?P<newest>.+)\) s"
    r"(?P<clauses> on .+)",
)
_COPY = re.compile(
    r"copy into (?P<into>.+?) \((?P<columns>.+?)\) from "
    r"\((?P<select>select .+) from '@~[^']+'\)file_format = .+"
)


def translated(statement: str) -> list[str]:
    """Put a statement into such as fakesnow understands.

    Args:
        statement: Any of the target's.

    Returns:
        Statements, the last of which has the first one's result.

    Raises:
        ValueError: It speaks of the stage in words that are not known here.
    """
    if statement.startswith("drop file format"):
        return ["select 'dropped'"]
    home = _HOME.search(statement)
    if home is None:
        return [statement]
    name = home[1]
    # One for each upload, as the target loads several streams at once.
    lines = f'TESTDB.PUBLIC."{name} lines"'
    rows = f'TESTDB.PUBLIC."{name} rows"'
    if statement.startswith("put "):
        return [_HOME.sub(f"@{_STAGE}/{name}", statement)]
    if statement.startswith("remove "):
        shutil.rmtree(_FOLDER / name)
        drops = [f"drop table if exists {table}" for table in (lines, rows)]
        return [*drops, "select 'removed'"]
    files = f"read_json_objects('{_FOLDER / name}/*')"
    numbered = f"select row_number() over () as number, json as line from {files}"
    statement = statement.replace("$1:", "line:").replace("SEQ8()", "number")
    read = ["use schema TESTDB.PUBLIC", f"create table {lines} as {numbered}"]
    if merge := _MERGE.fullmatch(statement):
        created = f"create table {rows} as {merge['select']} from {lines} "
        return [
            *read,
            created + merge["newest"],
            f"{merge['into']}{rows} s{merge['clauses']}",
        ]
    if copy := _COPY.fullmatch(statement):
        insert = f"insert into {copy['into']} ({copy['columns']}) "
        insert += f"{copy['select']} from {lines}"
        report = f"select '{name}', 'LOADED', count(*), count(*) from {lines}"
        return [*read, insert, report]
    raise ValueError(f"no translation for: {statement}")


async def _translating(
    scope: Message,
    receive: Receive,
    send: Send,
) -> None:
    if scope["type"] != "http" or scope["path"] != _QUERY:
        await app(scope, receive, send)
        return
    headers = dict(scope["headers"])
    content = b""
    while True:
        message = await receive()
        content += message["body"]
        if not message.get("more_body"):
            break
    if headers.pop(b"content-encoding", b"") == b"gzip":
        content = gzip.decompress(content)
    query = json.loads(content)

    async def ask(statement: str, send: Send) -> None:
        body = json.dumps({**query, "sqlText": statement}).encode()
        length = {b"content-length": str(len(body)).encode()}
        changed = {
            **scope,
            "headers": [*(headers | length).items()],
        }

        async def receive() -> Message:
            return {"type": "http.request", "body": body}

        await app(changed, receive, send)

    async def check(message: Message) -> None:
        if (body := message.get("body")) and not json.loads(body)["success"]:
            raise ValueError(body.decode())

    *before, last = translated(query["sqlText"])
    for statement in before:
        await ask(statement, check)
    await ask(last, send)


def main() -> None:
    """Serve a database `TESTDB` on a free port of this machine."""
    logging.getLogger("fakesnow.server").setLevel(logging.ERROR)
    shared_fs.connect("TESTDB", "PUBLIC").cursor().execute(f"create stage {_STAGE}")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(listening.getsockname()[1], flush=True)
        config = uvicorn.Config(_translating, log_level="error")
        uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    main()
