"""Prints what dlt has put into DuckDB: a row a line, with its stream."""

import json
from datetime import UTC, datetime

import duckdb


def to_text(value: object) -> str:
    assert isinstance(value, datetime), value
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


database = duckdb.connect("plumbline.duckdb")
for stream in ("domains", "reports", "alerts"):
    table = database.sql(f"select * from dmarc.{stream}")
    for values in table.fetchall():
        row = dict(zip(table.columns, values))
        print(json.dumps({"stream": stream, "row": row}, default=to_text))
