#!/usr/bin/env bash
# Generator, checker and what the client needs are pinned in requirements.txt.
set -euo pipefail
# The client of an earlier contract uses this one's.
[ -x build/venv/bin/pip ] || python3 -m venv build/venv
export PATH="$PWD/build/venv/bin:$PATH"
pip install --quiet --requirement requirements.txt
openapi-python-client generate --path ../../../openapi/v1.yaml \
  --meta none --output-path build/plumbline --overwrite --fail-on-warning
mypy scenario.py build/plumbline
