import { addSafely } from '../safe-sum.ts';
import { formatCount, formatDay, pluralize } from '../text.ts';

/* Who an alert is about, in the words of pages, mails and next steps. */

export type Context = Readonly<Record<string, unknown>>;

/** One sentence that names who sends what fails; undefined while that is not known. */
export function describeCause(context: Context): string | undefined {
  const { day, cause } = context;
  if (typeof day === 'string' && isContext(cause)) return describeChange(cause, formatDay(day));
  const most = findMost(context);
  if (most === undefined) return undefined;
  const { failed_count: failed, message_count: messages } = context;
  const who = `${most.who}${most.more === 0 ? '' : ` and ${pluralize(most.more, 'more source')}`}`;
  return `${who} sent ${pluralize(Number(messages), 'message')} from addresses not seen before, of which ${formatCount(Number(failed))} failed.`;
}

/** The service or the address that an alert names first. */
export function findSender(context: Context): string | undefined {
  const { cause } = context;
  if (isContext(cause)) return String(cause['sender']);
  const most = findMost(context);
  return most?.isService ? most.who : undefined;
}

/** The sources in the context of a new failing source. */
export function listSources({ sources }: Context): readonly Context[] {
  return Array.isArray(sources) ? (sources as Context[]) : [];
}

function isContext(value: unknown): value is Context {
  return typeof value === 'object' && value !== null;
}

function describeChange(cause: Context, day: string): string {
  const { sender, selector, signing_domain: domain, message_count, failed_count } = cause;
  if (typeof domain === 'string') {
    const key = typeof selector === 'string' ? ` (selector ${selector})` : '';
    return `${sender} stopped signing correctly on ${day}${key}: compare its key.`;
  }
  return `Most of what has failed since ${day} is from ${sender}: ${formatCount(Number(failed_count))} of ${pluralize(Number(message_count), 'message')} failed.`;
}

/** The service, or the address without one, of most failed messages; and how many sources are not its own. */
function findMost(context: Context) {
  const sources = listSources(context);
  const failed = new Map<unknown, number>();
  for (const { service, ip, failed_count } of sources) {
    const sender = service ?? ip;
    failed.set(sender, addSafely(failed.get(sender) ?? 0, Number(failed_count)));
  }
  const [most] = [...failed].sort(([, a], [, b]) => b - a);
  if (most === undefined) return undefined;
  const others = sources.filter(({ service, ip }) => (service ?? ip) !== most[0]);
  const more = others.length + Number(context['additional_sources'] ?? 0);
  const isService = sources.some(({ service }) => service === most[0]);
  return { who: String(most[0]), isService, more };
}
