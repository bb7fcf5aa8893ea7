import { setImmediate as yieldToRequests } from 'node:timers/promises';
import { sql } from 'kysely';
import { Failure } from '../../domain/failure.ts';
import { unpackContent } from '../../domain/reports/report-content.ts';
import { type Param, prepareQuery, type Value } from '../engine/prepared.ts';
import { ask, type Plan, type Reader } from '../engine/reader.ts';
import type { Store } from '../engine/store.ts';
import type { Tables } from '../tables.ts';

/*
 * All that an account has, as a tree of tables. Left out are secrets, which are of use here only (sessions, links, second
 * factors, and the columns `without`), and what follows from the rest: days, and the order of changes.
 */

type Table = keyof Tables & string;
type Row = Readonly<Record<string, Value>>;

interface Node {
  readonly table: Table;
  /** Its column that names the row above. */
  readonly of: string;
  /** Distinguishes and orders the rows of one `of`; an index has them. */
  readonly key: readonly string[];
  readonly without?: readonly string[];
  /** With the column of this row that they name. */
  readonly below?: readonly (readonly [column: string, node: Node])[];
}

const DOCUMENT: Node = {
  ...{ table: 'document', of: 'seq', key: ['seq'] },
  below: [['seq', { table: 'document_part', of: 'document_seq', key: ['part'] }]],
};

const CONFLICT: Node = {
  ...{ table: 'conflict', of: 'report_id', key: ['seq'] },
  below: [['document_seq', DOCUMENT]],
};

const REPORT: Node = {
  ...{ table: 'report', of: 'domain_id', key: ['begin_date', 'seq'] },
  below: [
    ['document_seq', DOCUMENT],
    ['id', CONFLICT],
  ],
};

const OF_ACCOUNT: readonly Node[] = [
  { table: 'api_key', of: 'account_id', key: ['id'], without: ['sha256'] },
  {
    ...{ table: 'person', of: 'account_id', key: ['id'], without: ['password_hash'] },
    below: [
      ['id', { table: 'person_mail', of: 'person_id', key: ['person_id'], without: ['link_key'] }],
      ['id', { table: 'mail_left_out', of: 'person_id', key: ['domain_id'] }],
    ],
  },
  {
    ...{ table: 'receiver', of: 'account_id', key: ['id'] },
    below: [
      [
        'id',
        {
          ...{ table: 'webhook', of: 'id', key: ['id'] },
          without: ['sealed_secret', 'old_sealed_secret'],
        },
      ],
    ],
  },
  { table: 'domain_proposal', of: 'account_id', key: ['name'] },
  { table: 'audit', of: 'account_id', key: ['seq'] },
  { table: 'alert', of: 'account_id', key: ['fired_at', 'seq'] },
  {
    ...{ table: 'event', of: 'account_id', key: ['seq'] },
    below: [['seq', { table: 'delivery', of: 'event_seq', key: ['receiver_id'] }]],
  },
  {
    ...{ table: 'inbox_mail', of: 'account_id', key: ['seq'] },
    below: [['id', { table: 'inbox_part', of: 'mail_id', key: ['part'] }]],
  },
  {
    ...{ table: 'domain', of: 'account_id', key: ['id'] },
    below: [
      ['id', { table: 'dns_record', of: 'domain_id', key: ['record_type'] }],
      ['id', { table: 'source_name', of: 'domain_id', key: ['address'] }],
      ['id', { table: 'source_mark', of: 'domain_id', key: ['address'] }],
      ['id', REPORT],
    ],
  },
];

const ACCOUNT: Node = {
  ...{ table: 'account', of: 'id', key: ['id'] },
  below: OF_ACCOUNT.map((node) => ['id', node]),
};

export const FIRST_LINE = JSON.stringify({ export: 'plumbline account', version: 1 });
/** Without it, the export was cut off. */
export const toLastLine = (rows: number) => JSON.stringify({ end: true, rows });

/** Some have a mebibyte. */
const ROWS_AT_ONCE = 10;

/** Reads everything in one snapshot, and writes each row as a line of JSON. Returns the number of rows. */
export function exportAccount(
  reader: Reader,
  accountId: string,
  write: (line: string) => void,
): Promise<number> {
  return reader.readPlan(() => exportRows(ACCOUNT, accountId, write));
}

const CHARS_AT_ONCE = 64 * 1024;

/** The same as `exportLines`, beside the requests. */
export function exportBeside(
  { aside }: Pick<Store, 'aside'>,
  accountId: string,
): AsyncGenerator<string> {
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
    const last = rows.at(-1) as Row;
    rows = rows.length < ROWS_AT_ONCE ? [] : yield* ask(pages.next({ of, ...last }));
  }
  return count;
}

const known = new Map<Node, ReturnType<typeof preparePages>>();

function pagesOf(node: Node) {
  const pages = known.get(node) ?? preparePages(node);
  known.set(node, pages);
  return pages;
}

type PageParams = Readonly<Record<string, Value>>;

function preparePages({ table, of, key }: Node) {
  const keys = sql.join(key.map((column) => sql.ref(column)));
  const prepare = (isNext: boolean) =>
    prepareQuery((db, param: Param<PageParams>) => {
      const after = sql.join(key.map((column) => sql`${param(column)}`));
      const next = isNext ? sql`and (${keys}) > (${after})` : sql``;
      const rows = sql<Row>`(select * from ${sql.table(table)} where ${sql.ref(of)} = ${param('of')}
        ${next} order by ${keys} limit ${sql.lit(ROWS_AT_ONCE)})`;
      return db.selectFrom(rows.as('page')).selectAll();
    });
  return { first: prepare(false), next: prepare(true) };
}

function toJson({ table, without = [] }: Node, row: Row): object {
  const columns = Object.entries(row).filter(([name]) => !without.includes(name));
  return Object.fromEntries(
    columns.map(([name, value]) => {
      if (!(value instanceof Uint8Array)) return [name, value];
      const isRecords = name === 'content' && (table === 'report' || table === 'conflict');
      return [name, (isRecords && findContent(value)) || Buffer.from(value).toString('base64')];
    }),
  );
}

/** What is damaged is given as it is. */
function findContent(bytes: Uint8Array): object | undefined {
  try {
    return unpackContent(bytes);
  } catch {
    return undefined;
  }
}
