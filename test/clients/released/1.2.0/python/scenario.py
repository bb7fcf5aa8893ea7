"""The scenario with openapi-python-client's client."""

from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

# sample: setup
import os

from plumbline import AuthenticatedClient
from plumbline.api.alerts import list_alerts
from plumbline.api.changes import list_changes
from plumbline.api.domains import (
    get_domain,
    list_days,
    list_domain_days,
    list_domain_tls_days,
    list_domains,
    list_overview,
    list_sources,
)
from plumbline.api.key import get_key
from plumbline.api.reports import (
    list_account_reports,
    list_report_records,
    list_reports,
    list_tls_report_failures,
    list_tls_reports,
)
from plumbline.models import (
    AccountReportList,
    AlertList,
    ChangeList,
    DayList,
    Domain,
    DomainDetailsBody,
    DomainList,
    KeyBody,
    ListChangesInclude,
    ListOverviewOrder,
    ListSourcesOrder,
    OverviewList,
    Report,
    ReportList,
    ReportRecordList,
    SourceList,
    TlsDayList,
    TlsFailureList,
    TlsReportList,
)
# end
from plumbline.models import (
    Alert,
    AlignmentRegressionContext,
    ChangedReport,
    DomainOverview,
    ErrorBody,
)
from plumbline.types import Response, Unset

NOBODY = UUID("f0000000-0000-4000-8000-00000000000f")


# sample: setup
def connect(key: str, server: str = "PLUMBLINE_BASE_URL") -> AuthenticatedClient:
    return AuthenticatedClient(base_url=os.environ[server], token=key)


client = connect(os.environ["PLUMBLINE_API_KEY"])
# end


def every_page() -> None:
    # sample: listReports
    domain = find_domain("example.com")
    reports: list[Report] = []
    total = 1
    while len(reports) < total:
        page = list_reports.sync(domain.id, client=client, limit=100, offset=len(reports))
        assert isinstance(page, ReportList) and page.data, page
        reports += page.data
        total = page.total
    # end
    assert total > 200, f"only {total} reports"
    assert len({report.id for report in reports}) == total
    begins: list[datetime] = [report.begin_date for report in reports]
    assert begins == sorted(begins, reverse=True), "not newest first"


def an_empty_list() -> None:
    page = list_reports.sync(find_domain("waiting.example").id, client=client)
    assert page == ReportList(data=[], total=0), page


def a_null() -> None:
    assert find_domain("waiting.example").last_report_at is None
    last = find_domain("example.com").last_report_at
    assert last is not None and last < datetime.now(UTC), last
    ends = [alert.resolved_at for alert in read_alerts()]
    assert None in ends, "no open alert"
    resolved = [end for end in ends if end is not None]
    assert resolved and max(resolved) < datetime.now(UTC), resolved


def a_null_in_a_context() -> None:
    context = find_alert("alert.dns_record_changed").context
    assert "previous_value" in context and context["previous_value"] is None, context


def an_unknown_alert_type() -> None:
    context = find_alert("alert.sandbox_notice").context
    assert context.additional_keys == ["note"]
    assert isinstance(context["note"], str)


def a_typed_context() -> None:
    alert = find_alert("alert.alignment_regression")
    context = AlignmentRegressionContext.from_dict(alert.context.to_dict())
    assert context.drop_pct >= 10, context


def only_what_is_new() -> None:
    domain = find_domain("example.com")
    ids: list[UUID] = []
    cursor, is_new = "start", True
    while is_new:
        answer = list_reports.sync_detailed(
            domain.id, client=client, limit=200, received_after=cursor
        )
        assert isinstance(answer.parsed, ReportList), answer
        ids += [report.id for report in answer.parsed.data]
        cursor, is_new = answer.headers["Plumbline-Cursor"], bool(answer.parsed.data)
    whole = list_reports.sync(domain.id, client=client)
    assert isinstance(whole, ReportList) and len(ids) == len(set(ids)) == whole.total, ids


