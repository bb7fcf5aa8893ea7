import type { AlertType } from '../../src/domain/alerts/registry.ts';

/**
 * What the contract says of a list in prose, for answers that no server has computed: examples, and those of
 * mock servers. Schemas cannot say it.
 */
type Item = Readonly<Record<string, unknown>>;
type Rule = readonly [says: string, holds: (item: Item) => boolean];

export interface ListBody {
  readonly data: readonly Item[];
  readonly total: number;
}

/** The items of a page when the request names neither `limit` nor `offset`. */
const DEFAULT_LIMIT = 50;

/** The rules that a list breaks, in words. */
export function findBroken({ data, total }: ListBody): string[] {
  const first = data[0] ?? {};
  const [, rules] = LISTS.find(([field]) => field in first) ?? ['', []];
  return [
    ...(data.length === Math.min(total, DEFAULT_LIMIT)
      ? []
      : ['data and total contradict each other']),
    ...(new Set(data.map(({ id }, i) => id ?? i)).size === data.length
      ? []
      : ['an id occurs twice']),
    ...(isSorted(data) ? [] : ['the order is not the list’s']),
    ...data.flatMap((item) => listBroken(rules, item)),
    ...data.flatMap(({ context, type }) => findBrokenContext(type, context)),
  ];
}

/** The rules that an alert's context breaks. */
export function findBrokenContext(type: unknown, context: unknown): string[] {
  return listBroken(CONTEXTS[type as AlertType] ?? [], (context ?? {}) as Item);
}

function listBroken(rules: readonly Rule[], item: Item): string[] {
  return rules.filter(([, holds]) => !holds(item)).map(([says]) => says);
}

/** Domains by name; reports and alerts newest first; records with most messages first, sources with most failed. */
function isSorted(data: readonly Item[]): boolean {
  return data.every((item, i) => {
    const before = data[i - 1];
    if (before === undefined) return true;
    // What needs a person first comes first, which the next steps alone do not tell.
    if ('readiness' in item) return true;
    if ('domain' in item) return text(before, 'domain') < text(item, 'domain');
    const [, toOrder] = ORDERS.find(([field]) => field in item) ?? [];
    if (toOrder !== undefined) return toOrder(before) >= toOrder(item);
    const key = ['begin_date', 'day'].find((name) => name in item) ?? 'fired_at';
    return text(before, key) >= text(item, key);
  });
}

/** What is greatest first, by a field that only items of one list have. */
const ORDERS: readonly (readonly [string, (item: Item) => number])[] = [
  ['first_day', failed],
  ['source_ip', (item) => number(item, 'count')],
  ['sending_ip', (item) => number(item, 'failed_sessions')],
];

function failed(item: Item): number {
  return number(item, 'total_messages') - number(item, 'aligned_messages');
}

/** By a field that only items of one list have. */
const LISTS: readonly (readonly [string, readonly Rule[]])[] = [
  ['status', [['only active domains are listed', ({ status }) => status === 'active']]],
  [
    'authenticated',
    [
      [
        'a report begins before it ends',
        (item) => text(item, 'begin_date') <= text(item, 'end_date'),
      ],
    ],
  ],
  [
    'begin_date',
    [
      [
        'no more messages are aligned than there are',
        (item) => number(item, 'aligned_messages') <= number(item, 'total_messages'),
      ],
      [
        'a report begins before it ends',
        (item) => text(item, 'begin_date') <= text(item, 'end_date'),
      ],
    ],
  ],
  [
    'first_day',
    [
      [
        'what passed is aligned by DKIM or SPF',
        (item) =>
          number(item, 'aligned_messages') <= number(item, 'total_messages') &&
          number(item, 'dkim_aligned_messages') <= number(item, 'aligned_messages') &&
          number(item, 'spf_aligned_messages') <= number(item, 'aligned_messages'),
      ],
      ['its days are in order', (item) => text(item, 'first_day') <= text(item, 'last_day')],
    ],
  ],
  [
    'may_change',
    [
      [
        'dispositions are of all messages',
        ({ dispositions, total_messages }) =>
          Object.values(dispositions as object).reduce((sum, count) => sum + count, 0) ===
          total_messages,
      ],
    ],
  ],
  [
    'fired_at',
    [
      [
        'an alert resolves after it fired',
        (item) =>
          item['resolved_at'] === null || text(item, 'resolved_at') >= text(item, 'fired_at'),
      ],
      [
        'only a resolved alert says why',
        ({ resolved_at, context }) =>
          resolved_at !== null || !('resolution' in (context as object)),
      ],
    ],
  ],
];

