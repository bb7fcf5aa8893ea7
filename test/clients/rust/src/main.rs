//! The scenario with progenitor's client, which sends with reqwest.

use std::collections::HashSet;
use std::env;
use std::error::Error;
use std::num::NonZeroU32;

use chrono::Utc;
use plumbline::{Client, types};
use reqwest::header::{self, HeaderMap};
use serde::Deserialize;
use uuid::{Uuid, uuid};

#[allow(clippy::pedantic)]
mod plumbline {
    progenitor::generate_api!(spec = "../../../openapi/v1.yaml", interface = Builder);
}

const HUNDRED: NonZeroU32 = NonZeroU32::new(100).unwrap();
const TWO_HUNDRED: NonZeroU32 = NonZeroU32::new(200).unwrap();
const TOO_MANY: NonZeroU32 = NonZeroU32::new(201).unwrap();
const NOBODYS: Uuid = uuid!("f0000000-0000-4000-8000-00000000000f");

type Checked = Result<(), Box<dyn Error>>;
type Refusal = plumbline::Error<types::ErrorBody>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Checked {
    let client = connect(&env::var("PLUMBLINE_API_KEY")?)?;
    print("every page", every_page(&client).await);
    print("an empty list", an_empty_list(&client).await);
    print("a null", a_null(&client).await);
    print("a null in a context", a_null_in_a_context(&client).await);
    print(
        "an unknown alert type",
        an_unknown_alert_type(&client).await,
    );
    print("a typed context", a_typed_context(&client).await);
    print("only what is new", only_what_is_new(&client).await);
    print(
        "the reports of all domains",
        reports_of_all_domains(&client).await,
    );
    print(
        "a domain's policy, and a report's records",
        policy_and_records(&client).await,
    );
    print("a domain's sources", domain_sources(&client).await);
    print(
        "the figures of all domains",
        figures_of_all_domains(&client).await,
    );
    print("the feed, with records", feed_with_records(&client).await);
    print(
        "304 # an UnexpectedResponse with this status",
        not_modified(&client).await,
    );
    print("401", unauthorized().await);
    print("404", not_found(&client).await);
    print("410", cursor_expired(&client).await);
    print("422", validation_error(&client).await);
    print("503", unavailable().await);
    print("429", rate_limited(&client).await);
    Ok(())
}

async fn every_page(client: &Client) -> Checked {
    let id = find_domain(client, "example.com").await?.id;
    let mut reports = Vec::new();
    let mut total = 1;
    while reports.len() < total {
        let request = client.list_reports().domain_id(id).limit(HUNDRED);
        let page = request.offset(reports.len()).send().await?.into_inner();
        require(!page.data.is_empty(), "a page is missing")?;
        reports.extend(page.data);
        total = usize::try_from(page.total)?;
    }
    require(total > 200, "too few reports")?;
    let ids: HashSet<Uuid> = reports.iter().map(|report| report.id).collect();
    require(ids.len() == total, "an id twice, or another total")?;
    let newest_first = reports.is_sorted_by(|a, b| a.begin_date >= b.begin_date);
    require(newest_first, "not newest first")
}

async fn an_empty_list(client: &Client) -> Checked {
    let id = find_domain(client, "waiting.example").await?.id;
    let page = client.list_reports().domain_id(id).send().await?;
    require(page.data.is_empty() && page.total == 0, "not empty")
}

async fn a_null(client: &Client) -> Checked {
    let waiting = find_domain(client, "waiting.example").await?;
    require(waiting.last_report_at.is_none(), "a report")?;
    let domain = find_domain(client, "example.com").await?;
    let is_past = domain.last_report_at.is_some_and(|at| at <= Utc::now());
    require(is_past, "no report")?;
    let alerts = client.list_alerts().send().await?.into_inner().data;
    let (open, resolved): (Vec<_>, Vec<_>) = alerts
        .iter()
        .map(|alert| alert.resolved_at)
        .partition(Option::is_none);
    require(!open.is_empty(), "no open alert")?;
    require(!resolved.is_empty(), "no resolved alert")?;
    require(
        resolved.iter().all(|at| *at <= Some(Utc::now())),
        "resolved in the future",
    )
}

async fn a_null_in_a_context(client: &Client) -> Checked {
    let alert = find_alerts(client, "alert.dns_record_changed")
        .await?
        .remove(0);
    let value = alert.context.get("previous_value");
    require(
        value.is_some_and(serde_json::Value::is_null),
        "another value",
    )
}

