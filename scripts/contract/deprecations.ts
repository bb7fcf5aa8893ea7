import type { DeclaredOperation } from '../../src/external/contract-document.ts';

/** The shortest time from the announcement of a deprecation to its sunset (v1.yaml, Versions). */
const MIN_MONTHS = 6;
/** Mock servers send every header that is declared. So only a deprecated operation declares `Deprecation` and `Sunset`. */
const STATUSES = ['200', '304'];

/** What an operation lacks for the headers that announce its end; undefined when it has all of it, or none. */
export function findDeprecationFault(
  operation: Omit<DeclaredOperation, 'parameters'>,
): string | undefined {
  const { responses, deprecated, 'x-deprecated-at': from, 'x-sunset': to } = operation;
  if (![deprecated, from, to].some(Boolean)) return undefined;
  const [since, sunset] = [parseDay(from), parseDay(to)];
  if (!deprecated || since === undefined || sunset === undefined)
    return 'needs deprecated: true, and days for x-deprecated-at and x-sunset';
  if (sunset < addMonths(since, MIN_MONTHS))
    return `has its x-sunset less than ${MIN_MONTHS} months after x-deprecated-at`;
  const isDeclared = STATUSES.every((status) => {
    const { headers = {} } = responses[status] ?? {};
    return 'Deprecation' in headers && 'Sunset' in headers;
  });
  return isDeclared ? undefined : 'needs the headers Deprecation and Sunset in its 200 and its 304';
}

/** A day that the calendar has; JavaScript takes 30 February for 2 March. */
function parseDay(day: unknown): Date | undefined {
  if (typeof day !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(day)) return undefined;
  const date = new Date(`${day}T00:00:00Z`);
  const isReal = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
  return isReal ? date : undefined;
}

function addMonths(date: Date, months: number): Date {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, date.getUTCDate()));
}
