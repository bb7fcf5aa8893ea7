import static java.util.Comparator.comparing;
import static java.util.Comparator.reverseOrder;

import example.plumbline.ApiClient;
import example.plumbline.ApiException;
import example.plumbline.api.AlertsApi;
import example.plumbline.api.AlertsApi.APIListAlertsRequest;
import example.plumbline.api.ChangesApi;
import example.plumbline.api.ChangesApi.APIListChangesRequest;
import example.plumbline.api.DomainsApi;
import example.plumbline.api.DomainsApi.APIGetDomainRequest;
import example.plumbline.api.DomainsApi.APIListDomainsRequest;
import example.plumbline.api.DomainsApi.APIListOverviewRequest;
import example.plumbline.api.DomainsApi.APIListSourcesRequest;
import example.plumbline.api.ReportsApi;
import example.plumbline.api.ReportsApi.APIListAccountReportsRequest;
import example.plumbline.api.ReportsApi.APIListReportRecordsRequest;
import example.plumbline.api.ReportsApi.APIListReportsRequest;
import example.plumbline.model.Alert;
import example.plumbline.model.AlignmentRegressionContext;
import example.plumbline.model.Change;
import example.plumbline.model.Domain;
import example.plumbline.model.ErrorBody;
import example.plumbline.model.ErrorDetail;
import example.plumbline.model.Report;
import example.plumbline.model.ReportList;
import example.plumbline.model.ReportRecord;
import java.lang.reflect.Method;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The scenario with openapi-generator's Java client, which sends with java.net.http. */
final class Scenario {
  private static final UUID NOBODYS = UUID.fromString("f0000000-0000-4000-8000-00000000000f");
  private static final ApiClient CLIENT = connect(System.getenv("PLUMBLINE_API_KEY"));

  private Scenario() {}

  public static void main(String[] args) {
    check("every page", Scenario::everyPage);
    check("an empty list", Scenario::anEmptyList);
    check("a null", Scenario::aNull);
    check("a null in a context", Scenario::aNullInAContext);
    check("an unknown alert type", Scenario::anUnknownAlertType);
    check("a typed context # by the mapper's convertValue", Scenario::aTypedContext);
    check("only what is new", Scenario::onlyWhatIsNew);
    check("the reports of all domains", Scenario::reportsOfAllDomains);
    check("a domain's policy, and a report's records", Scenario::policyAndRecords);
    check("a domain's sources", Scenario::domainSources);
    check("the figures of all domains", Scenario::figuresOfAllDomains);
    check("the feed, with records", Scenario::feedWithRecords);
    check("304 # an ApiException with this code", Scenario::notModified);
    check("401", Scenario::unauthorized);
    check("404", Scenario::notFound);
    check("410", Scenario::cursorExpired);
    check("422", Scenario::validationError);
    check("503", Scenario::unavailable);
    check("429", Scenario::rateLimited);
  }

  private static void everyPage() throws ApiException {
    var id = findDomain("example.com").getId();
    var reports = new ArrayList<Report>();
    long total = 1;
    while (reports.size() < total) {
      var page = listReports(id, 100, reports.size());
      require(!page.getData().isEmpty(), "a page is missing");
      reports.addAll(page.getData());
      total = page.getTotal();
    }
    require(total > 200, "only " + total + " reports");
    var ids = reports.stream().map(Report::getId).distinct();
    require(ids.count() == total, "an id twice, or another total");
    var byDate = comparing(Report::getBeginDate, reverseOrder());
    require(reports.equals(reports.stream().sorted(byDate).toList()), "not newest first");
  }

  private static void anEmptyList() throws ApiException {
    var page = listReports(findDomain("waiting.example").getId(), 50, 0);
    require(page.getData().isEmpty() && page.getTotal() == 0, "not empty: " + page);
  }

  private static void aNull() throws Exception {
    // Nullable fields are annotated, for code that uses a nullness checker.
    requireNullable(Domain.class.getMethod("getLastReportAt"));
    requireNullable(Alert.class.getMethod("getResolvedAt"));
    require(findDomain("waiting.example").getLastReportAt() == null, "a report");
    require(isPast(findDomain("example.com").getLastReportAt()), "no report");
    var ends = listAlerts().stream().map(Alert::getResolvedAt).toList();
    require(ends.stream().anyMatch(Objects::isNull), "no open alert");
    var resolved = ends.stream().filter(Objects::nonNull).toList();
    require(!resolved.isEmpty(), "no resolved alert");
    require(resolved.stream().allMatch(Scenario::isPast), "resolved in the future");
  }

  private static void aNullInAContext() throws ApiException {
    var context = findAlerts("alert.dns_record_changed").get(0).getContext();
    require(context.containsKey("previous_value"), "no previous_value: " + context);
    require(context.get("previous_value") == null, "not null: " + context);
  }

