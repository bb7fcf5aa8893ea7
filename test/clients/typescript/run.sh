#!/usr/bin/env bash
exec npx node scenario.ts
