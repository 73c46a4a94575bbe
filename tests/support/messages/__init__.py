"""What the tap says to people: for each message what leads to it, and what helps.

The tables are held to the real command line by `tests/e2e/test_messages.py`, and made
to become a page of the documentation, too.
"""

from __future__ import annotations

from tests.support.messages.answers import ANSWERS
from tests.support.messages.files import CATALOG, FILES
from tests.support.messages.maps import MAPS
from tests.support.messages.message import Message
from tests.support.messages.network import NETWORK
from tests.support.messages.rare import CLOCKS, CONNECTIONS, ENDINGS, MACHINE, ODDITIES
from tests.support.messages.runs import API, PROGRESS, RECORDS
from tests.support.messages.settings import SETTINGS
from tests.support.messages.states import STATE

__all__ = ["MESSAGES", "Message"]

MESSAGES = {
    "Settings": SETTINGS,
    "Stream maps and excluded fields": MAPS,
    "Files": FILES,
    "Catalog": CATALOG,
    "State": STATE,
    "The API": API,
    "Answers and records": (*ANSWERS, *RECORDS, *ODDITIES),
    "The network": (*NETWORK, *CONNECTIONS),
    "Clocks": CLOCKS,
    "This machine": MACHINE,
    "Other ends of a run": ENDINGS,
    "Progress": PROGRESS,
}
"""All messages, by what they are about."""
