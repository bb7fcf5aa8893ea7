#!/usr/bin/env bash
# Generator, linter and library are pinned in go.mod; Go fetches them itself.
set -euo pipefail
mkdir -p build/plumbline
go tool oapi-codegen -config oapi-codegen.yaml -o build/plumbline/client.go ../../../openapi/v1.yaml
go vet ./...
go tool staticcheck ./...
go build -o build/scenario .
