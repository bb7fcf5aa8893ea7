import { setImmediate as yieldToRequests } from 'node:timers/promises';
import { sql } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { remember } from '../../domain/remember.ts';
import { findContent } from '../../domain/reports/report-content.ts';
import { findPolicies } from '../../domain/reports/tls-content.ts';
import { type Param, prepareQuery, type Value } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import type { Store } from '../engine/store.ts';
import type { Tables } from '../tables.ts';

/*
 * All that an account has, as a tree of tables. Secrets are left out (sessions, links, second factors, and the columns
 * `without`), and what follows from the rest: days, and the order of changes.
 */

type ExportedRow = Readonly<Record<string, Value>>;

interface Node {
  readonly table: keyof Tables & string;
  /** Its column that names the row above. */
  readonly of: string;
  /** Distinguishes and orders the rows of one `of`; an index has them. */
  readonly key: readonly string[];
  readonly without?: readonly string[];
  /** The tables below, each with the column of this row that its rows name. */
  readonly below?: readonly (readonly [column: string, node: Node])[];
}

function node(
  [table, of, ...key]: readonly [table: Node['table'], of: string, ...key: string[]],
  more: Pick<Node, 'without' | 'below'> = {},
): Node {
  return { table, of, key, ...more };
}

const DOCUMENT = node(['document', 'seq', 'seq'], {
  below: [['seq', node(['document_part', 'document_seq', 'part'])]],
});

const CONFLICT = node(['conflict', 'report_id', 'seq'], { below: [['document_seq', DOCUMENT]] });

const REPORT = node(['report', 'domain_seq', 'begin_date', 'seq'], {
  below: [
    ['document_seq', DOCUMENT],
    ['id', CONFLICT],
  ],
});

const WEBHOOK = node(['webhook', 'id', 'id'], { without: ['sealed_secret', 'old_sealed_secret'] });

const OF_ACCOUNT: readonly Node[] = [
  node(['api_key', 'account_id', 'id'], { without: ['sha256'] }),
  node(['person', 'account_id', 'id'], {
    without: ['password_hash'],
    below: [
      ['id', node(['person_mail', 'person_id', 'person_id'], { without: ['link_key'] })],
      ['id', node(['mail_left_out', 'person_id', 'domain_id'])],
    ],
  }),
  node(['receiver', 'account_id', 'id'], { below: [['id', WEBHOOK]] }),
  node(['domain_proposal', 'account_id', 'name']),
  node(['audit', 'account_id', 'seq']),
  node(['reporter', 'account_id', 'name']),
  node(['alert', 'account_id', 'fired_at', 'seq']),
  node(['event', 'account_id', 'seq'], {
    below: [['seq', node(['delivery', 'event_seq', 'receiver_id'])]],
  }),
  node(['inbox_mail', 'account_id', 'seq'], {
    // They tell domains that another account has from those that nobody has.
    without: ['counts', 'outcomes'],
    below: [['id', node(['inbox_part', 'mail_id', 'part'])]],
  }),
  node(['domain', 'account_id', 'id'], {
    below: [
      ['id', node(['dns_record', 'domain_id', 'record_type'])],
      ['id', node(['source_name', 'domain_id', 'address'])],
      ['id', node(['source_mark', 'domain_id', 'subject'])],
      ['seq', REPORT],
    ],
  }),
];

const ACCOUNT = node(['account', 'id', 'id'], { below: OF_ACCOUNT.map((one) => ['id', one]) });

export const FIRST_LINE = JSON.stringify({ export: 'plumbline account', version: 1 });
/** An export that does not end with it was cut off. */
export const toLastLine = (rows: number) => JSON.stringify({ end: true, rows });

/** Some rows have a mebibyte. */
const ROWS_AT_ONCE = 10;

/** Reads everything in one snapshot, and writes each row as a line of JSON. Returns the number of rows. */
export function exportAccount(reader: Reader, accountId: string, write: (line: string) => void) {
  return reader.readPlan(() => exportRows(ACCOUNT, accountId, write));
}

const CHARS_AT_ONCE = 64 * 1024;

/** The same as `exportLines`, beside the requests. */
export function exportBeside({ aside }: Pick<Store, 'aside'>, accountId: string) {
  return aside.iterate(import.meta.url, exportLines, accountId);
}

/**
 * The whole export in pieces of lines, a few rows at a time while a client takes them. No snapshot is held for a slow
 * client: what changes meanwhile may be in it or not. Throws `not_found` when the account has gone before its end.
 */
export async function* exportLines(
  reader: Reader,
  accountId: string,
  charsAtOnce = CHARS_AT_ONCE,
): AsyncGenerator<string> {
  let lines = `${FIRST_LINE}\n`;
  const add = (line: string) => {
    lines += `${line}\n`;
  };
  const plan = exportRows(ACCOUNT, accountId, add);
  let step = plan.next([]);
  while (!step.done) {
    if (lines.length > charsAtOnce) {
      yield lines;
      lines = '';
    }
    await yieldToRequests();
    step = plan.next(await Promise.all(step.value.map((query) => reader.readAll(query))));
  }
  const account = await reader.readAll(pagesOf(ACCOUNT).first({ of: accountId }));
  if (account.length === 0) throw new Failure('not_found', 'The account was deleted meanwhile.');
  yield `${lines}${toLastLine(step.value)}\n`;
}

function* exportRows(node: Node, of: Value, write: (line: string) => void): Plan<number> {
  const pages = pagesOf(node);
  let count = 0;
  let rows = yield* ask(pages.first({ of }));
  while (rows.length > 0) {
    for (const row of rows) {
      write(JSON.stringify({ table: node.table, ...toJson(node, row) }));
      count += 1;
      for (const [column, below] of node.below ?? [])
        count += yield* exportRows(below, row[column] ?? null, write);
    }
    const last = rows.at(-1) as ExportedRow;
    rows = rows.length < ROWS_AT_ONCE ? [] : yield* ask(pages.next({ of, ...last }));
  }
  return count;
}

const pagesOf = remember(preparePages);

function preparePages({ table, of, key }: Node) {
  const keys = sql.join(key.map((column) => sql.ref(column)));
  const prepare = (isNext: boolean) =>
    prepareQuery((db, param: Param<Readonly<Record<string, Value>>>) => {
      const after = sql.join(key.map((column) => sql`${param(column)}`));
      const next = isNext ? sql`and (${keys}) > (${after})` : sql``;
      const rows = sql<ExportedRow>`(select * from ${sql.table(table)} where ${sql.ref(of)} = ${param('of')}
        ${next} order by ${keys} limit ${sql.lit(ROWS_AT_ONCE)})`;
      return db.selectFrom(rows.as('page')).selectAll();
    });
  return { first: prepare(false), next: prepare(true) };
}

function toJson({ table, without = [] }: Node, row: ExportedRow): object {
  const columns = Object.entries(row).filter(([name]) => !without.includes(name));
  return Object.fromEntries(
    columns.map(([name, value]) => {
      if (!(value instanceof Uint8Array)) return [name, value];
      const isRecords = name === 'content' && (table === 'report' || table === 'conflict');
      // Damaged content is given as it is.
      return [
        name,
        (isRecords && (findContent(value) ?? findPolicies(value))) ||
          Buffer.from(value).toString('base64'),
      ];
    }),
  );
}
