#!/usr/bin/env bash
# requirements.txt pins the generator and the Java that it runs on; Guzzle is Debian's (.ci/tools).
set -euo pipefail
python3 -m venv build/venv
export PATH="$PWD/build/venv/bin:$PATH"
pip install --quiet --requirement requirements.txt
openapi-generator-cli generate --input-spec ../../../openapi/v1.yaml --config config.yaml --output build \
  >build/generator.log || { cat build/generator.log; exit 1; }
# PHP compiles a file when it is read. A notice or a deprecation is a failure too.
find build/lib scenario.php -name '*.php' -print0 |
  xargs -0 -n 1 php -d error_reporting=E_ALL -d display_errors=1 -l | (! grep -v '^No syntax errors detected')