const FAILED: Rule = [
  'no more messages failed than there are',
  (item) =>
    item['failed_count'] === undefined ||
    number(item, 'failed_count') <= number(item, 'message_count'),
];

const CONTEXTS: Readonly<Record<AlertType, readonly Rule[]>> = {
  'alert.alignment_regression': [
    FAILED,
    ['a drop has its day and its counts', (item) => 'day' in item && 'message_count' in item],
    [
      'the drop is the difference of the rates',
      (item) =>
        isNear(
          number(item, 'prev_pass_rate') - number(item, 'curr_pass_rate'),
          number(item, 'drop_pct'),
        ),
    ],
    ['the drop is at least 10 points', (item) => number(item, 'drop_pct') >= 10],
    [
      'the rate is that of the counts',
      (item) =>
        item['message_count'] === undefined ||
        isNear(
          100 - (100 * number(item, 'failed_count')) / number(item, 'message_count'),
          number(item, 'curr_pass_rate'),
        ),
    ],
  ],
  'alert.reports_missing': [
    ['none came for 72 hours', (item) => number(item, 'hours_since_last_report') >= 72],
  ],
  'alert.new_failing_source': [
    FAILED,
    [
      'the sources add up to the counts',
      (item) =>
        number(item, 'additional_sources') > 0 ||
        (sum(item, 'message_count') === number(item, 'message_count') &&
          sum(item, 'failed_count') === number(item, 'failed_count')),
    ],
    [
      'each source sent 20 messages, of which 90 % failed',
      (item) =>
        (item['sources'] as Item[]).every(
          (source) =>
            number(source, 'message_count') >= 20 &&
            number(source, 'failed_count') >= 0.9 * number(source, 'message_count'),
        ),
    ],
  ],
  'alert.dns_record_changed': [
    [
      'an added record had no value, and a removed one has none',
      ({ change, previous_value, current_value }) =>
        (change === 'added') === (previous_value === null) &&
        (change === 'removed') === (current_value === null),
    ],
  ],
  'alert.sender_failing': [
    FAILED,
    [
      'most of 20 messages or more failed',
      (item) =>
        number(item, 'message_count') >= 20 &&
        2 * number(item, 'failed_count') >= number(item, 'message_count'),
    ],
    [
      'only a signature that is broken has a selector',
      ({ selector, cause }) => selector === null || cause === 'signature_broken',
    ],
  ],
  'alert.tls_failures': [
    [
      'the rate is that of the sessions',
      (item) =>
        Math.round((10_000 * number(item, 'failed_sessions')) / number(item, 'total_sessions')) ===
        Math.round(100 * number(item, 'failure_rate')),
    ],
    [
      'a policy in enforce is enforced',
      ({ enforced, mode }) => mode !== 'enforce' || enforced === true,
    ],
  ],
  'alert.policy_weakened': [
    [
      'the policy is weaker',
      (item) =>
        POLICIES.indexOf(text(item, 'current_policy')) >
        POLICIES.indexOf(text(item, 'previous_policy')),
    ],
  ],
};

const POLICIES = ['reject', 'quarantine', 'none', 'absent'];

function sum(item: Item, key: string): number {
  return (item['sources'] as Item[]).reduce((total, source) => total + number(source, key), 0);
}

/** Each figure is rounded by itself. */
function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) < 0.02;
}

function number(item: Item, key: string): number {
  return item[key] as number;
}

function text(item: Item, key: string): string {
  return String(item[key]);
}
