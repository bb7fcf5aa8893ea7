import { html } from 'hono/html';
import { toTlsFindings } from '../../../domain/dns/tls-findings.ts';
import { addDays, toDay, toInstant } from '../../../domain/instant.ts';
import { WINDOW_DAYS } from '../../../domain/readiness.ts';
import { formatDay, formatDomainName, pluralize, toSafeText } from '../../../domain/text.ts';
import { EFFECT_TEXTS } from '../../../domain/tls/failure-texts.ts';
import type { CheckedTls } from '../../../domain/tls/tls-check.ts';
import type { TlsDay } from '../../../domain/tls/tls-day.ts';
import { describeEnforce, describeWorst, NO_REPORTS } from '../../../domain/tls/tls-step.ts';
import {
  describeTypes,
  findWorst,
  sumTypes,
  type WorstFailure,
} from '../../../domain/tls/tls-summary.ts';
import { dailyCheckOf, toChecked } from '../../../store/alerts/daily-checks.ts';
import type { DomainRow } from '../../../store/domains/domains.ts';
import type { DomainOfAccount } from '../../../store/lists/heads.ts';
import type { SettingsDeps } from '../../deps.ts';
import { type Html, renderTime } from '../../frame/text.ts';
import { renderFinding } from '../domain-route.ts';
import { renderTlsTables } from './tls-tables.ts';

interface TlsQuery {
  readonly scope: DomainOfAccount;
  readonly domain: Pick<DomainRow, 'name' | 'tls_version'>;
  /** The address at which we take reports. */
  readonly address: string | undefined;
}

/** The section of a domain's page. Most domains have neither reports nor a policy, and then nothing is shown. */
export async function renderDomainTls(
  { store, days, now }: SettingsDeps,
  { scope, domain, address }: TlsQuery,
): Promise<Html | ''> {
  const [row] = await store.reader.readAll(dailyCheckOf({ domainId: scope.domainId, type: 'tls' }));
  const check = toChecked(row);
  const isAsked = (check?.sts ?? check?.record.value ?? null) !== null;
  if (domain.tls_version === null && !isAsked) return '';
  const at = now();
  // It ends today: reports are few, and those of yesterday are about mail of today.
  const today = toDay(toInstant(at));
  const range = { from: addDays(today, 1 - WINDOW_DAYS), to: today };
  const found = await days.readTlsDays({ scope, range });
  return renderTls({ domain: domain.name, days: found.days, check, address, now: at });
}

interface TlsView {
  readonly domain: string;
  /** The newest day comes first. */
  readonly days: readonly TlsDay[];
  readonly check: CheckedTls | undefined;
  readonly address: string | undefined;
  readonly now: Date;
}

/** How servers that deliver mail to the domain got TLS: one line, and below it what it is made of, and what checks found. */
function renderTls(view: TlsView): Html {
  const { domain, days, check } = view;
  if (days.length === 0) return renderSection(html`<p>${NO_REPORTS}</p>${renderCheck(view)}`);
  const worst = findWorst(days);
  const enforce = describeEnforce(days, check);
  const name = formatDomainName(domain);
  return renderSection(html`<p>Mail to ${name}: ${describeTypes(sumTypes(days), WINDOW_DAYS)}</p>
    ${worst === undefined ? '' : renderWorst(worst, domain)}
    ${enforce === undefined ? '' : html`<p>${enforce.text}</p>`}
    ${renderCheck(view)}
    ${renderTlsTables(days)}`);
}

function renderCheck({ domain, address = '', check, now }: TlsView): Html | '' {
  if (check === undefined) return '';
  const findings = toTlsFindings(check, { domain, address });
  const when = renderTime(check.checkedAt, now);
  if (findings.length === 0)
    return html`<p class="muted">DNS${check.sts === null ? '' : ' and the policy file'} had no fault ${when}.</p>`;
  return html`<h3>What checks found ${when}</h3>
    <ul class="findings">${findings.map(({ text }) => renderFinding({ ok: false, text }))}</ul>`;
}

const renderSection = (content: Html) => html`<section class="card" aria-labelledby="tls">
    <h2 id="tls">Encryption of mail to the domain</h2>
    ${content}
  </section>`;

const SHOWN_REPORTERS = 3;

function renderWorst(worst: WorstFailure, domain: string): Html {
  const { sentence, step } = describeWorst(worst, domain);
  return html`<p><b class="wrong">${sentence}</b> ${EFFECT_TEXTS[worst.effect]} ${describeSeen(worst)}</p>
    <p><b>What to do:</b> ${step}</p>`;
}

/** Who saw it, and whether it goes on. */
function describeSeen({ reporters, sessions, lastDay, daysSince }: WorstFailure): string {
  const names = reporters.slice(0, SHOWN_REPORTERS).map((one) => toSafeText(one, 60));
  const others = reporters.length - names.length;
  const who = [...names, ...(others > 0 ? [pluralize(others, 'other')] : [])].join(', ');
  const since =
    daysSince === 0 ? '' : `, and not on the ${pluralize(daysSince, 'later day')} with reports`;
  return `Seen by ${who} in ${pluralize(sessions, 'session')}, last on ${formatDay(lastDay)}${since}.`;
}
