// The scenario with oapi-codegen's client.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"plumbline.example/scenario/build/plumbline"
)

var (
	ctx    = context.Background()
	client = connect(os.Getenv("PLUMBLINE_API_KEY"))
	nobody = uuid.MustParse("f0000000-0000-4000-8000-00000000000f")
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
	domain := findDomain("example.com")
	ids := map[uuid.UUID]bool{}
	var begin time.Time
	total := int64(1)
	for offset := 0; int64(offset) < total; offset += 100 {
		params := &plumbline.ListReportsParams{Limit: new(int32(100)), Offset: &offset}
		page := must(client.ListReportsWithResponse(ctx, domain.ID, params)).JSON200
		want(page != nil && len(page.Data) > 0, "a page is missing")
		for _, report := range page.Data {
			want(begin.IsZero() || !report.BeginDate.After(begin), "not newest first")
			begin = report.BeginDate
			ids[report.ID] = true
		}
		total = page.Total
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
	domain := must(client.GetDomainWithResponse(ctx, findDomain("example.com").ID, nil)).JSON200
	want(domain != nil, "no domain")
	policy := domain.Data.PublishedPolicy.P
	want(policy != nil && *policy == "reject", "%v", policy)
	params := &plumbline.ListReportsParams{Limit: new(int32(1))}
	page := must(client.ListReportsWithResponse(ctx, domain.Data.ID, params)).JSON200
	want(page != nil && len(page.Data) == 1, "no report")
	report := page.Data[0]
	records := must(client.ListReportRecordsWithResponse(ctx, domain.Data.ID, report.ID, nil)).JSON200
	want(records != nil && len(records.Data) > 0, "no records")
	messages := int64(0)
	for _, record := range records.Data {
		messages += record.Count
	}
	want(messages == report.TotalMessages, "%d of %d messages", messages, report.TotalMessages)
	want(records.Data[0].Identifiers.EnvelopeTo == nil, "%v", records.Data[0])
}

func allReports() {
	params := &plumbline.ListAccountReportsParams{Limit: new(int32(1))}
	page := must(client.ListAccountReportsWithResponse(ctx, params)).JSON200
	want(page != nil && len(page.Data) == 1, "no report")
	own := must(client.ListReportsWithResponse(ctx, page.Data[0].DomainID, nil)).JSON200
	want(own != nil && own.Total > 0 && page.Total > own.Total, "%d reports", page.Total)
}

func domainSources() {
	order := plumbline.ListSourcesParamsOrderMessages
	params := &plumbline.ListSourcesParams{Order: &order, Limit: new(int32(1))}
	page := must(client.ListSourcesWithResponse(ctx, findDomain("example.com").ID, params)).JSON200
	want(page != nil && len(page.Data) == 1 && page.Total > 1, "no sources")
	want(page.UnlistedMessages == 0, "%d unlisted", page.UnlistedMessages)
	source := page.Data[0]
	want(source.AlignedMessages > 0, "%v", source)
	want(!source.FirstDay.After(source.LastDay.Time), "%v", source)
	want(source.Mark != nil && *source.Mark == "legitimate" && source.Network.Asn == nil, "%v", source)
	want(source.Service.Name == nil && source.Dispositions.Reject == 0, "%v", source)
}

func allFigures() {
	order := plumbline.ListOverviewParamsOrderDomain
	params := &plumbline.ListOverviewParams{Order: &order, Limit: new(int32(1))}
	page := must(client.ListOverviewWithResponse(ctx, params)).JSON200
	want(page != nil && len(page.Data) == 1, "no domain")
	domain := page.Data[0]
	want(domain.Domain == "example.com" && domain.Policy.Pct == nil, "%v", domain)
	want(domain.Readiness.Answer == "reached", "%v", domain.Readiness)
	want(domain.NextStep.Code == "alert" && domain.NextStep.Record == nil, "%v", domain.NextStep)
}

func feedWithRecords() {
	include := plumbline.ListChangesParamsIncludeRecords
	params := &plumbline.ListChangesParams{Limit: new(int32(10)), Include: &include}
	page := must(client.ListChangesWithResponse(ctx, params)).JSON200
	want(page != nil && page.HasMore, "no more")
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
	cursor := []byte(must(client.ListReportsWithResponse(ctx, domain.ID, nil)).Headers200.PlumblineCursor)
	if cursor[30] == 'B' {
		cursor[30] = 'C'
	} else {
		cursor[30] = 'B'
	}
	params := &plumbline.ListReportsParams{ReceivedAfter: new(string(cursor))}
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

func findDomain(name string) plumbline.Domain {
	answer := must(client.ListDomainsWithResponse(ctx, nil))
	want(answer.JSON200 != nil, "status %d", answer.StatusCode())
	for _, domain := range answer.JSON200.Data {
		if domain.Domain == name {
			return domain
		}
	}
	panic("no " + name)
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
	answer := must(client.ListAlertsWithResponse(ctx, nil))
	want(answer.JSON200 != nil, "status %d", answer.StatusCode())
	return answer.JSON200.Data
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

func want(ok bool, format string, args ...any) {
	if !ok {
		panic(fmt.Sprintf(format, args...))
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
