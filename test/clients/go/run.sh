#!/usr/bin/env bash
exec build/scenario
