import type { Request } from 'express';
import { html } from 'hono/html';
import { addUp } from '../../../domain/alerts/rate.ts';
import { toAlignmentModes } from '../../../domain/dns/dns-record.ts';
import { loadOwnerDomains } from '../../../domain/dns/organizational-domain.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Day, DayRange } from '../../../domain/instant.ts';
import { parseIpAddress } from '../../../domain/ip-address.ts';
import { toStanding } from '../../../domain/readiness.ts';
import { advise } from '../../../domain/sources/advice.ts';
import type { Mark } from '../../../domain/sources/source.ts';
import { createJudge } from '../../../domain/sources/verdict.ts';
import { formatDay, formatDomainName } from '../../../domain/text.ts';
import { listDnsRecords, toDnsFacts } from '../../../store/alerts/dns-records.ts';
import { findGuide, loadNamer } from '../../../store/days/known-services.ts';
import { readMarks, type SourceMark, updateMark } from '../../../store/days/marks.ts';
import { findNames } from '../../../store/days/names.ts';
import type { DaysReads } from '../../../store/days/reads.ts';
import type { SourceDay, SourceOfRange } from '../../../store/days/source.ts';
import type { DomainRow } from '../../../store/domains/domains.ts';
import type { DomainOfAccount } from '../../../store/lists/heads.ts';
import type { PageHandler, SettingsDeps } from '../../deps.ts';
import { toColumns } from '../../frame/charts/columns.ts';
import { renderVolume } from '../../frame/charts/volume.ts';
import { renderTrail } from '../../frame/elements.ts';
import { renderFormToken } from '../../frame/forms.ts';
import { sendPage } from '../../frame/page.ts';
import {
  beginsBeforeData,
  type DomainRange,
  readDomainRange,
  renderRanges,
  toRangeQuery,
} from '../../frame/range.ts';
import { formatPeriod, type Html, renderPassed, renderText, renderTime } from '../../frame/text.ts';
import { idOf, readField, readQuery } from '../../request.ts';
import { actorOf, domainScopeOf, redirectWithNotice, visitorOf } from '../../visitor.ts';
import { renderWords } from '../words.ts';
import { renderReporters, renderResults } from './results-view.ts';
import { toEvidenceRange } from './service-groups.ts';
import { listKnown, renderMarkBadge, renderNetworkCredit, toSourcePath } from './source-labels.ts';
import { renderAdvice, renderGuide, renderJudgement } from './verdict-view.ts';

export const showSource: PageHandler = async (deps, req, res) => {
  const { reader } = deps.store;
  const address = readAddress(req);
  const scope = domainScopeOf(req, res);
  const { domain, range } = await readDomainRange(deps, req, { scope });
  const found = await deps.days.readSource({ scope, address, range });
  const { days, results, otherMessages, reporters } = found;
  const evidence = await readEvidence(deps.days, scope, { address, range, found });
  const mark = (await readMarks(reader, domain.id)).get(address);
  const name = (await findNames(reader, domain.id, [address])).get(address);
  const known = listKnown({ name, network: deps.networks?.find(address) });
  const list = `${toSourcePath(domain.id)}?${toRangeQuery(range)}`;
  const path = toSourcePath(domain.id, address);
  const main = html`${renderTrail(domain, html`<a href="${list}">Sources</a>`, 'Address')}
    <h1 class="domain-name">${address}${renderMarkBadge(mark?.mark)}</h1>
    <p class="lead">${known.map((text) => html`${text} · `)}${describeDays(days, range)}</p>
    ${await renderJudged(deps, { domain, range, ...evidence, mark, name })}
    <section class="card" aria-labelledby="mark">
      <h2 id="mark">Do you know this source?</h2>
      <p>${describeMark(mark, deps.now())}</p>
      <form method="post" action="${path}/mark?${toRangeQuery(range)}" class="choices start">
        ${renderFormToken(visitorOf(res))}
        ${renderMarkButtons(mark?.mark ?? 'none')}
      </form>
    </section>
    <section class="card" aria-labelledby="traffic">
      <h2 id="traffic">Traffic</h2>
      ${renderRanges(path, range)}
      ${days.length === 0 ? renderNoTraffic(path, (await deps.days.findLastDay({ domainId: domain.id, address })).day) : html`<p class="figures">${renderPassed(addUp(days))}</p>${renderVolume(toColumns(days, range))}`}
    </section>
    ${days.length === 0 ? '' : html`${renderResults(results, otherMessages)}${renderReporters(reporters)}`}
    ${renderWords()}
    ${renderNetworkCredit(deps)}`;
  const title = `${address} · ${formatDomainName(domain.name)}`;
  await sendPage(res, { title, current: 'overview', main });
};

const MARKS = {
  legitimate: { button: 'Yes: legitimate', notice: 'is marked as legitimate.' },
  unknown: { button: 'No: unknown', notice: 'is marked as unknown.' },
  none: { button: 'Take the mark away', notice: 'has no mark any more.' },
} as const satisfies Record<Mark | 'none', { readonly button: string; readonly notice: string }>;

