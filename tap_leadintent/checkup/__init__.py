"""The commands that find out how the API behaves, so that nobody has to guess.

`tap-leadintent-check` asks the questions of `questions.py` and `ranges.py`. Each is a
function that takes a `Probe`, which sends requests with the tap's own client, and
returns one of the cases of `questions.toml`. A new question is such a function, and a
table in that file.
`tap-leadintent-columns` infers columns from the records of undocumented streams.
"""
