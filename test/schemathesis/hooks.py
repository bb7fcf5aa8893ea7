"""What Schemathesis cannot make up: cursors that a list gave out, ranges of days, names of domains and addresses."""

from base64 import urlsafe_b64decode
from datetime import date
from hashlib import sha256

import schemathesis

MAX_LENGTH = 64
FILTERS = {"from", "until", "reporter"}
# The longest text that the schema takes, and a valid one.
FORMS = {"name": (300, "*.example"), "address": (50, "192.0.2.0/24")}


@schemathesis.hook
def before_call(context, case, kwargs):
    """
    A made-up cursor is a 422 however well-formed it is, and so is one of another domain. Both become `start`, which
    every list knows.
    """
    query = case.query or {}
    # Days that are right one by one may be no range, or one that is too long.
    for name in ("from", "until"):
        if is_day(query.get(name)):
            query[name] = date.today().isoformat()
    for name, (longest, valid) in FORMS.items():
        if isinstance(query.get(name), str) and 0 < len(query[name]) <= longest:
            query[name] = valid
    domain_id = (case.path_parameters or {}).get("domain_id", "")
    for name in ("received_after", "changed_after", "after"):
        cursor = query.get(name)
        if not isinstance(cursor, str) or len(cursor) > MAX_LENGTH:
            continue
        # The feed has one list for each account. A list with other filters has cursors of its own.
        list_id = None if name == "after" else domain_id.lower()
        if FILTERS & query.keys() or not is_given_out(cursor, list_id):
            query[name] = "start"


def is_day(text):
    try:
        return isinstance(text, str) and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def is_given_out(cursor, list_id):
    """Its second to seventh bytes are the tag of the list (src/domain/cursor.ts)."""
    if len(cursor) != 34 or not cursor.startswith("p"):
        return False
    tag = urlsafe_b64decode(f"{cursor}==")[1:7]
    return list_id is None or tag == sha256(list_id.encode()).digest()[:6]
