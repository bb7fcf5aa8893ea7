<?php

/** The scenario with openapi-generator's PHP client, which sends with Guzzle. */

declare(strict_types=1);

use Plumbline\Api\AlertsApi;
use Plumbline\Api\ChangesApi;
use Plumbline\Api\DomainsApi;
use Plumbline\Api\ReportsApi;
use Plumbline\ApiException;
use Plumbline\Configuration;
use Plumbline\Model\Alert;
use Plumbline\Model\AlignmentRegressionContext;
use Plumbline\Model\Domain;
use Plumbline\Model\ErrorBody;
use Plumbline\Model\ErrorDetail;
use Plumbline\ObjectSerializer;

require '/usr/share/php/GuzzleHttp/autoload.php';

spl_autoload_register(static function (string $class): void {
    $file = __DIR__ . '/build/lib/' . str_replace(['Plumbline\\', '\\'], ['', '/'], $class) . '.php';
    if (is_file($file)) require $file;
});
// A warning, a notice or a deprecation fails the check in which it occurs.
set_error_handler(static function (int $_, string $message, string $file, int $line): never {
    throw new ErrorException($message, 0, E_ERROR, $file, $line);
});

const NOBODYS = 'f0000000-0000-4000-8000-00000000000f';

function connect(string $key, string $server = 'PLUMBLINE_BASE_URL'): Configuration
{
    return (new Configuration())->setHost(getenv($server))->setAccessToken($key);
}

$configuration = connect(getenv('PLUMBLINE_API_KEY'));
$domains = new DomainsApi(config: $configuration);
$reports = new ReportsApi(config: $configuration);
$alerts = new AlertsApi(config: $configuration);
$changes = new ChangesApi(config: $configuration);

check('every page', static function () use ($reports): void {
    $id = findDomain('example.com')->getId();
    $found = [];
    for ($total = 1; count($found) < $total; $total = $page->getTotal()) {
        $page = $reports->listReports(domain_id: $id, limit: 100, offset: count($found));
        want(count($page->getData()) > 0, 'a page is missing');
        array_push($found, ...$page->getData());
    }
    want($total > 200, "only $total reports");
    $ids = array_map(static fn ($report) => $report->getId(), $found);
    want(count(array_unique($ids)) === $total, 'an id twice, or another total');
    $begins = array_map(static fn ($report) => $report->getBeginDate()->getTimestamp(), $found);
    $sorted = $begins;
    rsort($sorted);
    want($begins === $sorted, 'not newest first');
});

check('an empty list', static function () use ($reports): void {
    $page = $reports->listReports(findDomain('waiting.example')->getId());
    want($page->getData() === [] && $page->getTotal() === 0, (string) $page);
});

check('a null', static function () use ($alerts): void {
    want(findDomain('waiting.example')->getLastReportAt() === null, 'a report');
    want(findDomain('example.com')->getLastReportAt() < new DateTime(), 'a report of the future');
    $ends = array_map(static fn (Alert $alert) => $alert->getResolvedAt(), $alerts->listAlerts()->getData());
    want(in_array(null, $ends, true), 'no open alert');
    $resolved = array_filter($ends);
    want(count($resolved) > 0 && max($resolved) < new DateTime(), 'resolved in the future, or none');
});

check('a null in a context', static function (): void {
    $context = findAlert('alert.dns_record_changed')->getContext();
    want(array_key_exists('previous_value', $context), 'no previous_value');
    want($context['previous_value'] === null, 'not null');
});

check('an unknown alert type', static function (): void {
    $context = findAlert('alert.sandbox_notice')->getContext();
    want(array_keys($context) === ['note'] && is_string($context['note']), json_encode($context));
});

check('a typed context', static function (): void {
    $context = (object) findAlert('alert.alignment_regression')->getContext();
    $typed = ObjectSerializer::deserialize($context, AlignmentRegressionContext::class);
    want($typed instanceof AlignmentRegressionContext && $typed->getDropPct() >= 10, 'a small drop');
});

check('only what is new', static function () use ($reports): void {
    $id = findDomain('example.com')->getId();
    $found = [];
    $cursor = 'start';
    do {
        [$page, , $headers] = $reports->listReportsWithHttpInfo($id, limit: 200, received_after: $cursor);
        array_push($found, ...$page->getData());
        $cursor = $headers['Plumbline-Cursor'][0];
    } while ($page->getData() !== []);
    $ids = array_unique(array_map(static fn ($report) => $report->getId(), $found));
    want(count($ids) === count($found), 'an id twice');
    want(count($ids) === $reports->listReports($id)->getTotal(), 'only ' . count($ids));
});

check('the reports of all domains', static function () use ($reports): void {
    $page = $reports->listAccountReports(limit: 1);
    [$report] = $page->getData();
    $own = $reports->listReports($report->getDomainId(), limit: 1);
    want($own->getTotal() > 0 && $page->getTotal() > $own->getTotal(), 'another total');
});

check("a domain's policy, and a report's records", static function () use ($domains, $reports): void {
    $id = findDomain('example.com')->getId();
    $policy = $domains->getDomain($id)->getData()->getPublishedPolicy();
    want($policy->getP() === 'reject', (string) $policy);
    [$report] = $reports->listReports($id, limit: 1)->getData();
    $records = $reports->listReportRecords($id, $report->getId())->getData();
    $counts = array_map(static fn ($record) => $record->getCount(), $records);
    want(array_sum($counts) === $report->getTotalMessages(), 'other messages');
    want($records[0]->getIdentifiers()->getEnvelopeTo() === null, 'a recipient');
});

