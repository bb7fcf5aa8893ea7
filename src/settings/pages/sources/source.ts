import type { Request } from 'express';
import { html } from 'hono/html';
import { toAlignmentModes } from '../../../domain/dns/dns-record.ts';
import { loadOwnerDomains } from '../../../domain/dns/organizational-domain.ts';
import { createFaults } from '../../../domain/dns/sender-record-texts.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Day, DayRange } from '../../../domain/instant.ts';
import { parseIpAddress } from '../../../domain/ip-address.ts';
import { addUp } from '../../../domain/pass-rate.ts';
import type { ReasonCode } from '../../../domain/senders/sender.ts';
import { advise } from '../../../domain/sources/advice.ts';
import { formatDay, formatDomainName } from '../../../domain/text.ts';
import { toEvidenceRange } from '../../../judging/evidence.ts';
import { type JudgedSource, readJudgedOnce } from '../../../judging/judged.ts';
import type { SourceDay, SourceOfRange } from '../../../judging/source.ts';
import { dailyCheckOf, toSenderRecords } from '../../../store/alerts/daily-checks.ts';
import { listDnsRecords, toDnsFacts } from '../../../store/alerts/dns-records.ts';
import type { DomainRow } from '../../../store/domains/domains.ts';
import type { DomainOfAccount } from '../../../store/lists/heads.ts';
import type { PageHandler, SettingsDeps } from '../../deps.ts';
import { toChartColumns } from '../../frame/charts/columns.ts';
import { renderVolume } from '../../frame/charts/volume.ts';
import { renderTrail } from '../../frame/elements.ts';
import { sendPage } from '../../frame/page.ts';
import {
  beginsBeforeData,
  type DomainRange,
  readDomainRange,
  renderRanges,
  toRangeQuery,
} from '../../frame/range.ts';
import { formatPeriod, type Html, renderPassed } from '../../frame/text.ts';
import { domainScopeOf, visitorOf } from '../../visitor.ts';
import { renderWords } from '../words.ts';
import { renderMarks } from './marks.ts';
import { renderReporters, renderResults } from './results-view.ts';
import { listKnown, renderMarkBadge, renderNetworkCredit, toSourcePath } from './source-labels.ts';
import { renderAdvice, renderJudgement } from './verdict-view.ts';

export const showSource: PageHandler = async (deps, req, res) => {
  const address = readAddress(req);
  const scope = domainScopeOf(req, res);
  const { domain, range } = await readDomainRange(deps, req, { scope });
  const found = await deps.days.readSource({ scope, address, range });
  const { days, results, otherMessages, reporters } = found;
  const shown = await readJudgedSource(deps, { scope, domain, range, address });
  const { source, marks } = shown;
  const mark = marks.get(address);
  const known = source === undefined ? [] : listKnown(source);
  const list = `${toSourcePath(domain.id)}?${toRangeQuery(range)}`;
  const path = toSourcePath(domain.id, address);
  const main = html`${renderTrail(domain, html`<a href="${list}">Sources</a>`, 'Address')}
    <h1 class="domain-name">${address}${renderMarkBadge(mark?.mark)}</h1>
    <p class="lead">${known.map((text) => html`${text} · `)}${describeDays(days, range)}</p>
    ${source === undefined ? '' : await renderJudged(deps, { scope, domain, range, found, source })}
    ${renderMarks(visitorOf(res), { domainId: domain.id, subject: address, mark, page: `${path}?${toRangeQuery(range)}` }, deps.now())}
    <section class="card" aria-labelledby="traffic">
      <h2 id="traffic">Traffic</h2>
      ${renderRanges(path, range)}
      ${days.length === 0 ? renderNoTraffic(path, (await deps.days.findLastDay({ scope, address })).day) : html`<p class="figures">${renderPassed(addUp(days))}</p>${renderVolume(toChartColumns(days, range))}`}
    </section>
    ${days.length === 0 ? '' : html`${renderResults(results, otherMessages)}${renderReporters(reporters)}`}
    ${renderWords()}
    ${renderNetworkCredit(deps)}`;
  const title = `${address} · ${formatDomainName(domain.name)}`;
  await sendPage(res, { title, current: 'overview', main });
};

