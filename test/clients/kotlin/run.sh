#!/usr/bin/env bash
exec java -cp 'build/classes:build/lib/*' ScenarioKt
