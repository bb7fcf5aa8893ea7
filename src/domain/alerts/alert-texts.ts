import {
  formatCount,
  formatDay,
  formatPercentage,
  formatTime,
  pluralize,
  toSafeText,
} from '../text.ts';
import { type Context, describeCause, findSender, listSources } from './alert-senders.ts';
import { type AlertType, isAlertType } from './registry.ts';

/* What pages and mails say of an alert. */

interface AlertText {
  readonly title: string;
  readonly describe: (context: Context) => string;
  /** What to do next. */
  readonly advice: string;
}

/** The title and text of each alert type (`Alert.type` in openapi/v1.yaml). A type without them does not compile. */
const TEXTS: Readonly<Record<AlertType, AlertText>> = {
  'alert.alignment_regression': {
    title: 'Pass rate fell',
    describe: describeRegression,
    advice: 'The pass rate fell: find out whose messages fail since then.',
  },
  'alert.reports_missing': {
    title: 'Reports missing',
    describe: describeMissing,
    advice: 'Reports have stopped: make sure that DNS still asks for them.',
  },
  'alert.new_failing_source': {
    title: 'New failing source',
    describe: describeSource,
    advice: 'Addresses that are new here send mail that fails: find out whether it is yours.',
  },
  'alert.dns_record_changed': {
    title: 'DNS record changed',
    describe: describeRecord,
    advice: 'A DNS record changed: make sure that this was meant.',
  },
  'alert.policy_weakened': {
    title: 'Policy weakened',
    describe: describePolicy,
    advice: 'The DMARC policy became weaker: make sure that this was meant.',
  },
};

/** A type that this version does not know is its own title. */
export function findAlertText(type: string): AlertText {
  const text = isAlertType(type) ? TEXTS[type] : toUnknownText(type);
  return { ...text, describe: (context) => `${text.describe(context)}${describeDoubt(context)}` };
}

/** The subject of mails about an alert, before the name of its domain. */
export function toHeadline(type: string, context: Context): string {
  const sender = findSender(context);
  return sender === undefined ? findAlertText(type).title : `${sender} fails`;
}

/**
 * Whether nobody says so but reports that are not believed, of a domain that has an established reporter: no person is told,
 * it is no next step, and pages show it apart.
 */
export function isUnconfirmed({ unconfirmed }: Context): boolean {
  return unconfirmed === true;
}

/** A firing or a resolution in one sentence. `domain` is a name as people read it. */
export function describeChange(
  { type, context, isResolved }: { type: string; context: Context; isResolved: boolean },
  domain: string,
): string {
  const { title, describe } = findAlertText(type);
  return isResolved
    ? `Resolved: ${title} on ${domain}`
    : `${title} on ${domain}: ${describe(context)}`;
}

function toUnknownText(type: string): AlertText {
  const title = toSafeText(type);
  return { title, describe: describeContext, advice: 'An alert is open: look at it.' };
}

function describeDoubt(context: Context): string {
  if (isUnconfirmed(context))
    return ' Nobody who is established reports it, and anybody can send such a report: no mail tells of it.';
  return context['unauthenticated'] === true
    ? ' Only reports say so whose senders are not authenticated, or new: anybody can send such a mail.'
    : '';
}

function describeRegression(context: Context): string {
  const { day, message_count: messages, failed_count: failed } = context;
  const drop = formatNumber(context['drop_pct']);
  const [prev, curr] = ['prev_pass_rate', 'curr_pass_rate'].map((name) =>
    formatRate(context[name]),
  );
  const fall = `The pass rate fell by ${drop} points, from ${prev} to ${curr}.`;
  const told = [describeCause(context), fall].filter(Boolean).join(' ');
  if (typeof messages !== 'number' || typeof failed !== 'number') return told;
  const when = typeof day === 'string' ? ` on ${formatDay(day)}` : '';
  return `${told} ${formatCount(failed)} of ${pluralize(messages, 'message')} failed${when}.`;
}

function describeMissing(context: Context): string {
  const last = context['last_report_at'];
  const since = typeof last === 'string' ? ` The last one came on ${formatTime(last)}.` : '';
  const average = formatNumber(context['previous_daily_average']);
  return `No report for ${formatNumber(context['hours_since_last_report'])} hours; before, ${average} came on an average day.${since}`;
}

function describeSource(context: Context): string {
  const sources = listSources(context);
  const more = Number(context['additional_sources'] ?? 0);
  const list = sources.map(
    ({ ip, failed_count }) => `${ip} (${formatNumber(failed_count)} failed)`,
  );
  if (more > 0) list.push(`${formatCount(more)} more`);
  const cause = describeCause(context);
  if (cause !== undefined) return `${cause} Sources: ${list.join(', ')}.`;
  return `${formatNumber(context['failed_count'])} of ${formatNumber(context['message_count'])} messages from addresses not seen before failed: ${list.join(', ')}.`;
}

function describeRecord(context: Context): string {
  const record = `The ${context['record_type']} record at ${context['record_name']}`;
  const [before, after] = [context['previous_value'], context['current_value']];
  if (context['change'] === 'added') return `${record} was added: ${after}`;
  if (context['change'] === 'removed') return `${record} was removed. It was: ${before}`;
  return `${record} was changed from ${before} to ${after}`;
}

function describePolicy(context: Context): string {
  const [before, after] = [context['previous_policy'], context['current_policy']];
  return `The policy at ${context['record_name']} went from ${before} to ${after ?? 'absent'}.`;
}

/** The context of a type that this version does not know. */
function describeContext(context: Context): string {
  return Object.entries(context)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ');
}

function formatRate(value: unknown): string {
  return typeof value === 'number' ? formatPercentage(value) : '?';
}

function formatNumber(value: unknown): string {
  return typeof value === 'number' ? formatCount(value) : '?';
}
