"""A client for Plumbline's API. Each operation is a module of `plumbline_client.api`."""

import asyncio
import base64
import contextlib
import hashlib
import hmac
import inspect
import json
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from functools import partial
from typing import Any, Literal, Protocol

import httpx

from .client import AuthenticatedClient
from .models import Alert, Change, ChangedReport, ChangeList, Domain

Kind = Literal["domain", "report", "alert"]
KINDS: tuple[Kind, ...] = ("domain", "report", "alert")
REPEATED = (408, 429, 500, 502, 503, 504)


class Copy(Protocol):
    """The caller's own copy. What was put or deleted may come again after a failure, and changes nothing then.

    `delete` deletes one item, or all of a domain. `save` keeps the cursor: all before it is put and deleted. `clear`
    discards the copy and its cursor, because ids may be others; it is filled again from the start.
    """

    def put(self, kind: Kind, item: Domain | ChangedReport | Alert) -> object: ...
    def delete(self, kind: Kind, *, id: str | None = None, domain_id: str | None = None) -> object: ...
    def save(self, cursor: str) -> object: ...
    def clear(self) -> object: ...


class AsyncCopy(Protocol):
    """The same with what is awaited, for `follow_async`."""

    def put(self, kind: Kind, item: Domain | ChangedReport | Alert) -> Awaitable[object]: ...
    def delete(
        self, kind: Kind, *, id: str | None = None, domain_id: str | None = None
    ) -> Awaitable[object]: ...
    def save(self, cursor: str) -> Awaitable[object]: ...
    def clear(self) -> Awaitable[object]: ...


def connect(base_url: str, api_key: str) -> AuthenticatedClient:
    """What every operation takes: `list_domains.sync(client=connect(url, key))`."""
    return AuthenticatedClient(base_url=base_url, token=api_key, timeout=httpx.Timeout(30))


Include = Literal["records"]

# What one request may have. An answer ends at 4 MiB besides.
LIMIT = "1000"
PATH = "/v1/external/changes"


def follow(
    client: AuthenticatedClient,
    copy: Copy,
    cursor: str | None = None,
    every: float | None = None,
    *,
    include: Include | None = None,
) -> None:
    """Brings a copy up to date from the cursor that was saved last, and with `every`, in seconds, keeps it so.

    With `include="records"` each report has its `records`.
    """
    steps = _steps(copy, cursor, every, include)
    answer: httpx.Response | None = None
    with contextlib.suppress(StopIteration):
        while True:
            step = steps.send(answer)
            answer = None
            if isinstance(step, float):
                time.sleep(step)
            elif isinstance(step, dict):
                with contextlib.suppress(httpx.TransportError):
                    answer = client.get_httpx_client().get(PATH, params=step)
            else:
                step()


async def follow_async(
    client: AuthenticatedClient,
    copy: Copy | AsyncCopy,
    cursor: str | None = None,
    every: float | None = None,
    *,
    include: Include | None = None,
) -> None:
    """The same without blocking: what the copy returns is awaited where it can be."""
    steps = _steps(copy, cursor, every, include)
    answer: httpx.Response | None = None
    with contextlib.suppress(StopIteration):
        while True:
            step = steps.send(answer)
            answer = None
            if isinstance(step, float):
                await asyncio.sleep(step)
            elif isinstance(step, dict):
                with contextlib.suppress(httpx.TransportError):
                    answer = await client.get_async_httpx_client().get(PATH, params=step)
            elif inspect.isawaitable(done := step()):
                await done


Step = dict[str, str] | float | Callable[[], object]


def _steps(
    copy: Copy | AsyncCopy, cursor: str | None, every: float | None, include: Include | None
) -> Generator[Step, httpx.Response | None, None]:
    """What is to be done, one after another: a query to ask with, seconds to wait, or a call of the copy."""
    after = cursor or "start"
    while True:
        query = {"after": after, "limit": LIMIT} | ({"include": include} if include else {})
        answer = yield from _ask(query)
        if answer.status_code == 410:
            yield copy.clear
            after = "start"
            continue
        page = ChangeList.from_dict(answer.json())
        for change in page.data:
            yield from _apply(change, copy)
        after = answer.headers["Plumbline-Cursor"]
        yield partial(copy.save, after)
        if page.has_more:
            continue
        if every is None:
            return
        yield float(every)


def _apply(change: Change, copy: Copy | AsyncCopy) -> Generator[Step, None, None]:
    domain_id = str(change.domain_id)
    for kind in KINDS:
        if item := getattr(change, kind):
            yield partial(copy.put, kind, item)
    if change.report_id:
        yield partial(copy.delete, "report", id=str(change.report_id))
    if change.type_ in ("domain.unlisted", "domain.removed"):
        yield partial(copy.delete, "domain", id=domain_id)
        yield partial(copy.delete, "report", domain_id=domain_id)
    if change.type_ == "domain.removed":
        yield partial(copy.delete, "alert", domain_id=domain_id)


def _ask(query: dict[str, str]) -> Generator[Step, httpx.Response | None, httpx.Response]:
    """A page or a 410. Waits and asks again while repeating helps. A proxy's answer may be no JSON."""
    backoff = 1
    while True:
        answer = yield query
        if answer is not None:
            if answer.status_code in (200, 410):
                return answer
            if answer.status_code not in REPEATED:
                raise RuntimeError(f"Plumbline answered {answer.status_code}: {answer.text}")
        said = "" if answer is None else answer.headers.get("Retry-After", "")
        yield float(said if said.isdecimal() else backoff)
        backoff = min(2 * backoff, 60)


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes | str) -> dict[str, Any]:
    """The event of a delivery: its body as it came. Raises when it was not signed with the secret in the last five minutes."""
    given = {name.lower(): value for name, value in headers.items()}
    timestamp = given.get("webhook-timestamp", "")
    content = f"{given.get('webhook-id', '')}.{timestamp}.".encode()
    content += body.encode() if isinstance(body, str) else body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = b"v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256))
    signatures = given.get("webhook-signature", "").encode().split(b" ")
    is_signed = any(hmac.compare_digest(wanted, signature) for signature in signatures)
    if not is_signed or abs(time.time() - int(timestamp)) > 300:
        raise ValueError("The delivery is old, or not signed with this secret.")
    event: dict[str, Any] = json.loads(body)
    return event
