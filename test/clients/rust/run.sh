#!/usr/bin/env bash
exec build/debug/plumbline-scenario
