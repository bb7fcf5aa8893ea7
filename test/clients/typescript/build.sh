#!/usr/bin/env bash
# openapi-typescript and openapi-fetch are pinned in the repository's own package-lock.json.
set -euo pipefail
npx openapi-typescript ../../../openapi/v1.yaml --output build/v1.d.ts
npx tsc --project .
