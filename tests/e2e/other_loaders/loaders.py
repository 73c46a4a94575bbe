"""The loaders: what must be set for each, and how to read what it has loaded."""

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from operator import itemgetter
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree as ET

import requests
from psycopg import conninfo

from tap_leadintent.demo.postgres import Postgres
from tests.e2e.other_loaders.elasticsearch import Documents
from tests.support.helpers import STREAMS, TIMEOUT, Json, exact_json
from tests.support.pipelines import printed_by
from tests.support.postgres import rows_of

_HERE = Path(__file__).parent
_DUCKDB = """
import duckdb, sys
path, query = sys.argv[1:]
for (row,) in duckdb.connect(path).execute(query).fetchall():
    print(row)
"""
_S3 = "{http://s3.amazonaws.com/doc/2006-03-01/}"
_CREDENTIAL = "any/20260101/us-east-1/s3/aws4_request"
_S3_USER = {"Authorization": f"AWS4-HMAC-SHA256 Credential={_CREDENTIAL}"}
"""The stand-in lets nobody else read, but checks no signature."""

_AS_TEXT = {"objects_as_text": True}

_EMPTY_IN_CLICKHOUSE = {
    "boolean": False,
    "integer": 0,
    "number": 0,
}
"""What its columns hold without a value; those of other types hold an empty text."""


@dataclass(frozen=True, kw_only=True)
class Services:
    """The services that loaders load, or what stands in for them."""

    postgres: Postgres
    s3: str
    gcs: str
    kafka: str
    clickhouse: str
    elasticsearch: tuple[int, Documents]


@dataclass(frozen=True)
class Loader(ABC):
    """A loader, and a place that only one test loads."""

    services: Services
    programs: Path
    folder: Path
    """A folder for its files. Its name is that of a schema, prefix or topic, too."""

    name: ClassVar[str]
    """Its name, which is also that of its requirements."""

    program: ClassVar[str] = ""
    """Its program, if that has another name."""

    tap: ClassVar[Mapping[str, object]] = {}
    """The settings of the tap that it needs."""

    is_of_sdk: ClassVar[bool] = True
    """Whether it is made with the Meltano SDK."""

    confirms_midway: ClassVar[bool] = True
    """Whether it prints a STATE before its input ends. One of the SDK does so every
    five minutes, and here every tenth of a second."""

    loses_confirmed_rows: ClassVar[bool] = False
    """Whether rows that a printed STATE covers are lost if it is killed then."""

    takes_numbers: ClassVar[bool] = True
    """Whether columns may be numbers."""

    @abstractmethod
    def settings(self) -> Json:
        """Return what must be set, and batches so small that there are several."""

    @abstractmethod
    def rows(self, stream: str) -> list[Json]:
        """Return the rows of a stream; of two versions of a row, the newer one last."""

    def variables(self) -> dict[str, str]:
        """Return the environment variables that it needs."""
        return {}

    def text(self, value: str) -> str | None:
        """Return what it makes of a text."""
        return value

    def cell(self, value: Any, schema: Json) -> Any:  # noqa: ARG002 - for subclasses
        """Return what it makes of a value in a column with this schema."""
        return value


class TargetPostgres(Loader):
    name = "target-postgres"

    def settings(self) -> Json:
        return {
            "sqlalchemy_url": self.services.postgres.url,
            "default_target_schema": self.folder.name,
            "use_copy": True,
            "batch_size_rows": 500,
            "validate_records": False,
        }

    def rows(self, stream: str) -> list[Json]:
        return rows_of(self.services.postgres, self.folder.name, stream)


class PipelinewisePostgres(TargetPostgres):
    name = "pipelinewise-target-postgres"
    program = "target-postgres"
    is_of_sdk = False

    def settings(self) -> Json:
        address = conninfo.conninfo_to_dict(self.services.postgres.address)
        return {
            "host": address["host"],
            "port": 5432,
            "user": address["user"],
            "password": "any",
            "dbname": "postgres",
            "default_target_schema": self.folder.name,
            "batch_size_rows": 500,
        }

    def text(self, value: str) -> str | None:
        for character, written in (
            ("\n", r"\n"),
            ("\r", r"\r"),
            ("\t", r"\t"),
        ):
            value = value.replace(character, written)
        return value or None


