"""One-line demo: the sandbox, the tap, Meltano and a real PostgreSQL.

It leaves a Meltano project in a folder, which a user can go on with. All that it makes
is in that folder, and nothing that it starts outlives it.
"""
