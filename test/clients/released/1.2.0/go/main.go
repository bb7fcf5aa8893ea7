// The scenario with oapi-codegen's client.
package main

import (
	"encoding/json"
	"strings"
	"time"
)

// sample: setup
import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/google/uuid"

	"plumbline.example/scenario/build/plumbline"
)

var (
	ctx    = context.Background()
	client = connect(os.Getenv("PLUMBLINE_API_KEY"))
)

func connect(key string) *plumbline.ClientWithResponses {
	return connectTo("PLUMBLINE_BASE_URL", key)
}

func connectTo(server, key string) *plumbline.ClientWithResponses {
	authorize := func(_ context.Context, req *http.Request) error {
		req.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	return must(plumbline.NewClientWithResponses(
		os.Getenv(server), plumbline.WithRequestEditorFn(authorize)))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func findDomain(name string) plumbline.Domain {
	// sample: listDomains
	params := &plumbline.ListDomainsParams{Limit: new(int32(50))}
	domains := must(client.ListDomainsWithResponse(ctx, params)).JSON200
	want(domains != nil, "no domains")
	// end
	for _, domain := range domains.Data {
		if domain.Domain == name {
			return domain
		}
	}
	panic("no " + name)
}

func want(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}

// end

var nobody = uuid.MustParse("f0000000-0000-4000-8000-00000000000f")

func main() {
	check("every page", everyPage)
	check("an empty list", emptyList)
	check("a null", null)
	check("a null in a context", nullInContext)
	check("an unknown alert type", unknownAlertType)
	check("a typed context", typedContext)
	check("only what is new", onlyNew)
	check("the reports of all domains", allReports)
	check("a domain's policy, and a report's records", policyAndRecords)
	check("a domain's sources", domainSources)
	check("the figures of all domains", allFigures)
	check("the feed, with records", feedWithRecords)
	check("304", notModified)
	check("401", unauthorized)
	check("404", notFound)
	check("410", cursorExpired)
	check("422", validationError)
	check("503", unavailable)
	check("429", rateLimited)
}

func everyPage() {
	// sample: listReports
	domain := findDomain("example.com")
	reports := []plumbline.Report{}
	total := int64(1)
	for offset := 0; int64(offset) < total; offset += 100 {
		params := &plumbline.ListReportsParams{Limit: new(int32(100)), Offset: &offset}
		page := must(client.ListReportsWithResponse(ctx, domain.ID, params)).JSON200
		want(page != nil && len(page.Data) > 0, "a page is missing")
		reports = append(reports, page.Data...)
		total = page.Total
	}
	// end
	ids := map[uuid.UUID]bool{}
	for i, report := range reports {
		want(i == 0 || !report.BeginDate.After(reports[i-1].BeginDate), "not newest first")
		ids[report.ID] = true
	}
	want(total > 200, "only %d reports", total)
	want(int64(len(ids)) == total, "%d ids in %d reports", len(ids), total)
}

func emptyList() {
	answer := must(client.ListReportsWithResponse(ctx, findDomain("waiting.example").ID, nil))
	want(answer.JSON200 != nil, "status %d", answer.StatusCode())
	want(len(answer.JSON200.Data) == 0 && answer.JSON200.Total == 0, "%s", answer.Body)
}

func null() {
	want(findDomain("waiting.example").LastReportAt == nil, "a report where there is none")
	last := findDomain("example.com").LastReportAt
	want(last != nil && last.Before(time.Now()), "last report at %v", last)
	open, resolved := 0, 0
	for _, alert := range listAlerts() {
		if alert.ResolvedAt == nil {
			open++
		} else if alert.ResolvedAt.After(alert.FiredAt) {
			resolved++
		}
	}
	want(open > 0 && resolved > 0, "%d open, %d resolved", open, resolved)
}

func nullInContext() {
	var context plumbline.DNSRecordChangedContext
	err := json.Unmarshal(findAlert("alert.dns_record_changed").Context, &context)
	want(err == nil, "%v", err)
	want(context.PreviousValue == nil && context.CurrentValue != nil, "%v", context)
}

func unknownAlertType() {
	var keys map[string]any
	want(json.Unmarshal(findAlert("alert.sandbox_notice").Context, &keys) == nil, "no object")
	note, ok := keys["note"].(string)
	want(ok && note != "" && len(keys) == 1, "%v", keys)
}

func typedContext() {
	var context plumbline.AlignmentRegressionContext
	err := json.Unmarshal(findAlert("alert.alignment_regression").Context, &context)
	want(err == nil, "%v", err)
	want(context.DropPct >= 10, "%v", context.DropPct)
	want(context.Day != nil && !context.Day.IsZero(), "no day")
}

func onlyNew() {
	domain := findDomain("example.com")
	ids := map[uuid.UUID]bool{}
	found, cursor := 0, "start"
	for isNew := true; isNew; {
		params := &plumbline.ListReportsParams{Limit: new(int32(200)), ReceivedAfter: &cursor}
		page := must(client.ListReportsWithResponse(ctx, domain.ID, params))
		want(page.JSON200 != nil, "status %d", page.StatusCode())
		for _, report := range page.JSON200.Data {
			ids[report.ID] = true
		}
		found += len(page.JSON200.Data)
		cursor, isNew = page.Headers200.PlumblineCursor, len(page.JSON200.Data) > 0
	}
	whole := must(client.ListReportsWithResponse(ctx, domain.ID, nil)).JSON200
	want(len(ids) == found && whole.Total == int64(found), "%d of %d", len(ids), found)
}

func policyAndRecords() {
	// sample: getDomain
	domainID := findDomain("example.com").ID
	domain := must(client.GetDomainWithResponse(ctx, domainID, nil)).JSON200
	want(domain != nil, "no domain")
	policy := domain.Data.PublishedPolicy
	// end
	want(policy.P != nil && *policy.P == "reject", "%v", policy)
	checkRecords()
	checkTLSReports()
}

func checkTLSReports() {
	// sample: listTlsReports
	domainID := findDomain("example.com").ID
	params := &plumbline.ListTLSReportsParams{Limit: new(int32(200))}
	tls := must(client.ListTLSReportsWithResponse(ctx, domainID, params)).JSON200
	want(tls != nil, "no TLS reports")
	counted := 0
	for _, report := range tls.Data {
		if report.Authenticated {
			counted++
		}
	}
	// end
	want(int64(counted) <= tls.Total, "%d TLS reports", counted)
	checkFailures()
}

func checkFailures() {
	// sample: listTlsReportFailures
	domainID := findDomain("example.com").ID
	params := &plumbline.ListTLSReportsParams{Limit: new(int32(1))}
	tls := must(client.ListTLSReportsWithResponse(ctx, domainID, params)).JSON200
	want(tls != nil, "no TLS reports")
	for _, report := range tls.Data {
		failures := must(client.ListTLSReportFailuresWithResponse(ctx, domainID, report.ID, nil)).JSON200
		want(failures != nil, "no failures")
		for _, failure := range failures.Data {
			want(failure.FailedSessions >= 0, "%v", failure.ResultType)
		}
	}
	// end
}

func checkRecords() {
	// sample: listReportRecords
	domainID := findDomain("example.com").ID
	params := &plumbline.ListReportsParams{Limit: new(int32(1))}
	page := must(client.ListReportsWithResponse(ctx, domainID, params)).JSON200
	want(page != nil && len(page.Data) == 1, "no report")
	report := page.Data[0]
	records := must(client.ListReportRecordsWithResponse(ctx, domainID, report.ID, nil)).JSON200
	want(records != nil && len(records.Data) > 0, "no records")
	messages := int64(0)
	for _, record := range records.Data {
		messages += record.Count
	}
	// end
	want(messages == report.TotalMessages, "%d of %d messages", messages, report.TotalMessages)
	want(records.Data[0].Identifiers.EnvelopeTo == nil, "%v", records.Data[0])
}

func allReports() {
	// sample: listAccountReports
	params := &plumbline.ListAccountReportsParams{Limit: new(int32(1))}
	page := must(client.ListAccountReportsWithResponse(ctx, params)).JSON200
	want(page != nil && len(page.Data) == 1, "no report")
	report := page.Data[0]
	// end
	own := must(client.ListReportsWithResponse(ctx, report.DomainID, nil)).JSON200
	want(own != nil && own.Total > 0 && page.Total > own.Total, "%d reports", page.Total)
}

func domainSources() {
	// sample: listSources
	domainID := findDomain("example.com").ID
	order := plumbline.ListSourcesParamsOrderMessages
	params := &plumbline.ListSourcesParams{Order: &order, Limit: new(int32(1))}
	page := must(client.ListSourcesWithResponse(ctx, domainID, params)).JSON200
	want(page != nil && len(page.Data) == 1 && page.Total > 1, "no sources")
	source := page.Data[0]
	// end
	want(page.UnlistedMessages == 0, "%d unlisted", page.UnlistedMessages)
	want(source.AlignedMessages > 0, "%v", source)
	want(!source.FirstDay.After(source.LastDay.Time), "%v", source)
	want(source.Mark != nil && *source.Mark == "legitimate" && source.Network.Asn == nil, "%v", source)
	want(source.Service.Name == nil && source.Dispositions.Reject == 0, "%v", source)
}

func allFigures() {
	// sample: listOverview
	order := plumbline.ListOverviewParamsOrderDomain
	params := &plumbline.ListOverviewParams{Order: &order, Limit: new(int32(1))}
	page := must(client.ListOverviewWithResponse(ctx, params)).JSON200
	want(page != nil && len(page.Data) == 1, "no domain")
	domain := page.Data[0]
	// end
	want(domain.Domain == "example.com" && domain.Policy.Pct == nil, "%v", domain)
	want(domain.Readiness.Answer == "reached", "%v", domain.Readiness)
	want(domain.NextStep.Code == "alert" && domain.NextStep.Record == nil, "%v", domain.NextStep)
	checkDays(domain)
	checkKey()
}

// checkDays reads days up to today. The thirty days of the figures end with the newest day that has reports.
func checkDays(domain plumbline.DomainOverview) {
	// sample: listDays
	params := &plumbline.ListDaysParams{Limit: new(int32(200))}
	days := must(client.ListDaysWithResponse(ctx, params)).JSON200
	want(days != nil && len(days.Data) > 0, "no days")
	newest := days.Data[0].Day
	// end
	want(!newest.Before(domain.Figures.Until.Time), "%v", newest)
	checkDomainDays(domain.Figures.TotalMessages)
}

func checkDomainDays(most int64) {
	// sample: listDomainDays
	domainID := findDomain("example.com").ID
	params := &plumbline.ListDomainDaysParams{Limit: new(int32(200))}
	own := must(client.ListDomainDaysWithResponse(ctx, domainID, params)).JSON200
	want(own != nil, "no days")
	messages := int64(0)
	for _, day := range own.Data {
		messages += day.TotalMessages
	}
	// end
	want(messages > 0 && messages <= most, "%d messages", messages)
	checkTLSDays()
}

func checkTLSDays() {
	// sample: listDomainTlsDays
	domainID := findDomain("example.com").ID
	params := &plumbline.ListDomainTLSDaysParams{Limit: new(int32(200))}
	tls := must(client.ListDomainTLSDaysWithResponse(ctx, domainID, params)).JSON200
	want(tls != nil, "no days of TLS reports")
	failed := 0
	for _, day := range tls.Data {
		if day.FailedSessions > 0 {
			failed++
		}
	}
	// end
	want(int64(failed) <= tls.Total, "%d days", failed)
}

func checkKey() {
	// sample: getKey
	key := must(client.GetKeyWithResponse(ctx, nil)).JSON200
	want(key != nil, "no key")
	limit := key.Data.Limits.KeyPerMinute
	// end
	want(limit == 60 && key.Data.ExpiresAt == nil, "%v", key.Data)
}

func feedWithRecords() {
	// sample: listChanges
	include := plumbline.ListChangesParamsIncludeRecords
	params := &plumbline.ListChangesParams{
		After: new("start"), Limit: new(int32(10)), Include: &include}
	answer := must(client.ListChangesWithResponse(ctx, params))
	page, after := answer.JSON200, answer.Headers200.PlumblineCursor
	// end
	want(page != nil && page.HasMore && after != "", "no more")
	first := page.Data[0].Domain
	want(first != nil && first.Domain == "example.com", "%v", first)
	for _, change := range page.Data {
		if report := change.Report; report != nil {
			want(report.Records != nil && int64(len(*report.Records)) == report.RecordCount, "%v", report)
			want(report.UnlistedRecords != nil && *report.UnlistedRecords == 0, "%v", report)
			return
		}
	}
	want(false, "no report")
}

func notModified() {
	first := must(client.ListDomainsWithResponse(ctx, nil))
	params := &plumbline.ListDomainsParams{IfNoneMatch: &first.Headers200.ETag}
	again := must(client.ListDomainsWithResponse(ctx, params))
	want(again.StatusCode() == http.StatusNotModified, "status %d", again.StatusCode())
	want(len(again.Body) == 0 && again.JSON200 == nil, "a body: %s", again.Body)
}

func unauthorized() {
	answer := must(connect("plb_live_wrong").ListDomainsWithResponse(ctx, nil))
	want(answer.JSON401 != nil, "status %d", answer.StatusCode())
	want(answer.JSON401.Error.Code == "unauthorized", "%v", answer.JSON401.Error)
}

func notFound() {
	answer := must(client.ListReportsWithResponse(ctx, nobody, nil))
	want(answer.JSON404 != nil, "status %d", answer.StatusCode())
	want(answer.JSON404.Error.Code == "not_found", "%v", answer.JSON404.Error)
}

func cursorExpired() {
	domain := findDomain("example.com")
	params := &plumbline.ListReportsParams{ReceivedAfter: new(os.Getenv("PLUMBLINE_EXPIRED_CURSOR"))}
	answer := must(client.ListReportsWithResponse(ctx, domain.ID, params))
	want(answer.JSON410 != nil, "status %d", answer.StatusCode())
	want(answer.JSON410.Error.Code == "cursor_expired", "%v", answer.JSON410.Error)
}

func validationError() {
	params := &plumbline.ListReportsParams{Limit: new(int32(201))}
	answer := must(client.ListReportsWithResponse(ctx, nobody, params))
	want(answer.JSON422 != nil, "status %d", answer.StatusCode())
	want(answer.JSON422.Error.Code == "validation_error", "%v", answer.JSON422.Error)
	want(strings.Contains(answer.JSON422.Error.Message, `"limit"`), "%v", answer.JSON422.Error)
}

func unavailable() {
	busy := connectTo("PLUMBLINE_UNAVAILABLE_URL", "plb_live_any")
	answer := must(busy.ListDomainsWithResponse(ctx, nil))
	want(answer.JSON503 != nil, "status %d", answer.StatusCode())
	want(answer.JSON503.Error.Code == "unavailable", "%v", answer.JSON503.Error)
	want(answer.Headers503.RetryAfter == 5, "Retry-After: %d", answer.Headers503.RetryAfter)
}

func rateLimited() {
	for range 61 {
		answer := must(client.ListDomainsWithResponse(ctx, nil))
		if answer.JSON200 != nil {
			continue
		}
		want(answer.JSON429 != nil, "status %d", answer.StatusCode())
		want(answer.JSON429.Error.Code == "rate_limited", "%v", answer.JSON429.Error)
		want(answer.Headers429.RetryAfter == 60, "Retry-After: %d", answer.Headers429.RetryAfter)
		return
	}
	want(false, "never refused")
}

func findAlert(kind string) plumbline.Alert {
	for _, alert := range listAlerts() {
		if alert.Type == kind {
			return alert
		}
	}
	panic("no " + kind)
}

func listAlerts() []plumbline.Alert {
	// sample: listAlerts
	params := &plumbline.ListAlertsParams{Limit: new(int32(50))}
	alerts := must(client.ListAlertsWithResponse(ctx, params)).JSON200
	want(alerts != nil, "no alerts")
	// end
	return alerts.Data
}

// check prints the result of a check. A panic in the check is a failure.
func check(name string, body func()) {
	defer func() {
		if reason := recover(); reason != nil {
			fmt.Printf("not ok %s: %v\n", name, reason)
		}
	}()
	body()
	fmt.Printf("ok %s\n", name)
}