async fn an_unknown_alert_type(client: &Client) -> Checked {
    let alert = find_alerts(client, "alert.sandbox_notice").await?.remove(0);
    require(alert.context.keys().eq(["note"]), "other keys")?;
    require(alert.context["note"].is_string(), "no text")
}

async fn a_typed_context(client: &Client) -> Checked {
    for alert in find_alerts(client, "alert.alignment_regression").await? {
        let context = types::AlignmentRegressionContext::deserialize(&*alert.context)?;
        require(context.drop_pct >= 10.0, "a small drop")?;
    }
    Ok(())
}

async fn only_what_is_new(client: &Client) -> Checked {
    let id = find_domain(client, "example.com").await?.id;
    let mut ids = Vec::new();
    let mut cursor = String::from("start");
    loop {
        let request = client.list_reports().domain_id(id).limit(TWO_HUNDRED);
        let answer = request.received_after(cursor.as_str()).send().await?;
        let header = &answer.headers()["plumbline-cursor"];
        header.to_str()?.clone_into(&mut cursor);
        let page = answer.into_inner();
        if page.data.is_empty() {
            break;
        }
        ids.extend(page.data.iter().map(|report| report.id));
    }
    let whole = client.list_reports().domain_id(id).send().await?;
    require(usize::try_from(whole.total)? == ids.len(), "too few")?;
    let distinct: HashSet<&Uuid> = ids.iter().collect();
    require(distinct.len() == ids.len(), "an id twice")
}

async fn policy_and_records(client: &Client) -> Checked {
    let id = find_domain(client, "example.com").await?.id;
    let domain = client.get_domain().domain_id(id).send().await?;
    let policy = domain
        .data
        .published_policy
        .p
        .as_deref()
        .map(String::as_str);
    require(policy == Some("reject"), "another policy")?;
    let page = client.list_reports().domain_id(id).send().await?;
    let report = page.data.first().ok_or("no report")?;
    let request = client.list_report_records().domain_id(id);
    let records = request.report_id(report.id).send().await?;
    let messages: i64 = records.data.iter().map(|record| record.count).sum();
    require(messages == report.total_messages, "other messages")?;
    let recipient = records
        .data
        .first()
        .and_then(|record| record.identifiers.envelope_to.as_ref());
    require(recipient.is_none(), "a recipient")
}

async fn reports_of_all_domains(client: &Client) -> Checked {
    let page = client.list_account_reports().send().await?;
    let report = page.data.first().ok_or("no report")?;
    let own = client.list_reports().domain_id(report.domain_id);
    let total = own.send().await?.total;
    require(total > 0 && page.total > total, "another total")
}

async fn domain_sources(client: &Client) -> Checked {
    let id = find_domain(client, "example.com").await?.id;
    let request = client.list_sources().domain_id(id);
    let page = request
        .order(types::ListSourcesOrder::Messages)
        .send()
        .await?;
    require(
        page.total > 1 && page.unlisted_messages == 0,
        "another total",
    )?;
    let source = page.data.first().ok_or("no source")?;
    require(source.aligned_messages > 0, "nothing aligned")?;
    require(source.first_day <= source.last_day, "days out of order")?;
    let mark = source.mark.as_deref();
    require(mark == Some("legitimate"), "another mark")?;
    require(source.service.name.is_none(), "a service")?;
    require(source.dispositions.reject == 0, "rejected")?;
    require(source.network.asn.is_none(), "a network")
}

async fn figures_of_all_domains(client: &Client) -> Checked {
    let request = client.list_overview();
    let page = request
        .order(types::ListOverviewOrder::Domain)
        .send()
        .await?;
    let domain = page.data.first().ok_or("no domain")?;
    require(domain.domain.as_str() == "example.com", "another domain")?;
    require(domain.policy.pct.is_none(), "a percentage")?;
    require(domain.readiness.answer == "reached", "another answer")?;
    let step = &domain.next_step;
    require(
        step.code == "alert" && step.record.is_none(),
        "another step",
    )
}

async fn feed_with_records(client: &Client) -> Checked {
    let request = client.list_changes();
    let page = request
        .include(types::ListChangesInclude::Records)
        .send()
        .await?;
    require(page.has_more, "no more")?;
    let first = page.data.first().and_then(|change| change.domain.as_ref());
    require(
        first.is_some_and(|domain| domain.domain == "example.com"),
        "another domain",
    )?;
    let mut reports = page.data.iter().filter_map(|change| change.report.as_ref());
    let report = reports.next().ok_or("no report")?;
    let count = i64::try_from(report.records.len())?;
    require(count == report.record_count, "other records")?;
    require(report.unlisted_records == Some(0), "more records")
}