  private static void anUnknownAlertType() throws ApiException {
    var context = findAlerts("alert.sandbox_notice").get(0).getContext();
    require(context.keySet().equals(Set.of("note")), "other keys: " + context);
    require(context.get("note") instanceof String, "no text: " + context);
  }

  private static void aTypedContext() throws ApiException {
    var mapper = CLIENT.getObjectMapper();
    for (var alert : findAlerts("alert.alignment_regression")) {
      var context = mapper.convertValue(alert.getContext(), AlignmentRegressionContext.class);
      require(context.getDropPct() >= 10, "a small drop: " + context);
    }
  }

  private static void onlyWhatIsNew() throws ApiException {
    var id = findDomain("example.com").getId();
    var ids = new ArrayList<UUID>();
    var cursor = "start";
    for (var isNew = true; isNew; ) {
      var request = APIListReportsRequest.newBuilder().domainId(id).limit(200);
      var answer =
          new ReportsApi(CLIENT).listReportsWithHttpInfo(request.receivedAfter(cursor).build());
      answer.getData().getData().forEach(report -> ids.add(report.getId()));
      cursor = answer.getHeaders().get("plumbline-cursor").get(0);
      isNew = !answer.getData().getData().isEmpty();
    }
    require(ids.stream().distinct().count() == ids.size(), "an id twice");
    require(ids.size() == listReports(id, 1, 0).getTotal(), "only " + ids.size() + " reports");
  }

  private static void policyAndRecords() throws ApiException {
    var id = findDomain("example.com").getId();
    var request = APIGetDomainRequest.newBuilder().domainId(id).build();
    var policy = new DomainsApi(CLIENT).getDomain(request).getData().getPublishedPolicy();
    require("reject".equals(policy.getP()), "another policy: " + policy);
    var report = listReports(id, 1, 0).getData().get(0);
    var ofReport =
        APIListReportRecordsRequest.newBuilder().domainId(id).reportId(report.getId()).build();
    var records = new ReportsApi(CLIENT).listReportRecords(ofReport).getData();
    long messages = records.stream().mapToLong(ReportRecord::getCount).sum();
    require(messages == report.getTotalMessages(), "other messages: " + messages);
    require(records.get(0).getIdentifiers().getEnvelopeTo() == null, "a recipient");
  }

  private static void reportsOfAllDomains() throws ApiException {
    var request = APIListAccountReportsRequest.newBuilder().limit(1).build();
    var page = new ReportsApi(CLIENT).listAccountReports(request);
    var own = listReports(page.getData().get(0).getDomainId(), 1, 0);
    require(own.getTotal() > 0 && page.getTotal() > own.getTotal(), "another total: " + page);
  }

  private static void domainSources() throws ApiException {
    var id = findDomain("example.com").getId();
    var request = APIListSourcesRequest.newBuilder().domainId(id).order("messages").limit(1);
    var page = new DomainsApi(CLIENT).listSources(request.build());
    require(page.getTotal() > 1 && page.getUnlistedMessages() == 0, "another total: " + page);
    var source = page.getData().get(0);
    require(source.getAlignedMessages() > 0, "nothing aligned: " + source);
    require(!source.getFirstDay().isAfter(source.getLastDay()), "days out of order: " + source);
    require("legitimate".equals(source.getMark()), "another mark: " + source);
    require(source.getNetwork().getAsn() == null, "a network: " + source);
    require(source.getService().getName() == null, "a service: " + source);
    require(source.getDispositions().getReject() == 0, "rejected: " + source);
  }

  private static void figuresOfAllDomains() throws ApiException {
    var request = APIListOverviewRequest.newBuilder().order("domain").limit(1).build();
    var domain = new DomainsApi(CLIENT).listOverview(request).getData().get(0);
    require("example.com".equals(domain.getDomain()), "another domain: " + domain);
    require(domain.getPolicy().getPct() == null, "a percentage: " + domain);
    require("reached".equals(domain.getReadiness().getAnswer()), "another answer: " + domain);
    var step = domain.getNextStep();
    require("alert".equals(step.getCode()) && step.getRecord() == null, "another step: " + step);
  }

  private static void feedWithRecords() throws ApiException {
    var request = APIListChangesRequest.newBuilder().limit(10).include("records").build();
    var page = new ChangesApi(CLIENT).listChanges(request);
    var first = Objects.requireNonNull(page.getData().get(0).getDomain());
    require(page.getHasMore() && "example.com".equals(first.getDomain()), "another: " + first);
    var stored = page.getData().stream().map(Change::getReport).filter(Objects::nonNull);
    var report = Objects.requireNonNull(stored.findFirst().orElseThrow());
    require(report.getRecords().size() == report.getRecordCount(), "other records: " + report);
    require(Objects.equals(report.getUnlistedRecords(), 0L), "more records: " + report);
  }

