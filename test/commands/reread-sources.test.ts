import { expect, test } from 'vitest';
import { openStore, type Store } from '../../src/store/engine/open.ts';
import { PLAIN, plainWith } from '../support/intake.ts';
import { forgetDetails, ingestOne, readDetails } from '../support/old-details.ts';
import { aProgram } from '../support/program.ts';
import { listMiscounts } from '../support/recount.ts';
import { zip } from '../support/zip.ts';

type Db = Store['db'];

const NEXT_DAY = plainWith('<begin>1767225600</begin>', '<begin>1767312000</begin>');
const LATER = plainWith('2026-0001', 'later');

/** The command, and a database that an older version has written, which kept no details. */
async function anOldDatabase(
  sources: readonly { bytes: string | Uint8Array; receivedAt: string }[],
) {
  const { database, run, json } = aProgram();
  await json('account', 'create', 'A');
  await json('domain', 'add', 'A', 'example.com');
  const look = async <T>(work: (db: Db) => Promise<T>): Promise<T> => {
    const store = await openStore(database);
    try {
      return await work(store.db);
    } finally {
      await store.close();
    }
  };
  const details = await look(async (db) => {
    for (const [i, source] of sources.entries()) await ingestOne(db, `${i}.xml`, source);
    const stored = await readDetails(db);
    await db.write(forgetDetails);
    return stored;
  });
  return { run, json, look, details };
}

const RECEIVED = '2026-03-15T00:00:00Z';

test('reread --sources adds what intake would have stored, and nothing when it runs again', async () => {
  const both = zip([
    { name: 'a.xml', content: PLAIN },
    { name: 'b.xml', content: NEXT_DAY },
  ]);
  const { json, look, details } = await anOldDatabase([
    { bytes: both, receivedAt: RECEIVED },
    { bytes: LATER, receivedAt: RECEIVED },
  ]);
  expect(await look(readDetails)).not.toEqual(details);
  const first = await json('document', 'reread', '--sources');
  expect(first).toEqual({ inputs: 2, reports: 3, unreadable: 0, reports_left: 0 });
  expect(await look(readDetails)).toEqual(details);
  expect(await look(listMiscounts)).toEqual({});
  const again = await json('document', 'reread', '--sources');
  expect(again).toEqual({ inputs: 0, reports: 0, unreadable: 0, reports_left: 0 });
  expect(await look(readDetails)).toEqual(details);
});

test('reread --sources reads what was received since a day, and leaves what it cannot read', async () => {
  const large = `${LATER}${' '.repeat(2 * 1024 * 1024)}`;
  const { json, look, run } = await anOldDatabase([
    { bytes: PLAIN, receivedAt: '2026-03-01T00:00:00Z' },
    { bytes: large, receivedAt: RECEIVED },
  ]);
  await look((db) => db.write((tx) => tx.deleteFrom('source_part').execute()));
  const { status, stdout, stderr } = await run(
    'document reread --sources --since 2026-03-02 --json'.split(' '),
  );
  expect(status).toBe(1);
  expect(stderr).toContain('1.xml: The original of 1.xml was not stored to its end');
  const none = { inputs: 1, reports: 0, unreadable: 1, reports_left: 2 };
  expect(JSON.parse(stdout)).toEqual(none);
  const { status: nextStatus } = await run(['document', 'reread', '--sources']);
  expect(nextStatus).toBe(1);
  const left = await look((db) =>
    db.selectFrom('undetailed_report').select('source_seq').execute(),
  );
  expect(left).toEqual([{ source_seq: 2 }]);
  await expect(json('document', 'reread', '--sources', '--all')).rejects.toThrow();
});
