"""Checks the files that Meltano and GitHub read against their JSON schemas."""

import subprocess
import sys
from importlib.resources import files
from pathlib import Path

SCHEMAS = {
    "meltano.yml": "vendor.meltano",
    "plugin.yaml": ".ci/plugin.schema.json",
    "tap_leadintent/definitions/tap-*.yaml": ".ci/plugin.schema.json",
    "tap_leadintent/definitions/target-*.yaml": ".ci/loader.schema.json",
    ".github/workflows/*.yml": "vendor.github-workflows",
    ".github/dependabot.yml": "vendor.dependabot",
    ".github/ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
    ".github/ISSUE_TEMPLATE/[!c]*.yml": "vendor.github-issue-forms",
}
"""For each pattern of files, a schema of the checker, or one of this folder."""


def main() -> None:
    """Check the files, and end with exit code 1 if one of them is wrong."""
    vendor = files("check_jsonschema") / "builtin_schemas" / "vendor"
    failed = False
    for pattern, schema in SCHEMAS.items():
        paths = sorted(Path().glob(pattern))
        if not paths:
            sys.exit(f"no file matches {pattern}")
        if schema.startswith("vendor."):
            options = [f"--builtin-schema={schema}"]
        else:
            # These schemas refer to those of the checker.
            options = [f"--schemafile={schema}", f"--base-uri=file://{vendor}/"]
        command = ["check-jsonschema", "--quiet", *options, *paths]
        failed |= subprocess.run(command, check=False).returncode != 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