  private static void notModified() throws Exception {
    var api = new DomainsApi(CLIENT);
    var first = api.listDomainsWithHttpInfo(APIListDomainsRequest.newBuilder().build());
    var tag = first.getHeaders().get("etag").get(0);
    var again = APIListDomainsRequest.newBuilder().ifNoneMatch(tag).build();
    var answer = refusal(() -> api.listDomains(again));
    require(answer.getCode() == 304, "status " + answer.getCode());
    require(answer.getResponseBody().isEmpty(), "a body: " + answer.getResponseBody());
  }

  private static void unauthorized() throws Exception {
    var domains = new DomainsApi(connect("plb_live_wrong"));
    var refusal = refusal(() -> domains.listDomains(APIListDomainsRequest.newBuilder().build()));
    requireError(refusal, 401, "unauthorized");
  }

  private static void notFound() throws Exception {
    requireError(refusal(() -> listReports(NOBODYS, 50, 0)), 404, "not_found");
  }

  private static void cursorExpired() throws Exception {
    var id = findDomain("example.com").getId();
    var reports = new ReportsApi(CLIENT);
    var cursor = System.getenv("PLUMBLINE_EXPIRED_CURSOR");
    var after = APIListReportsRequest.newBuilder().domainId(id).receivedAfter(cursor).build();
    requireError(refusal(() -> reports.listReports(after)), 410, "cursor_expired");
  }

  private static void validationError() throws Exception {
    var refusal = refusal(() -> listReports(NOBODYS, 201, 0));
    var error = requireError(refusal, 422, "validation_error");
    require(error.getMessage().contains("\"limit\""), error.getMessage());
  }

  private static void unavailable() throws Exception {
    var domains = new DomainsApi(connectTo("PLUMBLINE_UNAVAILABLE_URL", "plb_live_any"));
    var refusal = refusal(() -> domains.listDomains(APIListDomainsRequest.newBuilder().build()));
    requireError(refusal, 503, "unavailable");
    var retryAfter = refusal.getResponseHeaders().firstValueAsLong("Retry-After");
    require(retryAfter.orElse(0) == 5, "Retry-After: " + retryAfter);
  }

  private static void rateLimited() throws Exception {
    var refusal =
        refusal(
            () -> {
              for (int sent = 0; sent <= 60; sent++) findDomain("example.com");
            });
    requireError(refusal, 429, "rate_limited");
    var retryAfter = refusal.getResponseHeaders().firstValueAsLong("Retry-After");
    require(retryAfter.orElse(0) == 60, "Retry-After: " + retryAfter);
  }

  private static ApiClient connect(String key) {
    return connectTo("PLUMBLINE_BASE_URL", key);
  }

  private static ApiClient connectTo(String server, String key) {
    var client = new ApiClient();
    client.updateBaseUri(System.getenv(server));
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + key));
    return client;
  }

  private static Domain findDomain(String name) throws ApiException {
    var request = APIListDomainsRequest.newBuilder().build();
    var domains = new DomainsApi(CLIENT).listDomains(request).getData().stream();
    return domains.filter(domain -> domain.getDomain().equals(name)).findFirst().orElseThrow();
  }

  private static ReportList listReports(UUID domainId, int limit, int offset) throws ApiException {
    var request = APIListReportsRequest.newBuilder().domainId(domainId).limit(limit).offset(offset);
    return new ReportsApi(CLIENT).listReports(request.build());
  }

  private static List<Alert> listAlerts() throws ApiException {
    return new AlertsApi(CLIENT).listAlerts(APIListAlertsRequest.newBuilder().build()).getData();
  }

  private static List<Alert> findAlerts(String type) throws ApiException {
    var alerts = listAlerts().stream().filter(alert -> alert.getType().equals(type)).toList();
    require(!alerts.isEmpty(), "no " + type);
    return alerts;
  }

  private static void requireNullable(Method getter) {
    var isNullable = getter.getAnnotatedReturnType().isAnnotationPresent(Nullable.class);
    require(isNullable, getter.getName() + " is not nullable");
  }

  private static boolean isPast(OffsetDateTime instant) {
    return !instant.isAfter(OffsetDateTime.now());
  }

  private static ErrorDetail requireError(ApiException refusal, int status, String code) {
    var error =
        CLIENT.getObjectMapper().readValue(refusal.getResponseBody(), ErrorBody.class).getError();
    require(refusal.getCode() == status, "status " + refusal.getCode());
    require(error.getCode().equals(code), "code " + error.getCode());
    return error;
  }

  private static ApiException refusal(Body body) throws Exception {
    try {
      body.run();
    } catch (ApiException refusal) {
      return refusal;
    }
    throw new IllegalStateException("not refused");
  }

  private static void require(boolean isTrue, String otherwise) {
    if (!isTrue) throw new IllegalStateException(otherwise);
  }

  private interface Body {
    void run() throws Exception;
  }

  /** Prints what came of a check; a remark after its name says what this client does otherwise. */
  private static void check(String name, Body body) {
    try {
      body.run();
      System.out.println("ok " + name);
    } catch (Exception failure) {
      System.out.println("not ok " + name + ": " + failure.toString().replace('\n', ' '));
    }
  }
}