async fn not_modified(client: &Client) -> Checked {
    let first = client.list_domains().send().await?;
    let tag = first.headers()[header::ETAG].to_str()?;
    match client.list_domains().if_none_match(tag).send().await {
        Err(plumbline::Error::UnexpectedResponse(answer)) => {
            require(answer.status() == 304, "another status")?;
            require(answer.bytes().await?.is_empty(), "a body")
        }
        _ => Err("no 304".into()),
    }
}

async fn unauthorized() -> Checked {
    let answer = connect("plb_live_wrong")?.list_domains().send().await;
    require_error(answer, 401, "unauthorized").map(drop)
}

async fn not_found(client: &Client) -> Checked {
    let answer = client.list_reports().domain_id(NOBODYS).send().await;
    require_error(answer, 404, "not_found").map(drop)
}

async fn cursor_expired(client: &Client) -> Checked {
    let id = find_domain(client, "example.com").await?.id;
    let cursor = env::var("PLUMBLINE_EXPIRED_CURSOR")?;
    let request = client.list_reports().domain_id(id).received_after(cursor);
    require_error(request.send().await, 410, "cursor_expired").map(drop)
}

async fn validation_error(client: &Client) -> Checked {
    let answer = client
        .list_reports()
        .domain_id(NOBODYS)
        .limit(TOO_MANY)
        .send()
        .await;
    let error = require_error(answer, 422, "validation_error")?;
    require(
        error.error.message.contains("\"limit\""),
        &error.error.message,
    )
}

async fn unavailable() -> Checked {
    let busy = connect_to("PLUMBLINE_UNAVAILABLE_URL", "plb_live_any")?;
    let answer = busy.list_domains().send().await;
    let error = require_error(answer, 503, "unavailable")?;
    require(
        error.headers()[header::RETRY_AFTER] == "5",
        "another Retry-After",
    )
}

async fn rate_limited(client: &Client) -> Checked {
    for _ in 0..=60 {
        let answer = client.list_domains().send().await;
        if answer.is_ok() {
            continue;
        }
        let error = require_error(answer, 429, "rate_limited")?;
        return require(
            error.headers()[header::RETRY_AFTER] == "60",
            "another Retry-After",
        );
    }
    Err("never refused".into())
}

fn connect(key: &str) -> Result<Client, Box<dyn Error>> {
    connect_to("PLUMBLINE_BASE_URL", key)
}

fn connect_to(server: &str, key: &str) -> Result<Client, Box<dyn Error>> {
    let authorization = format!("Bearer {key}").try_into()?;
    let headers = HeaderMap::from_iter([(header::AUTHORIZATION, authorization)]);
    let http = reqwest::Client::builder()
        .default_headers(headers)
        .build()?;
    Ok(Client::new_with_client(&env::var(server)?, http))
}

async fn find_domain(client: &Client, name: &str) -> Result<types::Domain, Box<dyn Error>> {
    let domains = client.list_domains().send().await?.into_inner().data;
    let found = domains.into_iter().find(|domain| domain.domain == name);
    found.ok_or_else(|| format!("no {name}").into())
}

async fn find_alerts(client: &Client, kind: &str) -> Result<Vec<types::Alert>, Box<dyn Error>> {
    let mut alerts = client.list_alerts().send().await?.into_inner().data;
    alerts.retain(|alert| alert.type_ == kind);
    require(!alerts.is_empty(), "no such alert")?;
    Ok(alerts)
}

/// The error of the answer, which must have this status and code.
fn require_error<T>(
    answer: Result<T, Refusal>,
    status: u16,
    code: &str,
) -> Result<plumbline::ResponseValue<types::ErrorBody>, Box<dyn Error>> {
    match answer {
        Err(plumbline::Error::ErrorResponse(refusal)) => {
            require(refusal.status() == status, "another status")?;
            require(refusal.error.code == code, &refusal.error.code)?;
            Ok(refusal)
        }
        Err(other) => Err(other.into()),
        Ok(_) => Err("not refused".into()),
    }
}

fn require(is_true: bool, otherwise: &str) -> Checked {
    if is_true {
        Ok(())
    } else {
        Err(otherwise.into())
    }
}

/// Prints the result of a check; a remark after its name says what differs in this client.
fn print(name: &str, checked: Checked) {
    match checked {
        Ok(()) => println!("ok {name}"),
        Err(error) => println!("not ok {name}: {}", error.to_string().replace('\n', " ")),
    }
}
