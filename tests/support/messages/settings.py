"""What is said of settings, where the line itself does not say what to do."""

from __future__ import annotations

from tests.support.helpers import only
from tests.support.messages.message import Message

_MISTYPED = "Write the setting as docs/settings.md has it."
_EXTRA = "Install what the message names, where the tap is installed."

SETTINGS = (
    Message(
        text="api_key: is required",
        config={"api_key": None},
        cause="The key is not set; an empty variable counts as unset, too.",
        cure="Make a key in the dashboard under Developer -> API Keys, set `api_key`.",
    ),
    Message(
        text="…: … is not of type …",
        config={"concurrency": "many"},
        cause="A setting has a value of another type.",
        cure=_MISTYPED,
    ),
    Message(
        text="filters.signal_agents.statuses is passed on, though the API description does not show it",
        level="WARNING",
        code=0,
        config={"filters": {"signal_agents": {"statuses": ["active"]}}},
        catalog=lambda: only("signal_agents"),
        cause="The API's description shows no such request field. It may work or not.",
        cure="Nothing needs to be done if the API takes the field.",
    ),
    Message(
        text="exclude_fields.leads: id cannot be left out: it is part of the stream's key",
        config={"exclude_fields": {"leads": ["id"]}},
        cause="Rows could not be told apart without their key.",
        cure="Leave the field in, or choose another key in the catalog.",
    ),
    Message(
        text="stream_maps.leads.full_name: `fake` needs another package: pip install "
        "'tap-leadintent[faker]'",
        config={"stream_maps": {"leads": {"full_name": "fake.name()"}}},
        lacks="faker",
        cause="`fake` in a map is Faker, which is not installed.",
        cure=_EXTRA,
    ),
    Message(
        text="TAP_LEADINTENT_PAGESIZE is ignored: there is no such setting; did you mean "
        "page_size?",
        level="WARNING",
        code=0,
        variables={"PAGESIZE": "50"},
        arguments=("--config=ENV", "--test=schema"),
        cause="A variable is nearly named like a setting. It may be another program's.",
        cure="Rename it if it was meant for the tap.",
    ),
    Message(
        text="stream_maps.lead: there is no stream lead; did you mean leads?",
        config={"stream_maps": {"lead": {"title": None}}},
        cause="`stream_maps` names a stream that there is not, so it would do nothing.",
        cure="Write the stream as the table of streams in README has it.",
    ),
    Message(
        text="stream_maps.leads.full_nam: there is no such field; did you mean full_name?",
        config={"stream_maps": {"leads": {"full_nam": None}}},
        cause="A map removes a near miss of a documented field, which would still be loaded.",
        cure="Write it as the message suggests.",
    ),
    Message(
        text="stream_maps: Failed to parse expression 1 +.",
        config={"stream_maps": {"leads": {"x": "1 +"}}},
        catalog=lambda: only("leads"),
        cause="The expression of a map is not Python.",
        cure="Correct it.",
    ),
)