def reports_of_all_domains() -> None:
    # sample: listAccountReports
    page = list_account_reports.sync(client=client, limit=1)
    assert isinstance(page, AccountReportList), page
    [report] = page.data
    # end
    domains = list_domains.sync(client=client)
    assert isinstance(domains, DomainList), domains
    assert report.domain_id in [domain.id for domain in domains.data], report
    own = list_reports.sync(report.domain_id, client=client, limit=1)
    assert isinstance(own, ReportList) and page.total > own.total > 0, page


def a_policy_and_records() -> None:
    # sample: getDomain
    domain_id = find_domain("example.com").id
    domain = get_domain.sync(domain_id, client=client)
    assert isinstance(domain, DomainDetailsBody), domain
    policy = domain.data.published_policy
    # end
    assert policy.p == "reject", domain
    check_records()
    check_tls_reports()


def check_tls_reports() -> None:
    # sample: listTlsReports
    domain_id = find_domain("example.com").id
    tls = list_tls_reports.sync(domain_id, client=client, limit=200)
    assert isinstance(tls, TlsReportList), tls
    counted = [report for report in tls.data if report.authenticated]
    # end
    assert len(counted) <= tls.total, tls
    # sample: listTlsReportFailures
    domain_id = find_domain("example.com").id
    tls = list_tls_reports.sync(domain_id, client=client, limit=1)
    assert isinstance(tls, TlsReportList), tls
    hosts: set[str | None] = set()
    for report in tls.data:
        failures = list_tls_report_failures.sync(domain_id, report.id, client=client)
        assert isinstance(failures, TlsFailureList), failures
        hosts.update(failure.mx_host for failure in failures.data)
    # end
    assert len(hosts) <= 10_000, hosts


def check_records() -> None:
    # sample: listReportRecords
    domain_id = find_domain("example.com").id
    page = list_reports.sync(domain_id, client=client, limit=1)
    assert isinstance(page, ReportList), page
    [report] = page.data
    records = list_report_records.sync(domain_id, report.id, client=client)
    assert isinstance(records, ReportRecordList), records
    messages = sum(record.count for record in records.data)
    # end
    assert messages == report.total_messages, records
    assert records.data[0].identifiers.envelope_to is None, records


def a_domains_sources() -> None:
    # sample: listSources
    domain_id = find_domain("example.com").id
    page = list_sources.sync(domain_id, client=client, order=ListSourcesOrder.MESSAGES, limit=1)
    assert isinstance(page, SourceList), page
    [source] = page.data
    # end
    assert page.total > 1 and page.unlisted_messages == 0, page
    assert source.aligned_messages > 0 and source.first_day <= source.last_day, source
    assert source.mark == "legitimate" and source.network.asn is None, source
    assert source.service.name is None and source.dispositions.reject == 0, source


def figures_of_all_domains() -> None:
    # sample: listOverview
    page = list_overview.sync(client=client, order=ListOverviewOrder.DOMAIN, limit=1)
    assert isinstance(page, OverviewList), page
    [domain] = page.data
    # end
    assert domain.domain == "example.com" and domain.policy.pct is None, domain
    assert domain.readiness.answer == "reached", domain
    assert domain.next_step.code == "alert" and domain.next_step.record is None, domain
    check_days(domain)
    check_key()


def check_days(domain: DomainOverview) -> None:
    """Days up to today. The thirty days of the figures end with the newest day that has reports."""
    # sample: listDays
    days = list_days.sync(client=client, limit=200)
    assert isinstance(days, DayList), days
    newest = days.data[0].day
    # end
    assert newest >= domain.figures.until, days
    # sample: listDomainDays
    domain_id = find_domain("example.com").id
    own = list_domain_days.sync(domain_id, client=client, limit=200)
    assert isinstance(own, DayList), own
    messages = sum(day.total_messages for day in own.data)
    # end
    assert 0 < messages <= domain.figures.total_messages, own
    # sample: listDomainTlsDays
    domain_id = find_domain("example.com").id
    tls = list_domain_tls_days.sync(domain_id, client=client, limit=200)
    assert isinstance(tls, TlsDayList), tls
    failed = [day for day in tls.data if day.failed_sessions > 0]
    # end
    assert len(failed) <= tls.total, tls


