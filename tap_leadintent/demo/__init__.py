"""One-line demo: the sandbox, the tap, Meltano and a real PostgreSQL.

It needs a clone of the repository, because it runs the project's `meltano.yml`.
Everything it makes stays below one folder, and nothing that it starts outlives it.
"""
