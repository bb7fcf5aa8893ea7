"""The scenario with openapi-generator's client."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from inspect import unwrap
from typing import NoReturn
from uuid import UUID

from plumbline import (
    Alert,
    AlertsApi,
    AlignmentRegressionContext,
    ApiClient,
    ApiException,
    ChangesApi,
    Configuration,
    Domain,
    DomainsApi,
    ErrorBody,
    Report,
    ReportsApi,
)
from pydantic import ValidationError

NOBODY = UUID("f0000000-0000-4000-8000-00000000000f")


KEY = os.environ["PLUMBLINE_API_KEY"]


def connect(
    key: str, retries: int | None = None, server: str = "PLUMBLINE_BASE_URL"
) -> ApiClient:
    host = os.environ[server]
    return ApiClient(Configuration(host=host, access_token=key, retries=retries))


plumbline = connect(KEY)
domains = DomainsApi(plumbline)
reports = ReportsApi(plumbline)
alerts = AlertsApi(plumbline)
changes = ChangesApi(plumbline)


def every_page() -> None:
    domain = find_domain("example.com")
    found: list[Report] = []
    total = 1
    while len(found) < total:
        page = reports.list_reports(domain.id, limit=100, offset=len(found))
        assert page.data, page
        found += page.data
        total = page.total
    assert total > 200, f"only {total} reports"
    assert len({report.id for report in found}) == total
    begins: list[datetime] = [report.begin_date for report in found]
    assert begins == sorted(begins, reverse=True), "not newest first"


def an_empty_list() -> None:
    page = reports.list_reports(find_domain("waiting.example").id)
    assert page.data == [] and page.total == 0, page


def a_null() -> None:
    assert find_domain("waiting.example").last_report_at is None
    last = find_domain("example.com").last_report_at
    assert last is not None and last < datetime.now(UTC), last
    ends = [alert.resolved_at for alert in alerts.list_alerts().data]
    assert None in ends, "no open alert"
    resolved = [end for end in ends if end is not None]
    assert resolved and max(resolved) < datetime.now(UTC), resolved


def a_null_in_a_context() -> None:
    context = find_alert("alert.dns_record_changed").context
    assert "previous_value" in context and context["previous_value"] is None, context


def an_unknown_alert_type() -> None:
    context = find_alert("alert.sandbox_notice").context
    assert list(context) == ["note"] and isinstance(context["note"], str), context


def a_typed_context() -> None:
    alert = find_alert("alert.alignment_regression")
    context = AlignmentRegressionContext.from_dict(alert.context)
    assert context is not None and context.drop_pct >= 10, context


def only_what_is_new() -> None:
    domain = find_domain("example.com")
    ids: list[UUID] = []
    cursor, is_new = "start", True
    while is_new:
        answer = reports.list_reports_with_http_info(domain.id, limit=200, received_after=cursor)
        assert answer.headers is not None
        ids += [report.id for report in answer.data.data]
        cursor, is_new = answer.headers["Plumbline-Cursor"], bool(answer.data.data)
    assert len(ids) == len(set(ids)) == reports.list_reports(domain.id).total, ids


def a_policy_and_records() -> None:
    domain = domains.get_domain(find_domain("example.com").id).data
    assert domain.published_policy.p == "reject", domain
    [report] = reports.list_reports(domain.id, limit=1).data
    records = reports.list_report_records(domain.id, report.id).data
    assert sum(record.count for record in records) == report.total_messages, records
    assert records[0].identifiers.envelope_to is None, records


def reports_of_all_domains() -> None:
    page = reports.list_account_reports(limit=1)
    [report] = page.data
    assert report.domain_id in [domain.id for domain in domains.list_domains().data], report
    own = reports.list_reports(report.domain_id, limit=1)
    assert page.total > own.total > 0, page


def a_domains_sources() -> None:
    page = domains.list_sources(find_domain("example.com").id, order="messages", limit=1)
    [source] = page.data
    assert page.total > 1 and page.unlisted_messages == 0, page
    assert source.aligned_messages > 0 and source.first_day <= source.last_day, source
    assert source.mark == "legitimate" and source.network.asn is None, source
    assert source.service.name is None and source.dispositions.reject == 0, source


def figures_of_all_domains() -> None:
    [domain] = domains.list_overview(order="domain", limit=1).data
    assert domain.domain == "example.com" and domain.policy.pct is None, domain
    assert domain.readiness.answer == "reached", domain
    assert domain.next_step.code == "alert" and domain.next_step.record is None, domain


def the_feed_with_records() -> None:
    page = changes.list_changes(limit=10, include="records")
    first = page.data[0].domain
    assert page.has_more and first is not None and first.domain == "example.com", page
    report = next(change.report for change in page.data if change.report is not None)
    assert report.records is not None and len(report.records) == report.record_count, report
    assert report.unlisted_records == 0, report


def not_modified() -> None:
    headers = domains.list_domains_with_http_info().headers
    assert headers is not None
    answer = refused(lambda: domains.list_domains(if_none_match=headers["ETag"]))
    assert answer.status == 304 and answer.body == "", answer


def unauthorized() -> None:
    answer = refused(lambda: DomainsApi(connect("plb_live_wrong")).list_domains())
    assert to_error(answer, 401).error.code == "unauthorized"


def not_found() -> None:
    answer = refused(lambda: reports.list_reports(NOBODY))
    assert to_error(answer, 404).error.code == "not_found"


def cursor_expired() -> None:
    domain = find_domain("example.com")
    cursor = os.environ["PLUMBLINE_EXPIRED_CURSOR"]
    answer = refused(lambda: reports.list_reports(domain.id, received_after=cursor))
    assert to_error(answer, 410).error.code == "cursor_expired"


def validation_error() -> None:
    try:
        reports.list_reports(NOBODY, limit=201)
        raise AssertionError("sent")
    except ValidationError as refusal:
        assert refusal.errors()[0]["loc"] == ("limit",), refusal
    list_unchecked = unwrap(ReportsApi.list_reports)
    answer = refused(lambda: list_unchecked(reports, NOBODY, limit=201))
    error = to_error(answer, 422).error
    assert error.code == "validation_error" and '"limit"' in error.message, error


def unavailable() -> None:
    busy = DomainsApi(connect("plb_live_any", 0, "PLUMBLINE_UNAVAILABLE_URL"))
    answer = refused(busy.list_domains)
    assert to_error(answer, 503).error.code == "unavailable"
    assert answer.headers is not None and int(answer.headers["Retry-After"]) == 5


def rate_limited() -> None:
    impatient = DomainsApi(connect(KEY, retries=0))

    def ask_on() -> NoReturn:
        for _ in range(61):
            impatient.list_domains()
        raise AssertionError("never refused")

    answer = refused(ask_on)
    assert to_error(answer, 429).error.code == "rate_limited"
    assert answer.headers is not None and int(answer.headers["Retry-After"]) == 60


def find_domain(name: str) -> Domain:
    return next(domain for domain in domains.list_domains().data if domain.domain == name)


def find_alert(kind: str) -> Alert:
    return next(alert for alert in alerts.list_alerts().data if alert.type == kind)


def refused(body: Callable[[], object]) -> ApiException:
    try:
        answer = body()
    except ApiException as error:
        return error
    raise AssertionError(f"answered: {answer}")


def to_error(answer: ApiException, status: int) -> ErrorBody:
    assert answer.status == status, answer
    assert isinstance(answer.data, ErrorBody), answer
    return answer.data


def check(name: str, body: Callable[[], None]) -> None:
    """Print what came of a check; what follows # says what this client does in its own way."""
    try:
        body()
        print(f"ok {name}")
    except Exception as error:
        print(f"not ok {name}: {' '.join(repr(error).split())}")


check("every page", every_page)
check("an empty list", an_empty_list)
check("a null", a_null)
check("a null in a context", a_null_in_a_context)
check("an unknown alert type", an_unknown_alert_type)
check("a typed context", a_typed_context)
check("only what is new", only_what_is_new)
check("the reports of all domains", reports_of_all_domains)
check("a domain's policy, and a report's records", a_policy_and_records)
check("a domain's sources", a_domains_sources)
check("the figures of all domains", figures_of_all_domains)
check("the feed, with records", the_feed_with_records)
check("304 # raised as an ApiException with that status", not_modified)
check("401", unauthorized)
check("404", not_found)
check("410", cursor_expired)
check("422 # refused before it is sent; here sent past the client's own check", validation_error)
check("503", unavailable)
check("429 # it waits as Retry-After says, and tries again; retries=0 raises at once", rate_limited)
