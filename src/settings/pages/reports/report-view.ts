import { basename } from 'node:path';
import { html } from 'hono/html';
import { toHex } from '../../../domain/hex.ts';
import type { PolicyPublished, Warning } from '../../../domain/reports/aggregate-report.ts';
import { DAYS_NEW } from '../../../domain/reports/authentication.ts';
import type { ReportContent } from '../../../domain/reports/report-content.ts';
import { findReporterName } from '../../../domain/reports/reporters.ts';
import { toWarningText } from '../../../domain/reports/warning-texts.ts';
import { toSizeText } from '../../../domain/size.ts';
import { formatCount, formatTime, pluralize, toSafeText } from '../../../domain/text.ts';
import {
  MAX_CONFLICTS,
  type ReportContext,
  type ReportOfAccount,
} from '../../../store/reports/report-of-account.ts';
import { type Html, labelOf, renderPassed, renderText, renderTime } from '../../frame/text.ts';

const MAX_ERRORS = 10;
const MAX_TEXT = 300;
const MAX_WORD = 60;
const MAX_NAME = 120;

function renderTerm(term: string, value: Html | string | null): Html | '' {
  return value === null ? '' : html`<dt>${term}</dt><dd>${value}</dd>`;
}

const toText = (text: string | null, maxLength = MAX_TEXT): Html | null =>
  text === null ? null : renderText(text, maxLength);

export function renderMetadata(
  report: ReportOfAccount,
  context: ReportContext,
  { content, now }: { readonly content: ReportContent; readonly now: Date },
): Html {
  const { total_messages: messages, aligned_messages: aligned, received_at } = report;
  const { input, member, conflictsAt } = context;
  return html`<section class="card" aria-labelledby="metadata">
    <div class="beside">
      <h2 id="metadata">Metadata</h2>
      ${renderDownload(report, context)}
    </div>
    <p class="figures">${renderPassed({ messages, aligned })}</p>
    <dl class="facts">
      ${renderTerm('Reporter', toText(findReporterName(report), MAX_NAME) ?? 'not named')}
      ${renderTerm('E-mail', toText(report.reporter_email, MAX_NAME))}
      ${renderTerm('Contact', toText(content.extraContactInfo))}
      ${renderTerm('Report id', toText(report.report_id, 512) ?? 'not stated')}
      ${renderTerm('Window', `${formatTime(report.begin_date)} to ${formatTime(report.end_date)}`)}
      ${renderTerm('Received', html`${formatTime(received_at)}, ${renderTime(received_at, now)}`)}
      ${renderTerm('Came as', html`<bdi>${describeArrival(input)}</bdi>`)}
      ${renderTerm('In it', toText(member))}
      ${renderTerm('Sender', renderSender(report))}
      ${renderVersions(content)}
      ${renderTerm('SHA-256, first half', html`<code>${toHex(report.payload_sha256)}</code>`)}
    </dl>
    ${renderConflicts(conflictsAt)}
  </section>`;
}

/** A file has no sender. */
function renderSender({ authenticated, doubt }: ReportOfAccount): Html | null {
  if (doubt === 'disputed')
    return html`<span class="badge">Disputed</span> This reporter authenticated its mails before, and this one is
      not authenticated. It may be forged. Alerts do not count it.`;
  if (doubt === 'unproven')
    return html`<span class="badge warn">Not authenticated</span> Nothing proves that it is from this reporter.`;
  if (authenticated === null) return null;
  const isNew =
    doubt === 'new'
      ? html` <span class="badge warn">New</span> Its first authenticated mail was less than ${DAYS_NEW} days before this one.
      It may fire an alert, and can neither hide nor resolve one.`
      : '';
  return html`<span class="badge good">Authenticated</span> as ${renderText(authenticated, MAX_NAME)}${isNew}`;
}

/** The part of its input that has the report, as it came; and the report as it was understood. */
function renderDownload(
  { domain_id, id }: ReportOfAccount,
  { originalBytes, hasOriginal }: ReportContext,
): Html {
  const path = `/settings/domains/${domain_id}/reports/${id}`;
  const missing = originalBytes === null ? 'was not kept' : 'is not kept any more';
  const original =
    originalBytes === null || hasOriginal === 0
      ? html`<span class="muted">The original ${missing}</span>`
      : html`<a href="${path}/original" download>Download the original, ${toSizeText(originalBytes)}</a>`;
  return html`<p class="export">${original} · <a href="${path}/xml" download>XML</a> · <a href="${path}/json" download>JSON</a></p>`;
}

