"""The texts of `--help`, and of the settings that the SDK adds."""

import click

_COMMAND = "Write records to standard output, as Singer messages."

_OPTIONS = {
    "version": "Show the version.",
    "about": "Show what the tap can do, and its settings.",
    "about_format": "Format of --about.",
    "config": "File with the settings as JSON, or ENV for environment variables. "
    "May be given several times; later files override earlier ones.",
    "discover": "Print the catalog: all streams and their columns.",
    "test": "Read one page of each stream, and write no record. With `schema`, only "
    "write the schemas, without any request.",
    "catalog": "File with a catalog, which says what to load.",
    "state": "File with the last state, which says what has been loaded; without it, "
    "everything is loaded.",
}


SDK_SETTINGS = {
    "stream_maps": "For each stream, changes to its fields and records, see "
    "https://sdk.meltano.com/en/latest/stream_maps.html.",
    "stream_map_config": "Values that map expressions find in `config`.",
    "faker_config": "Settings of `fake` in map expressions.",
    "flattening_enabled": "Whether fields of nested objects become columns.",
    "flattening_max_depth": "How many levels of objects become columns.",
    "flattening_max_key_length": "Most characters in the name of such a column.",
    "flattening_separator": "What joins the names of the levels.",
}
"""Descriptions of the settings that the SDK adds."""


def explain(command: click.Command, see_also: str) -> None:
    """Replace the SDK's texts in `--help`.

    Args:
        command: The tap's command.
        see_also: The last lines.
    """
    command.help = _COMMAND
    command.epilog = see_also
    for option in command.params:
        if isinstance(option, click.Option):
            option.help = _OPTIONS.get(option.name or "", option.help)
