"""A program that uses the installed client: mypy and pyright check it strictly, as a partner would."""

import asyncio

from plumbline_client import Kind, connect, follow, follow_async, verify_webhook
from plumbline_client.api.domains import list_domains, list_overview
from plumbline_client.codes import NextStepCode, Verdict
from plumbline_client.models import Alert, ChangedReport, Domain, DomainList, OverviewList

client = connect("https://plumbline.example", "plb_live_x")


class Copy:
    def __init__(self) -> None:
        self.messages = 0

    def put(self, kind: Kind, item: Domain | ChangedReport | Alert) -> None:
        if isinstance(item, ChangedReport):
            for record in item.records or []:
                self.messages += record.count

    def delete(self, kind: Kind, *, id: str | None = None, domain_id: str | None = None) -> None: ...
    def save(self, cursor: str) -> None: ...
    def clear(self) -> None: ...


class Database:
    async def put(self, kind: Kind, item: Domain | ChangedReport | Alert) -> None: ...
    async def delete(
        self, kind: Kind, *, id: str | None = None, domain_id: str | None = None
    ) -> None: ...
    async def save(self, cursor: str) -> None: ...
    async def clear(self) -> None: ...


def main() -> None:
    domains = list_domains.sync(client=client, limit=1)
    if isinstance(domains, DomainList):
        name: str = domains.data[0].domain
        print(name, domains.total + 1)
    overview = list_overview.sync(client=client, limit=1000)
    if isinstance(overview, OverviewList):
        code: str = overview.data[0].next_step.code
        first: NextStepCode = "failing"
        print(code == first)
    follow(client, Copy(), "start", every=60, include="records")
    asyncio.run(follow_async(client, Database(), include="records"))
    verdict: Verdict = "yours"
    print(verdict, verify_webhook("whsec_x", {"webhook-id": "1"}, b"{}")["type"])
    verify_webhook("whsec_x", {"webhook-id": "1"}, "{}")


main()
