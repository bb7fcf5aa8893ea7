import type { Request } from 'express';
import { html } from 'hono/html';
import { AUDIT_VERBS, type AuditKind, isAuditKind } from '../../domain/access/audit-actions.ts';
import { findAlertText } from '../../domain/alerts/alert-texts.ts';
import { formatTime, toSafeText } from '../../domain/text.ts';
import { type AuditEntry, findSearchEnd, listAudit } from '../../store/events/audit.ts';
import { listPeople } from '../../store/people/people.ts';
import type { PageHandler } from '../deps.ts';
import { MAX_ROWS, renderExport, sendCsv } from '../frame/csv.ts';
import { renderTable } from '../frame/elements.ts';
import { renderOptions, renderSearch } from '../frame/forms.ts';
import { sendPage } from '../frame/page.ts';
import { readPeriod, renderPeriod, toInstants } from '../frame/period.ts';
import { type Html, labelOf } from '../frame/text.ts';
import { readQuery, readSearch, readWholeNumber } from '../request.ts';
import { visitorOf } from '../visitor.ts';

const PATH = '/settings/audit';
const PER_PAGE = 50;
/** Entries that a page with a filter looks at. A filter that fits nothing would else read all of them. */
const MAX_SEARCHED = 10_000;
/** The longest e-mail address. */
const MAX_ACTOR_LENGTH = 254;

export const showAudit: PageHandler = async ({ store: { db } }, req, res) => {
  const { accountId } = visitorOf(res);
  const form = readForm(req);
  const before = readWholeNumber(req, 'before');
  const filter = toFilter(form);
  const query = toQuery(form);
  const end =
    query === '' ? undefined : await findSearchEnd(db, accountId, { before, depth: MAX_SEARCHED });
  const limit = PER_PAGE + 1;
  const read = await listAudit(db, accountId, { ...filter, limit, before, since: end?.seq });
  const entries = read.slice(0, PER_PAGE);
  const hasOlder = read.length > PER_PAGE;
  // Where the search stopped, though there may be earlier ones. Entries before the filter's first day need no search.
  const searchedTo = end !== undefined && end.at >= (filter.from ?? '') ? end.seq : undefined;
  const people = await listPeople(db, accountId);
  const main = html`<p class="trail">Settings / Account</p>
    <h1>Audit</h1>
    <p class="lead">What was done in this account, by whom, and when. Times are UTC.</p>
    ${renderFilter(form, people)}
    <section class="card" aria-label="Entries">
      <p class="export">${renderExport(`${PATH}/csv${query === '' ? '' : `?${query}`}`, entries.length)}</p>
      ${entries.length === 0 ? html`<p class="muted">${describeNone(form, searchedTo)}</p>` : renderTable('audit cards', ['When', 'What', 'From'], entries.map(renderEntry))}
    </section>
    ${renderPaging(form, {
      isFirst: readQuery(req, 'before') === '',
      oldest: hasOlder ? entries.at(-1)?.seq : searchedTo,
      text: hasOlder ? 'Older' : 'Search further back',
    })}`;
  await sendPage(res, { title: 'Audit', current: 'audit', main });
};

const HEADS = ['Time (UTC)', 'By', 'What', 'Subject', 'Detail', 'From'];
const ROWS_AT_ONCE = 500;

/** What the page with the same filter shows, all pages of it. */
export const exportAudit: PageHandler = async ({ store: { db } }, req, res) => {
  const { accountId } = visitorOf(res);
  const filter = toFilter(readForm(req));
  const end = await findSearchEnd(db, accountId, { depth: MAX_ROWS + 1 });
  const count = end === undefined || end.at < (filter.from ?? '') ? 0 : MAX_ROWS + 1;
  const rows = async function* () {
    let before: number | undefined;
    do {
      const part = await listAudit(db, accountId, { ...filter, limit: ROWS_AT_ONCE, before });
      yield* part.map(toRow);
      before = part.length < ROWS_AT_ONCE ? undefined : part.at(-1)?.seq;
    } while (before !== undefined);
  };
  await sendCsv(res, { fileName: 'audit', heads: HEADS, count, rows: rows() });
};

function toRow({ at, actor, action, subject, detail, address }: AuditEntry) {
  return [at, labelOf(ACTORS, actor), AUDIT_VERBS[action], subject, detail, address];
}

type AuditForm = ReturnType<typeof readForm>;

/**
 * What the filter's form was sent with; empty where nothing was chosen. A value that is none of the form's is left out, so
 * that a link with it shows more, not less.
 */
