"""A tap as the SDK's template for REST APIs makes it, everything at its default."""

import decimal
from collections.abc import Iterable
from typing import Any

import requests
from singer_sdk import RESTStream, Tap
from singer_sdk import typing as th
from singer_sdk.authenticators import BearerTokenAuthenticator
from singer_sdk.helpers.jsonpath import extract_jsonpath
from singer_sdk.pagination import JSONPathPaginator
from singer_sdk.streams.rest import HTTPRequest, PageContext


def _texts(names: str) -> list[th.Property[Any]]:
    return [th.Property(name, th.StringType) for name in names.split()]


def _object(name: str, texts: str, **others: Any) -> th.Property[Any]:
    properties = [th.Property(field, kind) for field, kind in others.items()]
    return th.Property(name, th.ObjectType(*_texts(texts), *properties))


_REFERENCES = th.ArrayType(th.ObjectType(*_texts("type label url")))


class Leads(RESTStream[str]):
    """Leads."""

    name = "leads"
    path = "/v1/signals/leads"
    http_method = "POST"
    primary_keys = ("id",)
    records_jsonpath = "$.data[*]"
    schema = th.PropertiesList(
        th.Property("id", th.StringType, required=True),
        *_texts("full_name title country_code"),
        _object("profile", "platform url"),
        _object("company", "id name domain linkedin_url country_code"),
        _object("sheet", "id name"),
        _object("signal", "type name summary reason", observed_at=th.DateTimeType),
        _object("qualification", "status reason reasoning", references=_REFERENCES),
        _object("score", "fit reasoning", value=th.NumberType),
    ).to_dict()

    @property
    def url_base(self) -> str:
        """The setting `base_url`."""
        return str(self.config["base_url"])

    @property
    def authenticator(self) -> BearerTokenAuthenticator:
        """The setting `api_key` as a bearer token."""
        return BearerTokenAuthenticator(token=self.config["api_key"])

    def get_new_paginator(self) -> JSONPathPaginator:
        """Follow `cursor.next`."""
        return JSONPathPaginator("$.cursor.next")

    def get_http_request(self, *, page: PageContext[str]) -> HTTPRequest:
        """Put the cursor into the body."""
        request = super().get_http_request(page=page)
        cursor: dict[str, Any] = {"limit": 100}
        if page.next_page_token:
            cursor["after"] = page.next_page_token
        request.data = {"cursor": cursor}
        return request

    def parse_response(self, response: requests.Response) -> Iterable[dict[str, Any]]:
        """Yield the page's records."""
        yield from extract_jsonpath(
            self.records_jsonpath, input=response.json(parse_float=decimal.Decimal)
        )


class TapPlain(Tap):
    """The tap."""

    name = "tap-plain"
    config_jsonschema = th.PropertiesList(
        th.Property("base_url", th.StringType, required=True),
        th.Property("api_key", th.StringType, required=True, secret=True),
    ).to_dict()

    def discover_streams(self) -> list[Leads]:
        """Return the one stream."""
        return [Leads(self)]


if __name__ == "__main__":
    TapPlain.cli()