def check_key() -> None:
    # sample: getKey
    key = get_key.sync(client=client)
    assert isinstance(key, KeyBody), key
    limit = key.data.limits.key_per_minute
    # end
    assert limit == 60 and key.data.expires_at is None, key


def the_feed_with_records() -> None:
    # sample: listChanges
    include = ListChangesInclude.RECORDS
    answer = list_changes.sync_detailed(client=client, after="start", limit=10, include=include)
    page, after = answer.parsed, answer.headers["Plumbline-Cursor"]
    # end
    assert isinstance(page, ChangeList) and page.has_more and after, answer
    first = page.data[0].domain
    assert isinstance(first, Domain) and first.domain == "example.com", page
    reports = [change.report for change in page.data if isinstance(change.report, ChangedReport)]
    records = reports[0].records
    assert not isinstance(records, Unset) and len(records) == reports[0].record_count, reports
    assert reports[0].unlisted_records == 0, reports


def not_modified() -> None:
    etag = list_domains.sync_detailed(client=client).headers["ETag"]
    answer = list_domains.sync_detailed(client=client, if_none_match=etag)
    assert answer.status_code == HTTPStatus.NOT_MODIFIED, answer
    assert answer.content == b"" and answer.parsed is None, answer


def unauthorized() -> None:
    answer = list_domains.sync_detailed(client=connect("plb_live_wrong"))
    assert to_error(answer, HTTPStatus.UNAUTHORIZED) == "unauthorized"


def not_found() -> None:
    answer = list_reports.sync_detailed(NOBODY, client=client)
    assert to_error(answer, HTTPStatus.NOT_FOUND) == "not_found"


def cursor_expired() -> None:
    id = find_domain("example.com").id
    cursor = os.environ["PLUMBLINE_EXPIRED_CURSOR"]
    answer = list_reports.sync_detailed(id, client=client, received_after=cursor)
    assert to_error(answer, HTTPStatus.GONE) == "cursor_expired"


def validation_error() -> None:
    answer = list_reports.sync_detailed(NOBODY, client=client, limit=201)
    assert to_error(answer, HTTPStatus.UNPROCESSABLE_ENTITY) == "validation_error"
    assert isinstance(answer.parsed, ErrorBody) and '"limit"' in answer.parsed.error.message


def unavailable() -> None:
    busy = connect("plb_live_any", "PLUMBLINE_UNAVAILABLE_URL")
    answer = list_domains.sync_detailed(client=busy)
    assert to_error(answer, HTTPStatus.SERVICE_UNAVAILABLE) == "unavailable"
    assert int(answer.headers["Retry-After"]) == 5


def rate_limited() -> None:
    answers = (list_domains.sync_detailed(client=client) for _ in range(61))
    refused = next(answer for answer in answers if answer.status_code != HTTPStatus.OK)
    assert to_error(refused, HTTPStatus.TOO_MANY_REQUESTS) == "rate_limited"
    assert int(refused.headers["Retry-After"]) == 60


# sample: setup
def find_domain(name: str) -> Domain:
    # sample: listDomains
    domains = list_domains.sync(client=client, limit=50)
    assert isinstance(domains, DomainList), domains
    # end
    return next(domain for domain in domains.data if domain.domain == name)


# end

def find_alert(kind: str) -> Alert:
    return next(alert for alert in read_alerts() if alert.type_ == kind)


def read_alerts() -> list[Alert]:
    # sample: listAlerts
    alerts = list_alerts.sync(client=client, limit=50)
    assert isinstance(alerts, AlertList), alerts
    # end
    return alerts.data


def to_error(answer: Response[Any], status: HTTPStatus) -> str:
    assert answer.status_code == status, answer
    assert isinstance(answer.parsed, ErrorBody), answer
    return answer.parsed.error.code


def check(name: str, body: Callable[[], None]) -> None:
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
check("304", not_modified)
check("401", unauthorized)
check("404", not_found)
check("410", cursor_expired)
check("422", validation_error)
check("503", unavailable)
check("429", rate_limited)
