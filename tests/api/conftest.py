"""What tests over real sockets need: a session, a certificate."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tap_leadintent.api.session import new_session
from tests.support.servers import make_certificate


@pytest.fixture
def session() -> Iterator[requests.Session]:
    """What sends requests for the tap, past all proxies."""
    with new_session("", 1) as session:
        yield session


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What servers of this machine can prove themselves with."""
    return make_certificate(tmp_path_factory.mktemp("certificate"))
