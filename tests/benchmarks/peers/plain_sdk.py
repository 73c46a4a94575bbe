"""A tap as the SDK's template for REST APIs makes it, everything at its default."""

from __future__ import annotations

import decimal
from typing import TYPE_CHECKING, Any

from singer_sdk import RESTStream, Tap
from singer_sdk import typing as th
from singer_sdk.authenticators import BearerTokenAuthenticator
from singer_sdk.helpers.jsonpath import extract_jsonpath
from singer_sdk.pagination import JSONPathPaginator

if TYPE_CHECKING:
    from collections.abc import Iterable

    import requests
    from singer_sdk.streams.rest import HTTPRequest, PageContext


def _texts(*names: str) -> list[th.Property[Any]]:
    return [th.Property(name, th.StringType) for name in names]


class Leads(RESTStream[str]):
    """Leads."""

    name = "leads"
    path = "/v1/signals/leads"
    http_method = "POST"
    primary_keys = ("id",)
    records_jsonpath = "$.data[*]"
    schema = th.PropertiesList(
        th.Property("id", th.StringType, required=True),
        *_texts("full_name", "title", "country_code"),
        th.Property("profile", th.ObjectType(*_texts("platform", "url"))),
        th.Property(
            "company",
            th.ObjectType(
                *_texts("id", "name", "domain", "linkedin_url", "country_code")
            ),
        ),
        th.Property("sheet", th.ObjectType(*_texts("id", "name"))),
        th.Property(
            "signal",
            th.ObjectType(
                *_texts("type", "name", "summary", "reason"),
                th.Property("observed_at", th.DateTimeType),
            ),
        ),
        th.Property(
            "qualification",
            th.ObjectType(
                *_texts("status", "reason", "reasoning"),
                th.Property(
                    "references",
                    th.ArrayType(th.ObjectType(*_texts("type", "label", "url"))),
                ),
            ),
        ),
        th.Property(
            "score",
            th.ObjectType(
                th.Property("value", th.NumberType), *_texts("fit", "reasoning")
            ),
        ),
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
        """Give the page's records."""
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
        """Give the one stream."""
        return [Leads(self)]


if __name__ == "__main__":
    TapPlain.cli()
