"""The steps of a backfill on several machines. Each step is one task of a scheduler.

They run in the folder of a Meltano project whose plugins are installed. All machines
share one state backend (`MELTANO_STATE_BACKEND_URI`), load one database, and name the
same environment (`MELTANO_ENVIRONMENT`).
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
STATE = f"{os.environ.get('MELTANO_ENVIRONMENT', 'dev')}:{TAP}-to-{LOADER}"
SELECT = ["leads.*", "signal_accounts.*", "observations.*", "monitored_leads.*"]
"""The streams that are loaded in shards. The last run reads the full tables."""


@dataclass(frozen=True)
class Backfill:
    """A backfill of everything between two times.

    Attributes:
        project: The folder of the Meltano project.
        start: Where the backfill begins. It becomes the project's `start_date`.
        end: Where it ends: now, or where the loaded data begins.
        shards: The number of shards.
    """

    project: Path
    start: str
    end: str
    shards: int = 3

    def make_tables(self) -> None:
        """Create the tables. Shards that run at once would all try to create them."""
        self._run({"start_date": self.start, "end_date": self.start})

    def split(self) -> list[dict[str, str]]:
        """Return the bounds of each shard. All shards have the same length."""
        start, end = map(datetime.fromisoformat, (self.start, self.end))
        cuts = [start + (end - start) * n / self.shards for n in range(self.shards + 1)]
        bounds = pairwise(cut.isoformat(timespec="seconds") for cut in cuts)
        return [{"start_date": since, "end_date": until} for since, until in bounds]

    def load(self, shard: dict[str, str]) -> None:
        """Load a shard. A second attempt continues where the first one ended."""
        self._run(shard)

    def join(self, shards: list[dict[str, str]]) -> None:
        """Add what the shards have loaded to the state of the project.

        If a shard is missing or not completely loaded, an error is raised and the state
        is not changed.
        """
        known = self._meltano("state", "list").split()
        states = [f"{STATE}:{_suffix(shard)}" for shard in shards]
        with TemporaryDirectory() as folder:
            paths: list[Path] = []
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
        """Run without an end date, for new records, changed signals and full tables."""
        start = {"TAP_LEADINTENT_START_DATE": self.start}
        self._meltano("run", "--no-install", TAP, LOADER, **start)

    def _run(self, shard: dict[str, str]) -> None:
        with TemporaryDirectory() as folder:
            # Two runs in the same system folder would overwrite each other's files.
            for plugins in ("extractors", "loaders"):
                Path(folder, plugins).symlink_to(self._system / plugins)
            self._meltano(
                *("run", "--no-install", "--force"),
                *("--state-id-suffix", _suffix(shard), TAP, LOADER),
                MELTANO_SYS_DIR_ROOT=folder,
                TAP_LEADINTENT_START_DATE=shard["start_date"],
                TAP_LEADINTENT_END_DATE=shard["end_date"],
                TAP_LEADINTENT__SELECT=json.dumps(SELECT),
            )

    @property
    def _system(self) -> Path:
        folder = os.environ.get("MELTANO_SYS_DIR_ROOT")
        return Path(folder) if folder else self.project / ".meltano"

    def _meltano(self, *arguments: str, **variables: str) -> str:
        command = ("meltano", *arguments)
        with subprocess.Popen(  # noqa: S603 - our own arguments
            command,
            cwd=self.project,
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as process:
            try:
                output, errors = process.communicate()
            except BaseException:
                # A task has run for too long, for example. `subprocess.run` would kill
                # Meltano, which would then refuse all runs for five minutes.
                process.terminate()
                process.communicate()
                raise
        if process.returncode:
            log = "\n".join(errors.splitlines()[-20:])
            msg = f"{' '.join(command[:3])} ended with {process.returncode}:\n{log}"
            raise RuntimeError(msg)
        return output


def _suffix(shard: dict[str, str]) -> str:
    bounds = f"{shard['start_date']}-{shard['end_date']}"
    return "".join(filter(str.isalnum, bounds))
