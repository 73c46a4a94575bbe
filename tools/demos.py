"""The demo in a process of its own.

`python -m tools.demos` draws `docs/demo.svg` and, from a real run against the
sandbox, `docs/check.svg`: the pictures in README.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil  # type: ignore[import-untyped]

from tap_leadintent.demo.report import columns_of
from tap_leadintent.sandbox import running_sandbox
from tests.support.pages import README, ROOT, blocks

PICTURE = ROOT / "docs" / "demo.svg"
CHECK_PICTURE = ROOT / "docs" / "check.svg"
CHECK = "meltano invoke tap-leadintent:check"
_HEAD = '<rect width="100%" height="100%" rx="8" fill="#1e1e1e"/>'


def start(python: Path | str, folder: Path, **variables: str) -> subprocess.Popen[str]:
    """Start a demo that writes its project into a folder."""
    return subprocess.Popen(
        [python, "-m", "tap_leadintent.demo", folder],
        cwd=folder.parent,
        env={**os.environ, "DEMO_UNDER_TEST": str(folder), **variables},
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def family(folder: Path) -> list[str]:
    """Return the command lines of all processes of a demo."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        command = process.info["cmdline"] or []
        environ = process.info["environ"] or {}
        # The processes of PostgreSQL may overwrite their environment.
        own = environ.get("DEMO_UNDER_TEST") == str(folder)
        if own or str(folder / "postgres") in command:
            found.append(" ".join(command))
    return found


@contextmanager
def open_folder() -> Iterator[Path]:
    """Make a folder that every user may enter, because PostgreSQL does not run as root.

    The folders of pytest cannot be used: it closes their parent to other users.
    """
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder).resolve()


def picture(command: str, printed: str) -> str:
    """Return a picture of a command and what it has printed, without next steps."""
    name = command.rpartition(" ")[2]
    printed = printed.partition("\nTo continue")[0].rstrip()
    lines = [f"$ {command}", *printed.splitlines()]
    # Each cell has its own place, as the fonts of a page differ in width.
    texts = "".join(
        f'<text x="{16 + 8.4 * columns_of(line[: cell.start()]):.0f}" '
        f'y="{30 + 18 * n}">{escape(cell[0], quote=False)}</text>\n'
        for n, line in enumerate(lines)
        for cell in re.finditer(r"\S+( \S+)*", line)
    )
    return (
        f'<svg role="img" xmlns="http://www.w3.org/2000/svg" width="830" '
        f'height="{40 + 18 * len(lines)}" font-family="monospace" font-size="14" '
        f'fill="#ddd" xml:space="preserve">\n'
        f"<title>What {name} prints</title>\n{_HEAD}\n{texts}</svg>\n"
    )


def demo_command() -> str:
    """Return the command of README that starts the demo."""
    return blocks(README.read_text(encoding="utf-8"), "sh")[0].partition("&& ")[2]


def checked() -> str:
    """Return what the check-up prints of a sandbox, without the build's own name."""
    streams = "--stream=leads", "--stream=observations"
    with running_sandbox("--history=growing") as sandbox:
        sandbox.faults({"kind": "cut_range", "stream": "leads", "days": 7})
        settings = {"base_url": sandbox.url, "api_key": "sandbox-key"}
        variables = {f"TAP_LEADINTENT_{n.upper()}": v for n, v in settings.items()}
        code = "from tap_leadintent.checkup.cli import main; main()"
        printed = subprocess.run(
            [sys.executable, "-c", code, *streams],
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        ).stdout
    return printed.partition("\n")[2]


if __name__ == "__main__":
    CHECK_PICTURE.write_text(picture(CHECK, checked()), encoding="utf-8")
    with open_folder() as folder:
        printed, _ = start(sys.executable, folder / "demo").communicate()
    PICTURE.write_text(picture(demo_command(), printed), encoding="utf-8")
