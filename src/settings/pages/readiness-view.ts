import { html } from 'hono/html';
import { findPolicyTag, findTestTags, toPolicies } from '../../domain/dns/dns-record.ts';
import type { Day } from '../../domain/instant.ts';
import { WINDOW_DAYS } from '../../domain/next-step.ts';
import type { MailByStanding, MailOfStanding, Obstacle, Standing } from '../../domain/readiness.ts';
import { formatCount, formatDay, pluralize } from '../../domain/text.ts';
import { renderTable } from '../frame/elements.ts';
import { describeDisposition, formatRateInColumn, type Html, renderText } from '../frame/text.ts';
import { renderMissing } from './failures-view.ts';

interface Known {
  readonly record: string | null | undefined;
  /** The day of the reports that state it; undefined when it is of DNS. */
  readonly statedOn: Day | undefined;
}

/** The policy, with the tags that keep it from some of the mail. */
export function renderPolicy({ record, statedOn }: Known): Html {
  if (record === undefined) return html`Its policy is not known yet.`;
  if (record === null) return html`No DMARC record in DNS.`;
  const tags = [toPolicyText(record), ...findTestTags(record)];
  const source = statedOn === undefined ? 'in DNS' : `by the reports of ${formatDay(statedOn)}`;
  return html`Policy <b class="policy">${tags.join(', ')}</b> <span class="muted">(${source})</span>.`;
}

/** “p=none”, and the one of subdomains where it differs. */
export function toPolicyText(record: string): string {
  const { p, sp } = toPolicies(record);
  return p === sp || p === 'absent' ? `p=${p}` : `p=${p}, sp=${sp}`;
}

interface Readiness extends Known {
  readonly domainId: string;
  readonly mail: MailByStanding;
  readonly obstacles: readonly Obstacle[];
  /** What receivers did with messages that failed, of which there are `failed` in all. */
  readonly applied: ReadonlyMap<string | null, number>;
  readonly failed: number;
  /** Senders whose messages failed. */
  readonly senders: Html | '';
}

const NUMBERS = ['Messages', 'Passed', 'Would be stopped'];
const HEADS = [`Mail of ${WINDOW_DAYS} days`, ...NUMBERS.map((text) => [text, 'number'] as const)];

export function renderReadiness(readiness: Readiness): Html {
  const { mail, senders } = readiness;
  const standings = STANDING_NAMES.filter((one) => !OPTIONAL.has(one) || mail[one].messages > 0);
  const rows = standings.map((standing) => renderMail(standing, mail[standing]));
  return html`<section class="card" aria-labelledby="readiness">
    <h2 id="readiness">Can I go to p=reject?</h2>
    <p>${renderAnswer(readiness)}</p>
    ${renderTable('cards readiness', HEADS, rows)}
    <p class="muted">Would be stopped: held back as spam with p=quarantine, refused with p=reject.</p>
    ${senders}
    ${renderApplied(readiness)}
  </section>`;
}

function renderAnswer({ record, obstacles, domainId, mail }: Readiness): Html {
  const policy = record === undefined ? undefined : toPolicies(record).p;
  if (policy === 'reject' && findTestTags(record ?? null).length === 0)
    return html`<b>It is there.</b> Receivers are asked to refuse mail that fails, so a forger gets nothing through. Keep an eye on your own mail below.`;
  if (obstacles.length === 0)
    return html`${renderYes(mail, domainId)} ${describeWay(policy, record)}`;
  return html`<b>Not yet.</b> ${obstacles.map((one, i) => html`${i === 0 ? '' : ' '}${renderObstacle(one, domainId)}`)}`;
}

/** What nobody marked is stopped, too: the owner looks at it before. */
function renderYes({ stranger, forwarded }: MailByStanding, domainId: string): Html {
  const [failed, sent] = [stranger, forwarded].map((one) => one.messages - one.aligned);
  const more = sent
    ? ` ${pluralize(sent, 'message')} that others forwarded would be stopped, too; the domain’s owner cannot mend that.`
    : '';
  return failed
    ? html`<b>Yes, if these are not yours:</b> ${pluralize(failed, 'message')} from ${pluralize(stranger.sources, 'source')} that nothing shows to be yours. <a href="${toFailingPath(domainId, 'stranger')}">Look at them</a>, and mark as legitimate those that are.${more}`
    : html`<b>Yes.</b>${more}`;
}

/** The sources of a row of the table, and no others. */
function toFailingPath(domainId: string, standing: Standing): string {
  return `/settings/domains/${domainId}/sources?days=${WINDOW_DAYS}&failing=1&standing=${standing}`;
}

