import { html } from 'hono/html';
import { addDays } from '../../domain/instant.ts';
import { failedOf } from '../../domain/pass-rate.ts';
import { formatCount, formatDay, MAX_TITLE, pluralize } from '../../domain/text.ts';
import {
  CHANGE_KINDS,
  COMPARED_DAYS,
  type DomainChange,
  WINDOWS,
  type Window,
} from '../../domain/what-changed.ts';
import { readChanges } from '../../judging/what-changed.ts';
import { byName, findWork } from '../../judging/work.ts';
import type { PageHandler } from '../deps.ts';
import { describePolicyStep } from '../frame/charts/plot.ts';
import { renderPages, renderTable } from '../frame/elements.ts';
import { sendPage } from '../frame/page.ts';
import { formatPeriod, type Html, renderDomainName, renderText } from '../frame/text.ts';
import { readPageNumber, readQuery } from '../request.ts';
import { visitorOf } from '../visitor.ts';
import { toSourcePath } from './sources/source-labels.ts';

const PATH = '/settings/what-changed';
/** Each may take as long as a page of its sources. */
const DOMAINS_PER_PAGE = 50;
const MAX_ROWS = 200;

/** What changed in a week, or in thirty days (decision 132). */
export const showChanges: PageHandler = async (deps, req, res) => {
  const { accountId } = visitorOf(res);
  const days = WINDOWS.find((one) => String(one) === readQuery(req, 'days')) ?? WINDOWS[0];
  const page = readPageNumber(req);
  const { items: all, range } = await findWork(deps.store.reader, { accountId, now: deps.now() });
  const items = all.toSorted(byName).slice((page - 1) * DOMAINS_PER_PAGE, page * DOMAINS_PER_PAGE);
  const found = await readChanges({ ...deps, ...deps.store }, { accountId, items, range });
  const shown = { from: addDays(range.to, 1 - days), to: range.to };
  const windows = items.flatMap(({ id, name }) => {
    const window = found.get(id)?.find((one) => one.days === days);
    return window === undefined ? [] : { ...window, id, name };
  });
  const rows = windows.flatMap(({ id, name, changes }) =>
    changes.map((change): Row => ({ id, name, change })),
  );
  const pages = Math.ceil(all.length / DOMAINS_PER_PAGE);
  const toLink = (one: number) =>
    html`<a href="${PATH}?days=${one}" ${one === days ? html`aria-current="true"` : ''}>${one} days</a>`;
  const part = `, ${pluralize(items.length, 'domain')} of ${formatCount(all.length)}, by name`;
  const main = html`<p class="trail"><a href="/settings/overview">Overview</a> / What changed</p>
    <h1>What changed</h1>
    <p class="lead">Senders, policies and reporters of this account’s domains.</p>
    <section class="card" aria-label="Changes">
      <div class="range"><nav class="ranges" aria-label="Range">${WINDOWS.map(toLink)}</nav></div>
      <p class="muted days">${formatPeriod(shown)}${pages > 1 ? part : ''}. Days are UTC; the last one is the newest that has reports.</p>
      ${rows.length === 0 ? html`<p class="empty">Nothing changed.</p>` : renderRows(rows)}
      ${renderStrangers(windows)}
      ${renderPages({
        label: 'Pages of domains',
        page,
        pages,
        hasNext: page < pages,
        toPath: (to) => `${PATH}?days=${days}&page=${to}`,
      })}
    </section>`;
  await sendPage(res, { title: 'What changed', current: 'overview', main });
};

interface Row {
  readonly id: string;
  readonly name: string;
  readonly change: DomainChange;
}

/** What needs a person first, then who sent most: a page of other domains shows no less of the owner's for what strangers send. */
function renderRows(rows: readonly Row[]): Html {
  const rankOf = ({ change }: Row) => CHANGE_KINDS.indexOf(change.kind);
  const sizeOf = ({ change: { counts } }: Row) => counts?.messages ?? 0;
  const sorted = rows.toSorted((a, b) => rankOf(a) - rankOf(b) || sizeOf(b) - sizeOf(a));
  const more = rows.length - MAX_ROWS;
  return html`${renderTable('cards', ['Who', 'What', 'Domain', 'Since'], sorted.slice(0, MAX_ROWS).map(renderRow))}
    ${more > 0 ? html`<p class="muted">And ${pluralize(more, 'change')} more of these domains.</p>` : ''}`;
}

