import { z } from 'zod';

/** The shortest time from the announcement of a deprecation to its sunset (decision 1.16). */
const MIN_MONTHS = 6;
const DAY = z.iso.date().transform((day) => new Date(day));

/** The contract's fields for a deprecation: all three, or none. */
interface Operation {
  readonly operationId?: string;
  readonly responses?: Readonly<Record<string, object>>;
  readonly deprecated?: boolean;
  readonly 'x-deprecated-at'?: unknown;
  readonly 'x-sunset'?: unknown;
}
type Paths = Readonly<Record<string, { readonly get?: Operation } | undefined>>;

/**
 * The headers of deprecated operations, by operationId: `Deprecation` (RFC 9745, a structured date) and
 * `Sunset` (RFC 8594, an HTTP-date). Throws when an operation has only some of the fields, or does not declare
 * the two headers.
 */
export function toDeprecations(paths: Paths): ReadonlyMap<string, readonly string[]> {
  const operations = Object.values(paths).flatMap((path) => path?.get ?? []);
  const marked = operations.filter((operation) =>
    [operation.deprecated, operation['x-deprecated-at'], operation['x-sunset']].some(Boolean),
  );
  return new Map(marked.map((operation) => [operation.operationId ?? '', toHeaders(operation)]));
}

function toHeaders(operation: Operation): readonly string[] {
  const since = DAY.safeParse(operation['x-deprecated-at']).data;
  const sunset = DAY.safeParse(operation['x-sunset']).data;
  if (!operation.deprecated || since === undefined || sunset === undefined) {
    throw toError(operation, 'needs deprecated: true, and days for x-deprecated-at and x-sunset');
  }
  if (sunset < addMonths(since, MIN_MONTHS)) {
    throw toError(
      operation,
      `has its x-sunset less than ${MIN_MONTHS} months after x-deprecated-at`,
    );
  }
  if (!STATUSES.every((status) => declaresHeaders(operation, status))) {
    throw toError(operation, 'needs the headers Deprecation and Sunset in its 200 and its 304');
  }
  return ['Deprecation', `@${since.getTime() / 1000}`, 'Sunset', sunset.toUTCString()];
}

const STATUSES = ['200', '304'];

/** Mock servers send every header that is declared. So only a deprecated operation declares these. */
function declaresHeaders({ responses = {} }: Operation, status: string): boolean {
  const { headers = {} } = (responses[status] ?? {}) as { headers?: object };
  return 'Deprecation' in headers && 'Sunset' in headers;
}

function addMonths(date: Date, months: number): Date {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months, date.getUTCDate()));
}

function toError({ operationId }: Operation, wrong: string): Error {
  return new Error(`The operation ${operationId} of the contract ${wrong}.`);
}
