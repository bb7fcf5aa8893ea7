"""Copies an account's lists into a database with dlt. Its paginator follows the `Link` of each page to the last one."""

import os

import dlt
from dlt.sources.rest_api import RESTAPIConfig, rest_api_source


def to_list(name: str) -> dict:
    return {
        "name": name,
        "endpoint": {"path": name, "params": {"limit": 200}, "data_selector": "data"},
    }


CONFIG: RESTAPIConfig = {
    "client": {
        "base_url": os.environ["PLUMBLINE_BASE_URL"] + "/v1/external/",
        "auth": {"type": "bearer", "token": os.environ["PLUMBLINE_API_KEY"]},
        "paginator": "header_link",
    },
    "resource_defaults": {"primary_key": "id", "write_disposition": "merge"},
    "resources": [to_list(name) for name in ("domains", "reports", "alerts")],
}

if __name__ == "__main__":
    pipeline = dlt.pipeline("plumbline", destination="duckdb", dataset_name="dmarc")
    print(pipeline.run(rest_api_source(CONFIG)))
