#!/bin/sh
# uv 0.13.9, in a project that is built a second time, with UV_FIND_LINKS naming the
# folder of the first build.
#
# Guess: `uv build --clear` empties `dist` and builds again, or fails and leaves the
# package of the first build where it is.
# What happens: it removes the folder `dist`, then looks for the build system there,
# and ends with 2. The package of the first build is gone. It builds if UV_FIND_LINKS
# is unset.
# Seen: "error: Failed to build `...`", "cause: Failed to read `--find-links` directory"
#
# Exits with 1 if uv does something else.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
uv venv --quiet environment
uv pip install --quiet --python environment/bin/python uv==0.13.9
uv() { "$folder/environment/bin/uv" "$@"; }
mkdir example
cd example
cat > pyproject.toml <<'END'
[project]
name = "an-example"
version = "1.0"
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[tool.hatch.build.targets.wheel]
include = ["an_example.py"]
END
echo > an_example.py
unset UV_FIND_LINKS
uv build --clear --quiet
ls dist/*.whl
export UV_FIND_LINKS="$PWD/dist"
code=0
uv build --clear --quiet 2> log || code=$?
cat log
test "$code" = 2
grep -q 'Failed to read `--find-links` directory' log
if test -e dist; then exit 1; fi
unset UV_FIND_LINKS
uv build --clear --quiet
ls dist/*.whl
