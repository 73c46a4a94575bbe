"""An asset of Dagster that loads what is new each hour, one run at a time."""

import os

import dagster as dg

PROJECT = os.environ.get("LEADINTENT_PROJECT", "/opt/leads")
"""The Meltano project with `run.sh`."""


@dg.asset(
    pool="leadintent",
    # If Meltano was killed, it refuses another run for five minutes.
    retry_policy=dg.RetryPolicy(max_retries=2, delay=360),
)
def leadintent(
    context: dg.AssetExecutionContext, pipes: dg.PipesSubprocessClient
) -> dg.MaterializeResult:
    """Load what is new; a step that is terminated ends Meltano, too."""
    command = ["sh", "run.sh", "tap-leadintent", "target-postgres"]
    done = pipes.run(command=command, context=context, cwd=PROJECT)
    return done.get_materialize_result()


defs = dg.Definitions(
    assets=[leadintent],
    resources={"pipes": dg.PipesSubprocessClient()},
    schedules=[
        dg.ScheduleDefinition(
            name="hourly", target=[leadintent], cron_schedule="5 * * * *"
        )
    ],
)