check("a domain's sources", static function () use ($domains): void {
    $page = $domains->listSources(findDomain('example.com')->getId(), order: 'messages', limit: 1);
    [$source] = $page->getData();
    want($page->getTotal() > 1 && $page->getUnlistedMessages() === 0, 'another total');
    want($source->getAlignedMessages() > 0, 'nothing aligned');
    want($source->getFirstDay() <= $source->getLastDay(), 'days out of order');
    want($source->getMark() === 'legitimate', 'another mark');
    want($source->getNetwork()->getAsn() === null, 'a network');
    want($source->getService()->getName() === null, 'a service');
    want($source->getDispositions()->getReject() === 0, 'rejected');
});

check('the figures of all domains', static function () use ($domains): void {
    [$domain] = $domains->listOverview(order: 'domain', limit: 1)->getData();
    want($domain->getDomain() === 'example.com', 'another domain');
    want($domain->getPolicy()->getPct() === null, 'a percentage');
    want($domain->getReadiness()->getAnswer() === 'reached', 'another answer');
    $step = $domain->getNextStep();
    want($step->getCode() === 'alert' && $step->getRecord() === null, 'another step');
});

check('the feed, with records', static function () use ($changes): void {
    $page = $changes->listChanges(limit: 10, include: 'records');
    want($page->getHasMore(), 'no more');
    want($page->getData()[0]->getDomain()->getDomain() === 'example.com', 'another domain');
    $found = array_map(static fn ($change) => $change->getReport(), $page->getData());
    [$report] = array_values(array_filter($found));
    want(count($report->getRecords()) === $report->getRecordCount(), 'other records');
    want($report->getUnlistedRecords() === 0, 'more records');
});

check('304 # an ApiException with this code', static function () use ($domains): void {
    [, , $headers] = $domains->listDomainsWithHttpInfo();
    $tag = $headers['ETag'][0];
    $refusal = refusal(static fn () => $domains->listDomains(if_none_match: $tag));
    want($refusal->getCode() === 304, "status {$refusal->getCode()}");
});

check('401', static function (): void {
    $domains = new DomainsApi(config: connect('plb_live_wrong'));
    wantError(refusal(static fn () => $domains->listDomains()), 401, 'unauthorized');
});

check('404', static function () use ($reports): void {
    wantError(refusal(static fn () => $reports->listReports(NOBODYS)), 404, 'not_found');
});

check('410', static function () use ($reports): void {
    $id = findDomain('example.com')->getId();
    $cursor = (string) getenv('PLUMBLINE_EXPIRED_CURSOR');
    $refusal = refusal(static fn () => $reports->listReports($id, received_after: $cursor));
    wantError($refusal, 410, 'cursor_expired');
});

check('422 # refused before it is sent; here sent past the client’s own check', static function () use ($reports): void {
    try {
        $reports->listReports(NOBODYS, limit: 201);
        throw new RuntimeException('sent');
    } catch (InvalidArgumentException $refused) {
        want(str_contains($refused->getMessage(), '$limit'), $refused->getMessage());
    }
    $refusal = refusal(static fn () => $reports->listReports('no-uuid'));
    $error = wantError($refusal, 422, 'validation_error');
    want(str_contains($error->getMessage(), '"domain_id"'), $error->getMessage());
});

check('503', static function (): void {
    $domains = new DomainsApi(config: connect('plb_live_any', 'PLUMBLINE_UNAVAILABLE_URL'));
    $refusal = refusal(static fn () => $domains->listDomains());
    wantError($refusal, 503, 'unavailable');
    want($refusal->getResponseHeaders()['Retry-After'] === ['5'], 'another Retry-After');
});

check('429', static function () use ($domains): void {
    $refusal = refusal(static function () use ($domains): void {
        for ($sent = 0; $sent <= 60; $sent++) $domains->listDomains();
    });
    wantError($refusal, 429, 'rate_limited');
    $retryAfter = $refusal->getResponseHeaders()['Retry-After'];
    want($retryAfter === ['60'], 'Retry-After: ' . json_encode($retryAfter));
});

function findDomain(string $name): Domain
{
    global $domains;
    foreach ($domains->listDomains()->getData() as $domain) {
        if ($domain->getDomain() === $name) return $domain;
    }
    throw new RuntimeException("no $name");
}

function findAlert(string $type): Alert
{
    global $alerts;
    foreach ($alerts->listAlerts()->getData() as $alert) {
        if ($alert->getType() === $type) return $alert;
    }
    throw new RuntimeException("no $type");
}

function refusal(callable $body): ApiException
{
    try {
        $body();
    } catch (ApiException $refusal) {
        return $refusal;
    }
    throw new RuntimeException('not refused');
}

function wantError(ApiException $refusal, int $status, string $code): ErrorDetail
{
    want($refusal->getCode() === $status, "status {$refusal->getCode()}");
    $body = $refusal->getResponseObject();
    want($body instanceof ErrorBody, 'no error body');
    want($body->getError()->getCode() === $code, "code {$body->getError()->getCode()}");
    return $body->getError();
}

function want(bool $isTrue, string $otherwise): void
{
    if (!$isTrue) throw new RuntimeException($otherwise);
}

/** Prints what came of a check; a remark after its name says what this client does in its own way. */
function check(string $name, callable $body): void
{
    try {
        $body();
        echo "ok $name\n";
    } catch (Throwable $failure) {
        echo "not ok $name: " . str_replace("\n", ' ', (string) $failure) . "\n";
    }
}
