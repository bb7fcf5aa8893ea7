import com.squareup.moshi.Moshi
import example.plumbline.apis.AlertsApi
import example.plumbline.apis.ChangesApi
import example.plumbline.apis.DomainsApi
import example.plumbline.apis.ReportsApi
import example.plumbline.infrastructure.ApiClient
import example.plumbline.infrastructure.ApiResponse
import example.plumbline.infrastructure.ClientError
import example.plumbline.infrastructure.ClientException
import example.plumbline.infrastructure.Serializer
import example.plumbline.infrastructure.ServerError
import example.plumbline.infrastructure.Success
import example.plumbline.models.Alert
import example.plumbline.models.AlignmentRegressionContext
import example.plumbline.models.Domain
import example.plumbline.models.ErrorBody
import example.plumbline.models.ErrorDetail
import example.plumbline.models.Report
import example.plumbline.models.ReportList
import java.time.OffsetDateTime
import java.util.UUID

/** The scenario with openapi-generator's Kotlin client, which sends with OkHttp and reads with Moshi. */
private val baseUrl = System.getenv("PLUMBLINE_BASE_URL")
private val nobodys = UUID.fromString("f0000000-0000-4000-8000-00000000000f")
private val domains = DomainsApi(baseUrl)
private val reports = ReportsApi(baseUrl)
private val alerts = AlertsApi(baseUrl)
private val changes = ChangesApi(baseUrl)
private val moshi: Moshi = Serializer.moshi

fun main() {
    ApiClient.accessToken = System.getenv("PLUMBLINE_API_KEY")
    check("every page", ::everyPage)
    check("an empty list", ::anEmptyList)
    check("a null", ::aNull)
    check("a null in a context", ::aNullInAContext)
    check("an unknown alert type", ::anUnknownAlertType)
    check("a typed context # by Moshi's fromJsonValue", ::aTypedContext)
    check("only what is new", ::onlyWhatIsNew)
    check("the reports of all domains", ::reportsOfAllDomains)
    check("a domain's policy, and a report's records", ::policyAndRecords)
    check("a domain's sources", ::domainSources)
    check("the figures of all domains", ::figuresOfAllDomains)
    check("the feed, with records", ::feedWithRecords)
    check("304 # a ServerError with this code", ::notModified)
    check("401", ::unauthorized)
    check("404", ::notFound)
    check("410", ::cursorExpired)
    check("422", ::validationError)
    check("503 # a ServerError with this code", ::unavailable)
    check("429", ::rateLimited)
}

private fun everyPage() {
    val id = findDomain("example.com").id
    val found = mutableListOf<Report>()
    var total = 1L
    while (found.size < total) {
        val page = reports.listReports(id, limit = 100, offset = found.size)
        require(page.`data`.isNotEmpty()) { "a page is missing" }
        found += page.`data`
        total = page.total
    }
    require(total > 200) { "only $total reports" }
    require(found.distinctBy { it.id }.size.toLong() == total) { "an id twice, or another total" }
    require(found == found.sortedByDescending { it.beginDate }) { "not newest first" }
}

private fun anEmptyList() {
    val page = reports.listReports(findDomain("waiting.example").id)
    require(page.`data`.isEmpty() && page.total == 0L) { "not empty: $page" }
}

private fun aNull() {
    require(findDomain("waiting.example").lastReportAt == null) { "a report" }
    val last = findDomain("example.com").lastReportAt
    require(last != null && last < OffsetDateTime.now()) { "last report at $last" }
    val ends = alerts.listAlerts().`data`.map { it.resolvedAt }
    require(ends.any { it == null }) { "no open alert" }
    val resolved = ends.filterNotNull()
    require(resolved.isNotEmpty() && resolved.all { it < OffsetDateTime.now() }) { "$resolved" }
}

private fun aNullInAContext() {
    val context: Map<String, Any?> = findAlert("alert.dns_record_changed").context
    require("previous_value" in context) { "no previous_value: $context" }
    require(context.values.any { it == null }) { "no null: $context" }
}

private fun anUnknownAlertType() {
    val context = findAlert("alert.sandbox_notice").context
    require(context.keys == setOf("note") && context["note"] is String) { "$context" }
}

private fun aTypedContext() {
    val adapter = moshi.adapter(AlignmentRegressionContext::class.java)
    val context = adapter.fromJsonValue(findAlert("alert.alignment_regression").context)
    require(context != null && context.dropPct >= 10) { "$context" }
}

private fun onlyWhatIsNew() {
    val id = findDomain("example.com").id
    val found = mutableListOf<Report>()
    var cursor = "start"
    do {
        val answer = followReports(id, cursor)
        found += answer.`data`.`data`
        cursor = answer.headers["plumbline-cursor"]?.first() ?: error("no cursor: ${answer.headers}")
    } while (answer.`data`.`data`.isNotEmpty())
    require(found.size.toLong() == reports.listReports(id).total) { "only ${found.size} reports" }
    require(found.distinctBy { it.id }.size == found.size) { "an id twice" }
    require(followReports(id, cursor).`data`.total == 0L) { "something new" }
}

private fun followReports(id: UUID, cursor: String): Success<ReportList> {
    val answer = reports.listReportsWithHttpInfo(id, 200, null, null, null, cursor, null, null, null)
    @Suppress("UNCHECKED_CAST")
    return answer as? Success<ReportList> ?: error("status ${answer.statusCode}")
}