/** Returns an address in its canonical text. Throws `not_found` when the path has none. */
function readAddress(req: Request): string {
  const address = parseIpAddress(String(req.params['address']));
  if (address === undefined) throw new Failure('not_found', 'There is no such address.');
  return address;
}

interface SourceQuery {
  readonly scope: DomainOfAccount;
  readonly domain: DomainRow;
  readonly range: DomainRange;
  readonly address: string;
}

/** The address in the shown range, or where it sent nothing then, in the month that it is judged by. */
async function readJudgedSource(deps: SettingsDeps, { address, ...query }: SourceQuery) {
  const { scope, domain, range } = query;
  const read = async (of: DayRange) => {
    const asked = { scope, name: domain.name, range: of };
    const judged = await readJudgedOnce({ ...deps, ...deps.store }, asked);
    return { ...judged, source: judged.sources.find((one) => one.address === address) };
  };
  const shown = await read(range);
  return shown.source === undefined ? await read(toEvidenceRange(range)) : shown;
}

interface ShownSource {
  readonly scope: DomainOfAccount;
  readonly domain: DomainRow;
  readonly range: DomainRange;
  readonly found: SourceOfRange;
  readonly source: JudgedSource;
}

/** Who it is, whose mail it sends, and what to do. By the domain's DMARC record, where the worker knows it. */
async function renderJudged(
  { store, days }: SettingsDeps,
  { scope, domain, range, found, source }: ShownSource,
): Promise<Html> {
  const { id: domainId } = domain;
  const records = await store.reader.readAll(listDnsRecords({ domainId }));
  const [row] = await store.reader.readAll(dailyCheckOf({ domainId, type: 'senders' }));
  const record = toDnsFacts(records).dmarc?.confirmed?.value ?? null;
  // Two names below `github.io` are not of one organisation.
  const toOrganizationalDomain = await loadOwnerDomains();
  const asked = { domain: domain.name, modes: toAlignmentModes(record), toOrganizationalDomain };
  const month = toEvidenceRange(range);
  const isFailing = found.results.some(({ aligned }) => aligned === 0);
  // Only where none of the mail that is shown fails, what came before may have failed.
  const isShown = isFailing || range.from <= month.from;
  const { sender, standing } = source;
  const { results } = isShown
    ? found
    : await days.readSource({ scope, address: source.address, range: month });
  const renderPeriod = (from: Day) =>
    from === range.from ? '' : html` <span class="muted">${formatPeriod(month)}</span>`;
  const { mark = null, verdict, reasons, service } = sender;
  const [reason] = reasons as [ReasonCode];
  const findFault = createFaults(toSenderRecords(row));
  const of = { ...asked, mark, verdict, reason, findFault, who: service?.name };
  const advice = advise(results, of);
  return html`${await renderJudgement(sender, { standing, period: renderPeriod(month.from) })}
    ${renderAdvice(advice, renderPeriod(isShown ? range.from : month.from))}`;
}

function describeDays(days: readonly SourceDay[], range: DomainRange): string {
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  if (first === undefined || last === undefined) return 'Not seen in this range.';
  if (first === last) return `Seen on ${formatDay(last)}.`;
  const seen = beginsBeforeData(range) ? 'First seen' : 'In this range first seen';
  return `${seen} on ${formatDay(first)}, last on ${formatDay(last)}.`;
}

function renderNoTraffic(path: string, newest: Day | null): Html {
  if (newest === null)
    return html`<p class="empty">This address sent nothing in the name of this domain, or less than a thousand others on the same day.</p>`;
  return html`<p class="empty">This address sent nothing in this range.
    <a href="${path}?from=${newest}&to=${newest}">Show ${formatDay(newest)}, when it was last seen</a></p>`;
}