class TargetDuckdb(Loader):
    name = "target-duckdb"
    is_of_sdk = False

    def settings(self) -> Json:
        return {
            "path": str(self.folder / "leads.duckdb"),
            "default_target_schema": "tap_leadintent",
            "batch_size_rows": 500,
        }

    def rows(self, stream: str) -> list[Json]:
        query = f"SELECT to_json(t)::TEXT FROM tap_leadintent.{stream} AS t"
        path = self.settings()["path"]
        return printed_by(self.programs, "-c", _DUCKDB, path, query)

    def text(self, value: str) -> str | None:
        return value or None


class TargetJsonl(Loader):
    name = "target-jsonl"
    is_of_sdk = False
    confirms_midway = False

    def settings(self) -> Json:
        return {
            "destination_path": str(self.folder),
            "do_timestamp_file": False,
        }

    def rows(self, stream: str) -> list[Json]:
        return [*_lines((self.folder / f"{stream}.jsonl").read_text("utf-8"))]


class TargetCsv(Loader):
    name = "target-csv"
    tap = _AS_TEXT

    def settings(self) -> Json:
        return {
            "output_path": str(self.folder),
            "file_naming_scheme": "{stream_name}-{timestamp}.csv",
            "batch_size_rows": 500,
        }

    def rows(self, stream: str) -> list[Json]:
        rows: list[Json] = []
        for path in sorted(self.folder.glob(f"{stream}-*.csv")):
            rows += _csv_rows(path.read_bytes().decode())
        return rows

    def text(self, value: str) -> str | None:
        return value or None


class TargetS3Csv(TargetCsv):
    name = "target-s3-csv"
    is_of_sdk = False
    confirms_midway = False

    def settings(self) -> Json:
        return {
            "aws_endpoint_url": self.services.s3,
            "aws_access_key_id": "any",
            "aws_secret_access_key": "any",
            "s3_bucket": "lake",
            "s3_key_prefix": f"{self.folder.name}/",
            "temp_dir": str(self.folder),
        }

    def rows(self, stream: str) -> list[Json]:
        rows: list[Json] = []
        for content in _s3_objects(self.services.s3, f"{self.folder.name}/{stream}-"):
            rows += _csv_rows(content)
        return rows


class TargetGcs(Loader):
    name = "target-gcs"
    tap = _AS_TEXT
    takes_numbers = False
    loses_confirmed_rows = True

    def settings(self) -> Json:
        return {"bucket_name": "lake", "key_prefix": self.folder.name}

    def variables(self) -> dict[str, str]:
        return {"STORAGE_EMULATOR_HOST": self.services.gcs, "GOOGLE_CLOUD_PROJECT": "-"}

    def rows(self, stream: str) -> list[Json]:
        objects = f"{self.services.gcs}/storage/v1/b/lake/o"
        prefix = f"{self.folder.name}/{stream}_1"
        found = requests.get(f"{objects}?prefix={prefix}", timeout=TIMEOUT).json()
        rows: list[Json] = []
        for item in sorted(found.get("items", []), key=itemgetter("name")):
            url = f"{objects}/{quote(item['name'], safe='')}?alt=media"
            content = requests.get(url, timeout=TIMEOUT).content
            rows += _lines(content.decode())
        return rows


class TargetS3Jsonl(Loader):
    name = "target-s3-jsonl"
    is_of_sdk = False
    confirms_midway = False

    def settings(self) -> Json:
        return {
            "aws_endpoint_url": self.services.s3,
            "aws_access_key_id": "any",
            "aws_secret_access_key": "any",
            "s3_bucket": "lake",
            "path_template": f"{self.folder.name}/{{stream}}-{{date_time}}.json",
            "memory_buffer": 10_000,
            "work_dir": str(self.folder),
        }

    def rows(self, stream: str) -> list[Json]:
        rows: list[Json] = []
        for content in _s3_objects(self.services.s3, f"{self.folder.name}/{stream}-"):
            rows += _lines(content)
        return rows


