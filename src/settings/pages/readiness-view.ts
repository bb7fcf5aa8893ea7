import { html } from 'hono/html';
import {
  findPolicyTag,
  findTestTags,
  type PolicyTag,
  toPolicies,
} from '../../domain/dns/dns-record.ts';
import type { DomainFacts, JudgedMail, UnsignedSender } from '../../domain/domain-facts.ts';
import { addDays, type Day } from '../../domain/instant.ts';
import {
  describeMessages,
  describeOwned,
  describeWait,
  toSendersQuery,
  UNPROVEN,
} from '../../domain/next-step-texts.ts';
import type { MailOfStanding, Standing } from '../../domain/own-mail.ts';
import { addUp, failedOf } from '../../domain/pass-rate.ts';
import {
  assess,
  type MailObstacle,
  type Obstacle,
  ownedOf,
  WINDOW_DAYS,
} from '../../domain/readiness.ts';
import { describeUnsigned } from '../../domain/sender-texts.ts';
import { findWeakTag, policyOf } from '../../domain/target-policy.ts';
import { formatCount, formatDay, pluralize } from '../../domain/text.ts';
import { renderTable } from '../frame/elements.ts';
import { describeDisposition, formatRateInColumn, type Html, renderText } from '../frame/text.ts';
import { renderMissing } from './failures-view.ts';
import { toSourcePath } from './sources/source-labels.ts';

interface Known extends Pick<DomainFacts, 'dns'> {
  readonly record: string | null | undefined;
  /** The day of the reports that state it; undefined when it is of DNS. */
  readonly statedOn: Day | undefined;
}

/** The policy, with the tags that keep it from some of the mail. */
export function renderPolicy({ record, statedOn, dns }: Known): Html {
  if (record === undefined) return html`Its policy is not known yet.`;
  if (record === null) return html`No DMARC record in DNS.`;
  const tags = [toPolicyText(record), ...findTestTags(record)];
  const from = dns?.value === null ? dns.inherited?.from : undefined;
  const inDns = from === undefined ? 'in DNS' : `by the record of ${from}`;
  const source = statedOn === undefined ? inDns : `by the reports of ${formatDay(statedOn)}`;
  return html`Policy <b>${tags.join(', ')}</b> <span class="muted">(${source})</span>.`;
}

/** “p=none”, and the one of subdomains where it differs. */
export function toPolicyText(record: string): string {
  const { p, sp } = toPolicies(record);
  return p === sp || p === 'absent' ? `p=${p}` : `p=${p}, sp=${sp}`;
}

interface ReadinessView extends Known {
  readonly domainId: string;
  readonly domain: { readonly name: string };
  readonly facts: DomainFacts;
  readonly mail: JudgedMail;
  /** What receivers did with messages that failed, of which there are `failed` in all. */
  readonly applied: ReadonlyMap<string | null, number>;
  readonly failed: number;
  /** Senders whose messages failed. */
  readonly senders: Html | '';
}

const NUMBERS = ['Messages', 'Passed', 'Would be stopped'];
const HEADS = [`Mail of ${WINDOW_DAYS} days`, ...NUMBERS.map((text) => [text, 'number'] as const)];

export function renderReadiness(view: ReadinessView): Html {
  const all = view.mail.all.standings;
  const standings = STANDING_NAMES.filter((one) => all[one].messages > 0);
  const rows = standings.map((standing) => renderMail(standing, all[standing]));
  const isEmpty = Object.values(all).every(({ messages }) => messages === 0);
  return html`<section class="card" aria-labelledby="readiness">
    <h2 id="readiness">Can I go to p=reject?</h2>
    <p>${renderAnswer(view)}</p>
    ${
      isEmpty
        ? ''
        : html`${renderTable('cards readiness', HEADS, rows)}
    <p class="muted">Would be stopped: held back as spam with p=quarantine, refused with p=reject, where the policy is for the name that the message has.</p>
    ${view.senders}
    ${renderApplied(view)}`
    }
  </section>`;
}

/** Whose answer it is, and the policy that it is about. */
interface Place {
  readonly domainId: string;
  readonly tag: PolicyTag | undefined;
  readonly name: string;
}

