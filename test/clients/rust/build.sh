#!/usr/bin/env bash
# Generator and libraries are pinned in Cargo.lock; Cargo fetches them.
set -euo pipefail
cargo fmt --check
# Clippy compiles as well: `cargo clippy` before the build would check every library once more.
RUSTC_WORKSPACE_WRAPPER=clippy-driver cargo build --locked --quiet --target-dir build