function describeWay(
  policy: ReturnType<typeof toPolicies>['p'] | undefined,
  record: Known['record'],
): string {
  const tags = findTestTags(record ?? null);
  if (policy === undefined)
    return 'Nearly all mail of yours passes, but no report says which policy is published: look it up in DNS.';
  if (record?.includes('\n'))
    return 'Nearly all mail of yours passes. DNS has several DMARC records, which count as none: publish only one first.';
  if (policy === 'absent')
    return 'Nearly all mail of yours passes. Publish a DMARC record with p=none first, so that reports go on.';
  if (policy !== 'none' && tags.length > 0)
    return `Nearly all mail of yours passes. Remove ${tags.join(' and ')} from the DMARC record first.`;
  if (policy === 'quarantine') return 'Nearly all mail of yours passes: publish p=reject.';
  return 'Nearly all mail of yours passes. Publish p=quarantine now, and p=reject when it stays so for a month.';
}

function renderObstacle(obstacle: Obstacle, domainId: string): Html {
  if (obstacle.kind === 'silent')
    return html`No report covers a day after ${formatDay(obstacle.newest)}, so nobody knows what fails now.`;
  if (obstacle.kind === 'few_data')
    return html`There are too few reports to say so: ${pluralize(obstacle.dataDays, 'day')} of ${WINDOW_DAYS}, with ${pluralize(obstacle.messages, 'message')}.`;
  const { kind, mail } = obstacle;
  const failed = pluralize(mail.messages - mail.aligned, 'message');
  if (mail.sources === 0) return html`${failed} failed from addresses that were not kept.`;
  const sources = pluralize(mail.sources, 'source');
  const [it, they] = mail.sources === 1 ? ['it', 'it is'] : ['them', 'they are'];
  const path = toFailingPath(domainId, kind);
  return kind === 'own'
    ? html`${failed} from ${sources} of yours failed: <a href="${path}">set ${it} up</a>.`
    : html`${failed} from ${sources} failed, and nobody has said whether ${they} yours: <a href="${path}">say it</a>.`;
}

/** Shown where there is such mail. */
const OPTIONAL: ReadonlySet<Standing> = new Set(['forwarded', 'stranger']);
export const STANDINGS: Readonly<Record<Standing, readonly [label: string, meaning: string]>> = {
  passing: ['Passing', 'all of it passes, whoever sent it'],
  own: ['Yours, failing', 'some of it passes, its name is yours, or you marked it as legitimate'],
  undecided: [
    'Not decided',
    'a service that may be yours, or nothing shows whose it is, and nobody marked it',
  ],
  forwarded: ['Forwarded', 'somebody else sent it on: the owner cannot mend that'],
  stranger: [
    'Probably not yours',
    'authenticated as somebody else who is no known service, refused by SPF (fail), or a few messages of which none passes',
  ],
  foreign: ['Not yours', 'you marked it as unknown: the policy is there to stop it'],
};

export const STANDING_NAMES = Object.keys(STANDINGS) as Standing[];

function renderMail(standing: Standing, { messages, aligned, sources }: MailOfStanding): Html {
  const [label, meaning] = STANDINGS[standing];
  const failed = formatCount(messages - aligned);
  const counts = standing === 'own' || standing === 'undecided';
  const wrong = counts && messages > aligned ? ' wrong' : '';
  return html`<tr role="row">
    <th role="rowheader" scope="row">${label} <small>${meaning}; ${pluralize(sources, 'source')}</small></th>
    <td role="cell" class="number" data-label="Messages">${formatCount(messages)}</td>
    <td role="cell" class="number" data-label="Passed">${formatRateInColumn({ messages, aligned })}</td>
    <td role="cell" class="number${wrong}" data-label="Would be stopped">${failed}</td>
  </tr>`;
}

const MAX_DONE = 200;

/** Receivers may do other than the policy asks: for forwarded mail, or by rules of their own. */
function renderApplied({ applied, failed, record }: Readiness): Html | '' {
  const total = [...applied.values()].reduce((sum, messages) => sum + messages, 0);
  if (total === 0) return '';
  const sums = new Map<string, number>();
  for (const [disposition, messages] of applied) {
    const text = describeDisposition(disposition);
    sums.set(text, (sums.get(text) ?? 0) + messages);
  }
  const parts = [...sums].map(([text, messages]) => `${text} (${formatCount(messages)})`);
  const policy = findPolicyTag(record ?? null, 'p');
  const delivered = sums.get(describeDisposition('none')) ?? 0;
  const differs = (policy === 'reject' || policy === 'quarantine') && delivered > 0;
  return html`<p class="muted">What receivers did with the messages that failed: ${renderText(parts.join(', '), MAX_DONE)}.${
    differs
      ? ` The policy asked for ${policy} when they were last reported; receivers may deliver mail that was forwarded, and a policy counts from the day it is published.`
      : ''
  }</p>
  ${renderMissing(failed - total)}`;
}