const MARK_CHOICES = Object.keys(MARKS) as (keyof typeof MARKS)[];

export const markSource: PageHandler = async (deps, req, res) => {
  const address = readAddress(req);
  const choice = MARK_CHOICES.find((one) => one === readField(req, 'mark'));
  if (choice === undefined) throw new Failure('validation_error', 'There is no such mark.');
  const domainId = idOf(req);
  const mark = choice === 'none' ? null : choice;
  await updateMark(deps.store.db, { domainId, address, mark }, actorOf(res, deps));
  const notice = `${address} ${MARKS[choice].notice}`;
  const query = toRangeOfPage(req);
  await redirectWithNotice(deps, res, { path: toSourcePath(domainId, address) + query, notice });
};

/** The range that the page had; its values are checked where the page reads them. */
function toRangeOfPage(req: Request): string {
  const chosen = new URLSearchParams();
  for (const name of ['days', 'from', 'to'])
    if (readQuery(req, name) !== '') chosen.set(name, readQuery(req, name));
  return chosen.size === 0 ? '' : `?${chosen}`;
}

/** Returns an address in its canonical text. Throws `not_found` when the path has none. */
function readAddress(req: Request): string {
  const address = parseIpAddress(String(req.params['address']));
  if (address === undefined) throw new Failure('not_found', 'There is no such address.');
  return address;
}

interface MailOfDays extends Pick<SourceOfRange, 'days' | 'results'> {
  readonly range: DayRange;
}

/**
 * The mail that it is judged by, as the list of sources does, and the mail that the advice is on: the mail that is shown.
 * Only where none of it fails, what came before may have failed.
 */
async function readEvidence(
  days: DaysReads,
  scope: DomainOfAccount,
  { address, range, found }: { address: string; range: DayRange; found: SourceOfRange },
): Promise<Record<'judged' | 'advised', MailOfDays>> {
  const shown = { ...found, range };
  const month = toEvidenceRange(range);
  if (range.from === month.from) return { judged: shown, advised: shown };
  const read = { ...(await days.readSource({ scope, address, range: month })), range: month };
  const judged = read.days.length === 0 ? shown : read;
  const isShown = range.from < month.from || found.results.some(({ aligned }) => aligned === 0);
  return { judged, advised: isShown ? shown : judged };
}

interface ShownSource extends Record<'judged' | 'advised', MailOfDays> {
  readonly domain: DomainRow;
  readonly range: DayRange;
  readonly mark: SourceMark | undefined;
  readonly name: string | undefined;
}

/** Who it is, whose mail it sends, and what to do. By the domain's DMARC record, where the worker knows it. */
async function renderJudged(
  { store }: SettingsDeps,
  { domain, range, judged, advised, mark: given, name }: ShownSource,
): Promise<Html | ''> {
  const { results } = judged;
  if (results.length === 0) return '';
  const records = await store.reader.readAll(listDnsRecords({ domainId: domain.id }));
  const record = toDnsFacts(records).dmarc?.confirmed?.value ?? null;
  const nameOf = await loadNamer(domain.name);
  const counted = results.map((seen) => ({ seen, messages: seen.messages }));
  const service = nameOf({ results: counted, name });
  const mark = given?.mark ?? null;
  // Two names below `github.io` are not of one organisation.
  const toOrganizationalDomain = await loadOwnerDomains();
  const asked = { domain: domain.name, modes: toAlignmentModes(record), toOrganizationalDomain };
  const judgement = createJudge(asked)({ results: counted, mark, service, name });
  const { verdict } = judgement;
  const guide =
    verdict === 'service' && service !== undefined ? await findGuide(service.name) : undefined;
  const { messages, aligned } = addUp(judged.days);
  const standing = toStanding({ messages, aligned, mark: mark ?? undefined, verdict });
  const renderPeriod = (of: MailOfDays) =>
    of.range.from === range.from ? '' : html` <span class="muted">${formatPeriod(of.range)}</span>`;
  return html`${renderJudgement(judgement, { service, standing, period: renderPeriod(judged) })}
    ${renderAdvice(advise(advised.results, { ...asked, mark, verdict }), {
      period: renderPeriod(advised),
      guide: guide && service && renderGuide(service.name, guide),
    })}`;
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

function describeMark(mark: SourceMark | undefined, now: Date): Html | string {
  if (mark === undefined)
    return 'Nobody has marked it yet. A mark says to everybody of your account whose mail this is. It decides the verdict above and counts for a stronger policy; it changes no alert.';
  return html`${renderText(mark.markedBy, 254)} marked it as <strong>${mark.mark}</strong> ${renderTime(mark.markedAt, now)}.`;
}

function renderMarkButtons(current: keyof typeof MARKS): readonly Html[] {
  return MARK_CHOICES.filter((choice) => choice !== current).map(
    (choice) =>
      html`<button name="mark" value="${choice}" class="secondary">${MARKS[choice].button}</button>`,
  );
}