function renderRow({ id, name, change }: Row): Html {
  const { tone, describe } = KINDS[change.kind];
  const [badge, text] = describe(change);
  return html`<tr role="row">
    <th role="rowheader" scope="row">${renderWho(id, change)}</th>
    <td role="cell" class="words"><span class="badge ${tone}">${badge}</span> ${text}</td>
    <td role="cell" data-label="Domain" class="name"><a href="/settings/domains/${id}">${renderDomainName(name)}</a></td>
    <td role="cell" data-label="Since">${formatDay(change.since)}</td>
  </tr>`;
}

/** A sender's page with the days that were compared: one that stopped sent nothing lately. */
function renderWho(id: string, { sender, reporter, kind }: DomainChange): Html | string {
  if (kind === 'policy_change') return html`<a href="/settings/domains/${id}">Policy</a>`;
  if (sender === undefined) {
    const text = reporter ? renderText(reporter, MAX_TITLE) : 'A reporter without a name';
    return html`<a href="/settings/domains/${id}/reports?days=${COMPARED_DAYS}">${text}</a>`;
  }
  const query = new URLSearchParams({ days: String(COMPARED_DAYS), within: sender.key });
  return html`<a href="${toSourcePath(id)}?${query}">${renderText(sender.title, MAX_TITLE)}</a>`;
}

type Describe = (change: DomainChange) => readonly [badge: string, text: Html | string];

const sent = ({ counts = NOTHING }: DomainChange) =>
  `${pluralize(counts.messages, 'message')}, ${formatCount(failedOf(counts))} failed`;
const NOTHING = { messages: 0, aligned: 0 };

const KINDS: Readonly<
  Record<DomainChange['kind'], { readonly tone: string; readonly describe: Describe }>
> = {
  failing_sender: { tone: 'warn', describe: (of) => ['Began to fail', `${sent(of)} since`] },
  stopped_sender: { tone: 'warn', describe: () => ['Stopped', 'has sent nothing since'] },
  policy_change: {
    tone: '',
    describe: ({ step }) => ['Changed', step ? describePolicyStep(step) : ''],
  },
  new_sender: { tone: '', describe: (of) => ['New', sent(of)] },
  mended_sender: { tone: 'good', describe: (of) => ['Mended', `${sent(of)} until then`] },
  unrecognised_sender: { tone: '', describe: (of) => ['New, not recognised', sent(of)] },
  stopped_reporter: { tone: '', describe: () => ['Stopped', 'has sent no report since'] },
  new_reporter: { tone: '', describe: () => ['New', 'sends reports'] },
};

type StrangersOf = Pick<Row, 'id' | 'name'> & Pick<Window, 'strangers'>;

/** One line, however many they are. Some of them may be senders that the owner is asked about. */
function renderStrangers(windows: readonly StrangersOf[]): Html | '' {
  const some = windows.filter(({ strangers }) => strangers.messages > 0);
  const [most] = some.toSorted((a, b) => b.strangers.messages - a.strangers.messages);
  if (most === undefined) return '';
  const sum = (of: 'sources' | 'messages') => some.reduce((all, one) => all + one.strangers[of], 0);
  const sources = sum('sources');
  const first =
    sources === 0 ? '' : ` ${pluralize(sources, 'source')} of theirs sent for the first time.`;
  return html`<p class="muted">Not listed are senders that nothing shows to be yours. ${pluralize(sum('messages'), 'message')} of theirs failed in the ${some.length === 1 ? 'name of 1 domain' : `names of ${pluralize(some.length, 'domain')}`}, most in that of <a href="${toSourcePath(most.id)}?failing=1">${renderDomainName(most.name)}</a>.${first}</p>`;
}