private fun policyAndRecords() {
    val domain = domains.getDomain(findDomain("example.com").id).`data`
    require(domain.publishedPolicy.p == "reject") { "another policy: $domain" }
    val report = reports.listReports(domain.id, limit = 1).`data`.first()
    val records = reports.listReportRecords(domain.id, report.id).`data`
    require(records.sumOf { it.count } == report.totalMessages) { "other messages: $records" }
    require(records.first().identifiers.envelopeTo == null) { "a recipient" }
}

private fun reportsOfAllDomains() {
    val page = reports.listAccountReports(limit = 1)
    val own = reports.listReports(page.`data`.first().domainId, limit = 1)
    require(own.total > 0 && page.total > own.total) { "another total: $page" }
}

private fun domainSources() {
    val id = findDomain("example.com").id
    val page = domains.listSources(id, order = DomainsApi.OrderListSources.messages, limit = 1)
    require(page.total > 1 && page.unlistedMessages == 0L) { "another total: $page" }
    val source = page.`data`.first()
    require(source.alignedMessages > 0) { "nothing aligned: $source" }
    require(source.firstDay <= source.lastDay) { "days out of order: $source" }
    require(source.mark == "legitimate" && source.network.asn == null) { "another mark: $source" }
    require(source.service.name == null && source.dispositions.reject == 0L) { "a service: $source" }
}

private fun figuresOfAllDomains() {
    val page = domains.listOverview(order = DomainsApi.OrderListOverview.domain, limit = 1)
    val domain = page.`data`.first()
    require(domain.domain == "example.com" && domain.policy.pct == null) { "another: $domain" }
    require(domain.readiness.answer == "reached") { "another answer: $domain" }
    val step = domain.nextStep
    require(step.code == "alert" && step.record == null) { "another step: $step" }
}

private fun feedWithRecords() {
    val page = changes.listChanges(limit = 10, include = ChangesApi.IncludeListChanges.records)
    val first = page.`data`.first().domain
    require(page.hasMore && first?.domain == "example.com") { "another: $first" }
    val report = page.`data`.firstNotNullOf { it.report }
    require(report.records?.size?.toLong() == report.recordCount) { "other records: $report" }
    require(report.unlistedRecords == 0L) { "more records: $report" }
}

private fun notModified() {
    val first = domains.listDomainsWithHttpInfo(null, null, null, null, null, null)
    val tag = first.headers["etag"]?.first() ?: error("no etag in ${first.headers}")
    val again = domains.listDomainsWithHttpInfo(null, null, tag, null, null, null)
    require(again is ServerError<*> && again.statusCode == 304) { "status ${again.statusCode}" }
}

private fun unauthorized() {
    val key = ApiClient.accessToken
    ApiClient.accessToken = "plb_live_wrong"
    try {
        requireError(domains.listDomainsWithHttpInfo(null, null, null, null, null, null), 401, "unauthorized")
    } finally {
        ApiClient.accessToken = key
    }
}

private fun notFound() {
    requireError(refusal { reports.listReports(nobodys) }, 404, "not_found")
}

private fun cursorExpired() {
    val id = findDomain("example.com").id
    val cursor = System.getenv("PLUMBLINE_EXPIRED_CURSOR")
    requireError(refusal { reports.listReports(id, receivedAfter = cursor) }, 410, "cursor_expired")
}

private fun validationError() {
    val refused = refusal { reports.listReports(nobodys, limit = 201) }
    val error = requireError(refused, 422, "validation_error")
    require("\"limit\"" in error.message) { error.message }
}

private fun unavailable() {
    val busy = DomainsApi(System.getenv("PLUMBLINE_UNAVAILABLE_URL"))
    val answer = busy.listDomainsWithHttpInfo(null, null, null, null, null, null)
    require(answer is ServerError<*> && answer.statusCode == 503) { "status ${answer.statusCode}" }
    val error = moshi.adapter(ErrorBody::class.java).fromJson(answer.body as String)?.error
    require(error?.code == "unavailable") { "code ${error?.code}" }
    require(answer.headers["retry-after"] == listOf("5")) { "${answer.headers}" }
}

private fun rateLimited() {
    repeat(61) {
        val answer = domains.listDomainsWithHttpInfo(null, null, null, null, null, null)
        if (answer is Success<*>) return@repeat
        requireError(answer, 429, "rate_limited")
        require(answer.headers["retry-after"] == listOf("60")) { "${answer.headers}" }
        return
    }
    error("never refused")
}

private fun findDomain(name: String): Domain =
    domains.listDomains().`data`.first { it.domain == name }

private fun findAlert(type: String): Alert = alerts.listAlerts().`data`.first { it.type == type }

private fun refusal(body: () -> Any): ApiResponse<*> =
    try {
        error("not refused: ${body()}")
    } catch (refused: ClientException) {
        refused.response as ApiResponse<*>
    }

private fun requireError(answer: ApiResponse<*>, status: Int, code: String): ErrorDetail {
    require(answer is ClientError<*> && answer.statusCode == status) { "status ${answer.statusCode}" }
    val error = moshi.adapter(ErrorBody::class.java).fromJson(answer.body as String)?.error
    require(error?.code == code) { "code ${error?.code}" }
    return error
}

/** Prints what came of a check; a remark after its name says what this client does in its own way. */
private fun check(name: String, body: () -> Unit) {
    try {
        body()
        println("ok $name")
    } catch (failure: Exception) {
        println("not ok $name: ${failure.toString().replace('\n', ' ')}")
    }
}
