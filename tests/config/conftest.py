"""What the tests of mistakes in settings share."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import requests_mock
from click.testing import Result

from tests.support.helpers import VALID, refusal


@pytest.fixture
def refused(
    cli: Callable[..., Result], requests_mock: requests_mock.Mocker
) -> Callable[..., list[str]]:
    """Enter the tap with changes to valid settings; give what it says of them.

    It refuses to begin, and sends no request.
    """

    def enter(change: Mapping[str, Any], *arguments: str) -> list[str]:
        messages = refusal(cli({**VALID, **change}, *arguments))
        assert not requests_mock.called
        return messages

    return enter
