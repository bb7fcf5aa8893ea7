#!/usr/bin/env bash
PYTHONPATH=build exec build/venv/bin/python scenario.py