class TargetKafka(Loader):
    name = "target-kafka"
    tap = _AS_TEXT

    def settings(self) -> Json:
        return {
            "bootstrap_servers": self.services.kafka,
            "topic_prefix": f"{self.folder.name}_",
            "key_properties": ["id"],
            "compression_type": "gzip",
            "batch_size_rows": 500,
        }

    def rows(self, stream: str) -> list[Json]:
        topic = f"{self.folder.name}_{stream}"
        consumer = _HERE / "consumer.py"
        return printed_by(self.programs, consumer, self.services.kafka, topic)


class TargetClickhouse(Loader):
    name = "shaped-target-clickhouse"
    program = "target-clickhouse"

    def settings(self) -> Json:
        address = urlsplit(self.services.clickhouse)
        return {
            "host": address.hostname,
            "port": address.port,
            "username": "default",
            "password": "",
            "database": "default",
            "engine_type": "ReplacingMergeTree",
        }

    def rows(self, stream: str) -> list[Json]:
        query = f"SELECT * FROM {stream} FINAL"
        parameters = {"default_format": "JSONEachRow"}
        done = requests.post(
            self.services.clickhouse,
            data=query,
            params=parameters,
            timeout=TIMEOUT,
        )
        assert done.ok, done.text
        return [*_lines(done.content.decode())]

    def cell(self, value: Any, schema: Json) -> Any:
        if "format" in schema:
            return value and value.replace(microsecond=0)
        if value is None:
            (kind,) = {*schema["type"]} - {"null"}
            return _EMPTY_IN_CLICKHOUSE.get(kind, "")
        # It has 32 bits, so seven digits.
        return Decimal(f"{value:.7g}") if "number" in schema["type"] else value


class TargetElasticsearch(Loader):
    name = "target-elasticsearch"

    def settings(self) -> Json:
        port, _ = self.services.elasticsearch
        return {
            "host": "127.0.0.1",
            "port": port,
            "index_format": f"{self.folder.name}-{{{{ stream_name }}}}",
            "metadata_fields": {name: {"_id": "id"} for name in STREAMS},
        }

    def rows(self, stream: str) -> list[Json]:
        _, documents = self.services.elasticsearch
        return [*documents[f"{self.folder.name}-{stream}".replace("_", "-")].values()]


LOADERS = (
    TargetPostgres,
    PipelinewisePostgres,
    TargetDuckdb,
    TargetJsonl,
    TargetCsv,
    TargetS3Csv,
    TargetS3Jsonl,
    TargetGcs,
    TargetKafka,
    TargetClickhouse,
    TargetElasticsearch,
)


def _s3_objects(service: str, prefix: str) -> Iterator[str]:
    """Return the contents of the objects with this prefix, by their names."""
    bucket = f"{service}/lake"
    listing = requests.get(f"{bucket}?prefix={prefix}", timeout=TIMEOUT).text
    keys = ET.fromstring(listing).iter(f"{_S3}Key")  # noqa: S314 - of our own
    for key in sorted(each.text or "" for each in keys):
        url = f"{bucket}/{key}"
        yield requests.get(url, headers=_S3_USER, timeout=TIMEOUT).content.decode()


def _lines(text: str) -> Iterator[Json]:
    # Not splitlines(), which also splits at what JSON strings may hold.
    for line in text.split("\n"):
        if line:
            yield exact_json(line)


def _csv_rows(text: str) -> list[Json]:
    rows: list[Json] = [*csv.DictReader(io.StringIO(text, newline=""))]
    for row in rows:
        for name, value in row.items():
            row[name] = value or None
    return rows
