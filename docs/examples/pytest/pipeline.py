"""An example of a pipeline: loads leads into SQLite, and says whom to call first."""

import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any


def load(config: dict[str, Any], folder: Path) -> None:
    """Load new leads. If the tap fails, keep what it has read, and raise an error."""
    state, settings = folder / "state.json", folder / "config.json"
    settings.write_text(json.dumps(config))
    command = ["tap-leadintent", "--config", str(settings)]
    if state.exists():
        command += ["--state", str(state)]
    with (
        connect(folder) as database,
        subprocess.Popen(command, stdout=subprocess.PIPE) as tap,
    ):
        for line in tap.stdout or ():
            message = json.loads(line)
            if message["type"] == "RECORD" and message["stream"] == "leads":
                lead = message["record"]
                score = lead["score"] or {}
                row = (lead["id"], lead["full_name"], score.get("value"))
                database.execute("INSERT OR REPLACE INTO leads VALUES (?, ?, ?)", row)
            elif message["type"] == "STATE":
                database.commit()
                state.write_text(json.dumps(message["value"]))
    if tap.returncode:
        raise RuntimeError(f"the tap ended with exit code {tap.returncode}")


def connect(folder: Path) -> sqlite3.Connection:
    """Open the database, and create its table if necessary."""
    database = sqlite3.connect(folder / "leads.db")
    database.execute(
        "CREATE TABLE IF NOT EXISTS leads (id PRIMARY KEY, name TEXT, score REAL)"
    )
    return database


def to_call(folder: Path, count: int) -> list[str]:
    """Return the names of the leads with the highest scores."""
    query = "SELECT name FROM leads ORDER BY score DESC, id LIMIT ?"
    return [name for (name,) in connect(folder).execute(query, [count])]
