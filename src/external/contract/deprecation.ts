/** The shortest time from the announcement of a deprecation to its sunset (decision 1.16). */
const MIN_MONTHS = 6;

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
  const since = parseDay(operation['x-deprecated-at']);
  const sunset = parseDay(operation['x-sunset']);
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

function toError({ operationId }: Operation, wrong: string): Error {
  return new Error(`The operation ${operationId} of the contract ${wrong}.`);
}
