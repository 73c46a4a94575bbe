"""Other ways to read the leads, each a program of its own.

Each takes the path of a JSON file with `base_url` and `api_key`; two also with
`slices`, time ranges of `date_found` as `START/END`, each to be read in a thread.
"""