function readForm(req: Request) {
  const kind = readQuery(req, 'kind');
  return {
    kind: isAuditKind(kind) ? kind : ('' as const),
    actor: readQuery(req, 'actor').slice(0, MAX_ACTOR_LENGTH),
    q: readSearch(req),
    ...readPeriod(req),
  };
}

function toFilter({ kind, actor, q, ...period }: AuditForm) {
  const known = { kind: kind || undefined, actor: actor || undefined, search: q || undefined };
  return { ...known, ...toInstants(period) };
}

const KIND_LABELS = {
  key: 'API keys',
  person: 'People',
  account: 'The account',
  domain: 'Domains',
  alert: 'Alerts',
  source: 'Sources',
  report: 'Reports',
  webhook: 'Webhooks',
} as const satisfies Record<AuditKind, string>;

const PLANS: Readonly<Record<string, string>> = { pro: 'Pro', free: 'Free' };

const ACTORS: Readonly<Record<string, string>> = {
  operator: 'The operator',
  plumbline: 'Plumbline',
};

function renderFilter(form: AuditForm, people: readonly { readonly email: string }[]): Html {
  const { kind, actor, q, ...period } = form;
  const known = new Set([...Object.keys(ACTORS), ...people.map(({ email }) => email)]);
  if (actor !== '') known.add(actor);
  const actors = [...known].map((one) => [one, labelOf(ACTORS, one)] as const);
  const all = toQuery(form) === '' ? undefined : PATH;
  return html`<form method="get" action="${PATH}" class="card filter">
    <div><label for="kind">What</label>
      <select id="kind" name="kind">${renderOptions([['', 'Everything'], ...Object.entries(KIND_LABELS)], kind || undefined)}</select></div>
    <div><label for="actor">By</label>
      <select id="actor" name="actor">${renderOptions([['', 'Everybody'], ...actors], actor || undefined)}</select></div>
    ${renderSearch(q, 'Name, address')}
    ${renderPeriod(period, all)}
  </form>`;
}

function renderEntry(entry: AuditEntry): Html {
  const { at, actor, action, subject, address } = entry;
  return html`<tr role="row">
    <td role="cell" class="at"><time datetime="${at}">${formatTime(at)}</time></td>
    <td role="cell" class="what"><strong>${labelOf(ACTORS, actor)}</strong> ${AUDIT_VERBS[action]} <strong><bdi>“${toSafeText(subject)}”</bdi></strong>${renderDetail(entry)}</td>
    <td role="cell" class="from">${describeOrigin(actor, address)}</td>
  </tr>`;
}

function renderDetail({ action, detail }: AuditEntry): Html | string {
  if (detail === '') return '';
  if (action.startsWith('key_')) return html` <code>${detail}…</code>`;
  if (action.startsWith('alert_')) return `: ${findAlertText(detail).title}`;
  if (action === 'plan_changed' || action === 'account_created')
    return ` (${labelOf(PLANS, detail)})`;
  if (action === 'account_renamed') return html` from <bdi>“${toSafeText(detail)}”</bdi>`;
  return ` (${toSafeText(detail)})`;
}

function describeOrigin(actor: string, address: string | null): string {
  if (address !== null) return address;
  return actor === 'plumbline' ? 'by itself' : 'by command';
}

function describeNone(form: AuditForm, searchedTo: number | undefined): string {
  if (toQuery(form) === '') return 'Nothing yet.';
  return searchedTo === undefined
    ? 'Nothing that fits.'
    : 'Nothing that fits in this part of the audit.';
}

/** The next page begins before the entry whose `seq` is `oldest`; undefined when there is none. */
function renderPaging(
  form: AuditForm,
  { isFirst, oldest, text }: { isFirst: boolean; oldest: number | undefined; text: string },
): Html | '' {
  if (isFirst && oldest === undefined) return '';
  const query = toQuery(form);
  const older = new URLSearchParams(query);
  older.set('before', String(oldest));
  return html`<p class="paging">
    ${isFirst ? '' : html`<a href="${PATH}${query === '' ? '' : `?${query}`}">Newest</a>`}
    ${oldest === undefined ? '' : html`<a href="${PATH}?${older.toString()}" rel="next">${text}</a>`}
  </p>`;
}

function toQuery(form: AuditForm): string {
  const chosen = Object.entries(form).filter(([, value]) => value !== '');
  return new URLSearchParams(chosen).toString();
}
