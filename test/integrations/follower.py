"""Follows the feed with the packed client and prints its copy after each page; or verifies the delivery that it is given."""

import asyncio
import json
import os

from plumbline_client import connect, follow_async, verify_webhook


class Copy:
    def __init__(self):
        self.items = {"domain": {}, "report": {}, "alert": {}}
        self.cleared = 0

    def put(self, kind, item):
        if kind == "report":
            assert isinstance(item.records, list)
        self.items[kind][str(item.id)] = item

    def delete(self, kind, *, id=None, domain_id=None):
        for key, item in list(self.items[kind].items()):
            if key == id or (domain_id and str(item.domain_id) == domain_id):
                del self.items[kind][key]

    def save(self, cursor):
        ids = {kind: list(items) for kind, items in self.items.items()}
        print(json.dumps({"cleared": self.cleared, **ids}), flush=True)

    def clear(self):
        self.cleared += 1
        for items in self.items.values():
            items.clear()


if "DELIVERY" in os.environ:
    delivery = json.loads(os.environ["DELIVERY"])
    secret, headers, body = delivery["secret"], delivery["headers"], delivery["body"]
    event = verify_webhook(secret, headers, body.encode())
    # Many frameworks give the body as text.
    assert verify_webhook(secret, headers, body) == event
    print(json.dumps({"type": event["type"]}))
else:
    client = connect(os.environ["PLUMBLINE_BASE_URL"], os.environ["PLUMBLINE_API_KEY"])
    asyncio.run(
        follow_async(client, Copy(), os.environ.get("CURSOR"), every=0.2, include="records")
    )
