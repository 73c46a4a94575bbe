"""The steps of a backfill on several machines; each is one task of a scheduler.

They run where Meltano is, in the folder of a project whose plugins are installed. All
machines share one state backend, as `MELTANO_STATE_BACKEND_URI` says, and one database
to load.
"""

import json
import os
import subprocess
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

TAP, LOADER = "tap-leadintent", "target-postgres"
STATE = f"dev:{TAP}-to-{LOADER}"
INCREMENTAL = ["leads", "signal_accounts", "observations", "monitored_leads"]
"""What is loaded in shards; full tables are read once, by the run that catches up."""


@dataclass(frozen=True)
class Backfill:
    """A backfill of all that lies between two times.

    Attributes:
        project: Folder of the Meltano project.
        start: Where it begins; it becomes the project's `start_date`.
        end: Where it ends: now, or where what is loaded already begins.
        shards: Into how many shards to cut it.
    """

    project: Path
    start: str
    end: str
    shards: int = 3

    def make_tables(self) -> None:
        """Make the tables, as shards would race for it. Nothing is read."""
        self._run({"start_date": self.start, "end_date": self.start})

    def split(self) -> list[dict[str, str]]:
        """Give the bounds of each shard, all of equal length."""
        start, end = map(datetime.fromisoformat, (self.start, self.end))
        cuts = [start + (end - start) * n / self.shards for n in range(self.shards + 1)]
        bounds = pairwise(cut.isoformat(timespec="seconds") for cut in cuts)
        return [{"start_date": since, "end_date": until} for since, until in bounds]

    def load(self, shard: dict[str, str]) -> None:
        """Load a shard. A second try goes on where the first one ended."""
        self._run(shard)

    def join(self, shards: list[dict[str, str]]) -> None:
        """Let the project's state cover what the shards have loaded.

        A shard that is missing or has loaded a part only is an error, and the state
        stays as it is.
        """
        known = self._meltano("state", "list").split()
        states = [f"{STATE}:{_suffix(shard)}" for shard in shards]
        with TemporaryDirectory() as folder:
            paths = []
            for state in [*states, *({STATE} & {*known})]:
                paths.append(Path(folder, f"{len(paths)}.json"))
                paths[-1].write_text(self._meltano("state", "get", state), "utf-8")
            join = ("invoke", "--no-install", f"{TAP}:state", "join")
            bounds = ("--from", self.start, "--to", self.end)
            joined = Path(folder, "joined.json")
            joined.write_text(self._meltano(*join, *bounds, *map(str, paths)), "utf-8")
            options = ("--force", "--input-file", str(joined))
            self._meltano("state", "set", *options, STATE)

    def catch_up(self) -> None:
        """Run without an end: what is new since, changed signals, and full tables."""
        start = {"TAP_LEADINTENT_START_DATE": self.start}
        self._meltano("run", "--no-install", TAP, LOADER, **start)

    def _run(self, shard: dict[str, str]) -> None:
        with TemporaryDirectory() as folder:
            # Two runs in one system folder would overwrite each other's files.
            for plugins in ("extractors", "loaders"):
                Path(folder, plugins).symlink_to(self._system / plugins)
            self._meltano(
                *("run", "--no-install", "--force"),
                *("--state-id-suffix", _suffix(shard), TAP, LOADER),
                MELTANO_SYS_DIR_ROOT=folder,
                TAP_LEADINTENT_START_DATE=shard["start_date"],
                TAP_LEADINTENT_END_DATE=shard["end_date"],
                TAP_LEADINTENT__SELECT=json.dumps([f"{s}.*" for s in INCREMENTAL]),
            )

    @property
    def _system(self) -> Path:
        given = os.environ.get("MELTANO_SYS_DIR_ROOT")
        return Path(given) if given else self.project / ".meltano"

    def _meltano(self, *arguments: str, **variables: str) -> str:
        command = ("meltano", *arguments)
        done = subprocess.run(  # noqa: S603 - our own arguments
            command,
            cwd=self.project,
            env={**os.environ, **variables},
            check=False,
            capture_output=True,
            encoding="utf-8",
        )
        if done.returncode:
            said = "\n".join(done.stderr.splitlines()[-20:])
            msg = f"{' '.join(command[:3])} ended with {done.returncode}:\n{said}"
            raise RuntimeError(msg)
        return done.stdout


def _suffix(shard: dict[str, str]) -> str:
    bounds = f"{shard['start_date']}-{shard['end_date']}"
    return "".join(filter(str.isalnum, bounds))
