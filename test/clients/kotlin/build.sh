#!/usr/bin/env bash
# Generator, plugins and libraries are pinned in pom.xml; Maven fetches them.
set -euo pipefail
rm -rf build
mvn -B -ntp -Dstyle.color=never -Dorg.slf4j.simpleLogger.defaultLogLevel=warn compile dependency:copy-dependencies
