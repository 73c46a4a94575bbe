"""A flow of Prefect that loads what is new each hour, one run at a time."""

import os
import subprocess

from prefect import flow
from prefect.client.schemas.objects import (
    ConcurrencyLimitConfig,
    ConcurrencyLimitStrategy,
)

PROJECT = os.environ.get("LEADINTENT_PROJECT", "/opt/leads")
"""The Meltano project with `run.sh`."""

HOURS = 6


# If Meltano was killed, it refuses another run for five minutes.
@flow(retries=2, retry_delay_seconds=360)
def leadintent() -> None:
    """Load what is new; whatever ends the flow also ends Meltano."""
    command = ["sh", "run.sh", "tap-leadintent", "target-postgres"]
    with subprocess.Popen(command, cwd=PROJECT) as process:
        try:
            code = process.wait(timeout=HOURS * 3600)
        except BaseException:
            # `subprocess.run` would kill only run.sh, and Meltano would go on.
            process.terminate()
            raise
    if code:
        raise RuntimeError(f"run.sh ended with {code}")


if __name__ == "__main__":
    leadintent.serve(
        name="hourly",
        cron="5 * * * *",
        global_limit=ConcurrencyLimitConfig(
            limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW
        ),
    )
