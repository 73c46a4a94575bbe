"""Real servers between the tap and the API.

To add one, put its configuration or its program into a folder, add it to a list of the
test that it is for, and its packages to `requirements.txt` (PyPI), `package.json` (npm)
or `DEBIAN` in `conftest.py`. `Installed.serving` runs it on a free port.
"""