function renderAnswer({ facts, mail, domainId, domain }: ReadinessView): Html {
  const { answer, obstacles, stopped } = assess(facts);
  const place = { domainId, tag: findWeakTag(facts), name: domain.name };
  const why = obstacles.map((one) => html` ${renderObstacle(one, place)}`);
  if (answer === 'reached') {
    const own = obstacles.filter(({ kind }) => kind === 'own' || kind === 'unsigned');
    const whose =
      place.tag === undefined
        ? 'of the domain and of its subdomains'
        : 'by the names that mail has; no mail names a subdomain, and these are not protected';
    return html`<b>It is there.</b> Receivers are asked to refuse mail that fails, ${whose}.${own.map((one) => html` ${renderObstacle(one, place)}`)}`;
  }
  const below = renderBelow(facts, mail);
  if (answer !== 'yes') return html`${below}<b>Not yet.</b>${why}`;
  return html`${below}${renderYes(stopped, { ...place, isFirst: isQuarantineNext(facts) })} ${describeWay(facts)}`;
}

/** The policy of the domain itself is there, and subdomains have a weaker one. */
function renderBelow(facts: DomainFacts, { below }: JudgedMail): Html | '' {
  const tag = findWeakTag(facts);
  if (tag !== 'sp' && tag !== 'np') return '';
  const failed = failedOf(addUp(Object.values(below.standings)));
  return html`<b>For the domain itself, not for its subdomains</b> (${tag}=${policyOf(facts, tag) ?? 'not valid'}): ${failed === 0 ? 'no mail that names one failed.' : `${pluralize(failed, 'message')} that ${failed === 1 ? 'names' : 'name'} one failed, and the policy does not stop ${failed === 1 ? 'it' : 'them'}.`} `;
}

/** All that would be stopped is said, by sender: the owner looks at it before. */
function renderYes(
  stopped: readonly MailObstacle[],
  { domainId, tag, isFirst }: Place & { readonly isFirst: boolean },
): Html {
  const way = isFirst ? ', by p=quarantine first' : '';
  if (stopped.length === 0) return html`<b>Yes${way}.</b>`;
  const parts = stopped.map(({ kind, mail, senders }) => {
    const names = senders
      .slice(0, MAX_NAMED)
      .map(({ title, ...counts }) => `${title} (${formatCount(failedOf(counts))})`);
    const more = senders.length - names.length;
    const all = more > 0 ? [...names, `${formatCount(more)} more`] : names;
    return html` <a href="${toFailingPath(domainId, kind as Standing)}">${describeMessages(failedOf(mail), tag)} ${STOPPED[kind]}</a>${all.length === 0 ? '' : html`: ${renderText(all.join(', '), MAX_NAMES)}`}.`;
  });
  const isAsked = stopped.some(({ kind }) => kind === 'stranger' || kind === 'undecided');
  return html`<b>Yes${isAsked ? ', if these are not yours' : ''}${way}.</b> It would stop:${parts}${isAsked ? ' Mark as legitimate those that are yours.' : ''}`;
}

const MAX_NAMED = 5;
const MAX_NAMES = 400;

const STOPPED: Readonly<Record<MailObstacle['kind'], string>> = {
  own: 'of your own senders',
  undecided: 'of senders that nobody recognises',
  stranger: 'that nothing shows to be yours',
  forwarded: 'that others passed on',
  unsigned: 'that pass by SPF alone',
};

/** The sources of a row of the table, and no others. */
function toFailingPath(domainId: string, standing: Standing): string {
  return `${toSourcePath(domainId)}?${toSendersQuery({ standing })}`;
}

/** One step at a time, but for a domain that sends no mail. */
const isQuarantineNext = ({ record, sendsNoMail }: DomainFacts): boolean =>
  !sendsNoMail && toPolicies(record ?? null).p === 'none';

