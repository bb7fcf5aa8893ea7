#!/usr/bin/env bash
# Generator, checker and what the client needs are pinned in requirements.txt.
set -euo pipefail
python3 -m venv build/venv
export PATH="$PWD/build/venv/bin:$PATH"
pip install --quiet --requirement requirements.txt
openapi-python-client generate --path ../../../openapi/v1.yaml \
  --meta none --output-path build/plumbline --overwrite --fail-on-warning
mypy scenario.py build/plumbline