function renderVersions({ generator, errors, version, xmlNamespace }: ReportContent): Html {
  return html`${renderTerm('Software', toText(generator))}
    ${renderTerm('Version', toText(version, 40))}
    ${renderTerm('Namespace', toText(xmlNamespace))}
    ${errors.length === 0 ? '' : renderTerm('Its errors', renderErrors(errors))}`;
}

/** What the reporter says went wrong at its side. */
function renderErrors(errors: ReportContent['errors']): Html {
  const more = errors.length - MAX_ERRORS;
  return html`<ul>${errors.slice(0, MAX_ERRORS).map((error) => html`<li>${renderText(error, MAX_TEXT)}</li>`)}
    ${more > 0 ? html`<li>${formatCount(more)} more</li>` : ''}</ul>`;
}

function renderConflicts(conflictsAt: ReportContext['conflictsAt']): Html | '' {
  const count = conflictsAt.length;
  if (count === 0) return '';
  const number = count === MAX_CONFLICTS ? `${count} or more` : formatCount(count);
  return html`<p class="note"><span class="badge warn">Conflict</span> ${number} other ${count === 1 ? 'document' : 'documents'}
    with the same reporter, id and window, but other content, came in ${count === 1 ? 'at' : 'from'}
    ${formatTime(conflictsAt[0] as string)}. This one counts; an operator can prefer another.</p>`;
}

/** Mistakes of the reporter. `warnings` is the JSON of the report's row. */
export function renderWarnings(warnings: string): Html | '' {
  const found = JSON.parse(warnings) as readonly Warning[];
  if (found.length === 0) return '';
  return html`<section class="card" aria-labelledby="warnings">
    <h2 id="warnings">Mistakes in the report</h2>
    <ul class="findings">${found.map(renderWarning)}</ul>
  </section>`;
}

function renderWarning({ code, count, where }: Warning): Html {
  const at = where === null ? '' : ` at ${where}`;
  const times = count === 1 ? `Once${at}` : `${pluralize(count, 'time')}${where && `, first${at}`}`;
  return html`<li><div>${toWarningText(code) ?? renderText(code)} <small>${renderText(times)}</small></div></li>`;
}

const ALIGNMENT: Readonly<Record<string, string>> = { r: 'r (relaxed)', s: 's (strict)' };
const YES_OR_NO: Readonly<Record<string, string>> = { y: 'y (yes)', n: 'n (no)' };

/** What the reporter left out is not stated, and no default is shown instead. */
export function renderPublishedPolicy(policy: PolicyPublished): Html {
  const { p, sp, np, adkim, aspf, pct, fo, testing, discoveryMethod } = policy;
  const named = (names: Readonly<Record<string, string>>, value: string | null) =>
    toText(value === null ? null : labelOf(names, value), MAX_WORD);
  return html`<section class="card" aria-labelledby="policy">
    <h2 id="policy">Policy published</h2>
    <dl class="facts">
      ${renderTerm('Policy (p)', toText(p, MAX_WORD) ?? 'not stated')}
      ${renderTerm('Subdomains (sp)', toText(sp, MAX_WORD))}
      ${renderTerm('Non-existent subdomains (np)', toText(np, MAX_WORD))}
      ${renderTerm('DKIM alignment (adkim)', named(ALIGNMENT, adkim))}
      ${renderTerm('SPF alignment (aspf)', named(ALIGNMENT, aspf))}
      ${renderTerm('Share of messages (pct)', pct === null ? null : `${formatCount(pct)}%`)}
      ${renderTerm('Failure reports (fo)', toText(fo, MAX_WORD))}
      ${renderTerm('Testing', named(YES_OR_NO, testing))}
      ${renderTerm('Found by', toText(discoveryMethod, MAX_WORD))}
    </dl>
  </section>`;
}

/** The name of the input that a mail of the inbox is: intake/inbox/mail-reading.ts. */
const FROM_INBOX = /^mail-\d+ (smtp|imap|folder|upload)(?: (.*))?$/s;
const MAX_INPUT_NAME = 160;

/** Folders of the operator's machine are not named: the person may be a customer. */
function describeArrival(input: string): string {
  const [, door, known = ''] = FROM_INBOX.exec(input) ?? [];
  if (door === 'smtp') return joinArrival('A mail by SMTP', known);
  if (door === 'imap') return joinArrival('A mail of a mailbox', known);
  if (door === 'folder') return joinArrival('A file of a watched folder', basename(known));
  if (door === 'upload') return 'A file that was uploaded';
  return joinArrival('A file', basename(input));
}

function joinArrival(kind: string, known: string): string {
  const text = toSafeText(known, MAX_INPUT_NAME);
  if (text === '') return kind;
  return text.startsWith('from ') ? `${kind}, ${text}` : `${kind}: ${text}`;
}