function describeWay(facts: DomainFacts): string {
  const { record, sendsNoMail } = facts;
  const tags = findTestTags(record ?? null);
  const { p } = toPolicies(record ?? null);
  const good = sendsNoMail ? 'The domain sends no mail' : describeOwned(ownedOf(facts));
  if (sendsNoMail) return `${good}: publish p=reject and sp=reject.`;
  if (record === undefined)
    return `${good}, but no report says which policy is published: look it up in DNS.`;
  if (record?.includes('\n'))
    return `${good}. DNS has several DMARC records, which count as none: publish only one first.`;
  if (p === 'absent')
    return `${good}. Publish a DMARC record with p=none first, so that reports go on.`;
  if (p !== 'none' && tags.length > 0)
    return `${good}. Remove ${tags.join(' and ')} from the DMARC record first.`;
  const tag = findWeakTag(facts);
  if (tag !== 'p') return `${good}: publish ${tag}=reject, or no ${tag} at all.`;
  if (p === 'quarantine') return `${good}: publish p=reject.`;
  return `${good}. Publish p=quarantine now, and p=reject when it stays so for a month.`;
}

function renderObstacle(obstacle: Obstacle, { domainId, tag, name }: Place): Html {
  if (obstacle.kind === 'silent')
    return html`No report covers a day after ${formatDay(obstacle.newest)}, so nobody knows what fails now.`;
  if (obstacle.kind === 'few_data') return html`${describeWait(obstacle)}`;
  if (obstacle.kind === 'sends_after_all')
    return html`It is said to send no mail, and ${pluralize(obstacle.messages, 'message')} passed: see <a href="${toSourcePath(domainId)}">who sent them</a>.`;
  if (obstacle.kind === 'no_passing_mail')
    return html`No mail of the domain passed for ${WINDOW_DAYS} days. <a href="#sends-no-mail">If it sends no mail, say so</a>: then it can have p=reject at once.`;
  if (obstacle.kind === 'unproven') return html`${UNPROVEN}`;
  const { kind, mail, senders } = obstacle;
  if (kind === 'unsigned')
    return html`${describeMessages(failedOf(mail), tag)} of yours in the latest days pass by SPF alone, and p=reject would refuse them wherever they are forwarded. ${renderText(describeUnsigned(senders[0] as UnsignedSender, name), MAX_NAMES)}`;
  const failed = describeMessages(failedOf(mail), tag);
  const sources = pluralize(mail.sources, 'source');
  const [it, they] = mail.sources === 1 ? ['it', 'it is'] : ['them', 'they are'];
  const path = toFailingPath(domainId, kind);
  if (kind === 'own')
    return html`${failed} from ${sources} of yours failed: ${renderSenders(senders, domainId)}.`;
  return kind === 'forwarded'
    ? html`${failed} from ${sources} that pass your mail on would be stopped: <a href="${path}">look at ${it} first</a>, and mark as unknown what may be stopped.`
    : html`${failed} from ${sources} failed, and nobody has said whether ${they} yours: <a href="${path}">say it</a>.`;
}

/** Some sent months ago: the links have the days on which they did. */
function renderSenders(senders: MailObstacle['senders'], domainId: string): Html {
  const links = senders.slice(0, MAX_NAMED).map(({ key, title, lastDay }) => {
    const from = addDays(lastDay, 1 - WINDOW_DAYS);
    const query = new URLSearchParams({ from, to: lastDay, failing: '1', within: key });
    return html`<a href="${toSourcePath(domainId)}?${query.toString()}">${renderText(title, MAX_NAMES)}</a>`;
  });
  const more = senders.length - links.length;
  return html`${links.map((link, i) => html`${i === 0 ? '' : ', '}${link}`)}${more > 0 ? ` and ${formatCount(more)} more` : ''}`;
}

export const STANDINGS: Readonly<Record<Standing, readonly [label: string, meaning: string]>> = {
  passing: ['Passing', 'all of it passes, whoever sent it'],
  own: [
    'Yours, failing',
    'some of it passes, it is yours to set up, or you marked it as legitimate',
  ],
  undecided: ['Not recognised', 'nothing shows whose it is, and nobody marked it'],
  forwarded: [
    'Passed on',
    'somebody else sent it on, and it was changed on the way or never signed',
  ],
  stranger: [
    'Probably not yours',
    'scattered addresses with a few messages each, of which none passes, or what the SPF record refuses from many networks',
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
function renderApplied({ applied, failed, record }: ReadinessView): Html | '' {
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
