import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { NOTHING, REFUSAL_TEXTS } from '../domain/reports/refusal.ts';

/*
 * What a process counts. Labels are bounded: operations, doors (folders by their kind), channels, jobs; never paths, domains or accounts.
 * None is called `instance`, which Prometheus gives itself, and `job` only that of `plumbline_job_failing`: there it becomes `exported_job`.
 */

const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const DOCUMENT_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400];
const JOB_SECONDS = [0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600];

export interface SeenRequest {
  /** The contract's operation id, or the part of the service that answered. */
  readonly operation: string;
  readonly status: number;
  readonly sandbox?: true | undefined;
  readonly seconds: number;
  /** The limit that a request with status 429 met. */
  readonly limit?: string | undefined;
}

export interface SeenDocument {
  readonly door: string;
  readonly outcome: string;
  /** Why it is no report. */
  readonly reason?: string | undefined;
  /** The time from the arrival of its mail until it was stored. */
  readonly seconds: number;
}

const DOORS = ['smtp', 'imap', 'folder', 'upload'];
/** What becomes of documents that are not rejected. */
const TAKEN = ['stored', 'unclaimed', 'duplicate', 'conflict', 'removed'];

/** Counts 0 for each combination of labels: `increase()` does not see the event with which a series begins. */
function begin(counter: Counter, labels: Readonly<Record<string, readonly string[]>>): void {
  let sets: Record<string, string>[] = [{}];
  for (const [name, values] of Object.entries(labels))
    sets = sets.flatMap((set) => values.map((value) => ({ ...set, [name]: value })));
  for (const set of sets) counter.inc(set, 0);
}

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const common = { registers: [registry] };
  collectDefaultMetrics({ register: registry });
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter<L>({ ...common, name, help, labelNames });
  const seconds = <L extends string>(
    name: string,
    help: string,
    options: { readonly labelNames: readonly L[]; readonly buckets: number[] },
  ) => new Histogram<L>({ ...common, ...options, name, help });

  const requests = counter('plumbline_http_requests_total', 'Answered requests.', [
    'operation',
    'status',
    'sandbox',
  ]);
  const answers = seconds('plumbline_http_request_duration_seconds', 'How long answers took.', {
    labelNames: ['operation', 'sandbox'],
    buckets: REQUEST_SECONDS,
  });
  const limited = counter('plumbline_http_rate_limited_total', 'Requests over a limit.', ['limit']);
  const documents = counter('plumbline_documents_total', 'Documents that came by a door.', [
    'door',
    'outcome',
    'reason',
  ]);
  const delays = seconds(
    'plumbline_document_duration_seconds',
    'From the arrival of a mail or file until its document was stored.',
    { labelNames: ['door'], buckets: DOCUMENT_SECONDS },
  );
  const evaluations = counter('plumbline_evaluations_total', 'Domains with alerts evaluated.', []);
  const changes = counter('plumbline_alert_changes_total', 'Alerts that changed.', ['change']);
  const deliveries = counter('plumbline_deliveries_total', 'Tries to deliver an event.', [
    'channel',
    'outcome',
  ]);
  const jobs = seconds('plumbline_job_duration_seconds', 'How long jobs took.', {
    labelNames: ['name'],
    buckets: JOB_SECONDS,
  });

  begin(limited, { limit: ['ip', 'key', 'settings'] });
  begin(changes, { change: ['fired', 'resolved'] });
  begin(deliveries, {
    channel: ['webhook', 'mail'],
    outcome: ['delivered', 'failed', 'refused', 'postponed'],
  });
  begin(documents, { door: DOORS, outcome: TAKEN, reason: [''] });
  begin(documents, { door: DOORS, outcome: ['ignored'], reason: [...NOTHING] });
  begin(documents, { door: DOORS, outcome: ['rejected'], reason: Object.keys(REFUSAL_TEXTS) });

  return {
    registry,
    /** Of these operations, and of parts of the service that answer. */
    beginRequests: (operation: readonly string[]) =>
      begin(requests, { operation, status: ['200', '500', '503'] }),
    /** A label that is left out makes no series of its own: those of the service are as if there were no sandbox. */
    observeRequest: ({ operation, status, sandbox, seconds, limit }: SeenRequest) => {
      const where = { operation, ...(sandbox && { sandbox: 'yes' }) };
      requests.inc({ ...where, status });
      answers.observe(where, seconds);
      if (limit !== undefined) limited.inc({ limit });
    },
    /** What is asked for at each scrape. */
    watch: (name: string, help: string, read: () => number) => {
      const collect = function (this: Gauge) {
        this.set(read());
      };
      new Gauge({ ...common, name, help, collect });
    },
    observeDocument: ({ door, outcome, reason = '', seconds }: SeenDocument) => {
      documents.inc({ door, outcome, reason });
      delays.observe({ door }, seconds);
    },
    observeEvaluation: (done: { domains: number; fired: number; resolved: number }) => {
      evaluations.inc(done.domains);
      changes.inc({ change: 'fired' }, done.fired);
      changes.inc({ change: 'resolved' }, done.resolved);
    },
    observeDelivery: (channel: string, outcome: string) => deliveries.inc({ channel, outcome }),
    observeJob: (name: string, took: number) => jobs.observe({ name }, took),
  };
}
