"""A demo in one line: the sandbox, the tap, Meltano and a real PostgreSQL.

It leaves a Meltano project, with which the user can continue, in one folder. All files
are in this folder, and no process outlives the demo.
"""
