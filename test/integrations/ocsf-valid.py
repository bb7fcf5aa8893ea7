"""Checks events against OCSF's own schema of their class, in which no other field is allowed."""

import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator
from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema

schema = OcsfJsonSchemaEmbedded(get_ocsf_schema(version="1.8.0")).get_class_schema(
    class_name="email_activity", profiles=["security_control"]
)
validator = Draft202012Validator(schema)
events = json.loads(Path(sys.argv[1]).read_text())
errors = [error for event in events for error in validator.iter_errors(event)]
for error in errors[:10]:
    print(error.json_path, error.message[:300])
planted = {**events[0], "surprise": 1, "activity_id": "2"}
assert len(list(validator.iter_errors(planted))) >= 2, "a planted error was not found"
print(f"{len(events)} events, {len(errors)} errors")
