#!/usr/bin/env bash
# Generator, plugins and libraries are pinned in pom.xml; Maven fetches them.
set -euo pipefail
rm -rf build
mvn -B -ntp -q -Dstyle.color=never compile dependency:copy-dependencies
