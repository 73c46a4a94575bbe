"""The commands that find out how the API behaves, so that nobody has to guess.

`tap-leadintent-check` asks the questions of `questions.toml`. Each is a function in
`questions.py`, `ranges.py`, `signals.py` or `fields.py`: it takes a `Probe`, which
sends requests with the tap's own client, and returns one of the cases of that file. A
new question is such a function, and a table there.

Then it estimates what runs take: `sampling.py` finds out when records come, and
`halving.py` how many lie where; `play.py` plays the tap's own reading over them,
`volume.py` adds it up, and `suggestions.py` has settings for what takes long.
`actions.py` writes what to do, and `report.py` prints all of it.

`tap-leadintent-columns` infers columns from the records of undocumented streams, and
`statements.py` writes SQL that clears fields.
"""
