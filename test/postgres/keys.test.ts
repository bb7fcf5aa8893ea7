import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/store/engine/open.ts';
import { aReport, receive } from '../support/builders.ts';
import { runOn } from '../support/postgres-stores.ts';
import { aDatabase } from '../support/store.ts';

test('conflicts refer to their report', async () => {
  const url = await aDatabase();
  const { db, close } = await openStore(url);
  await receive(
    db,
    ['a', 'b'].map((payload) => aReport({ reportId: 'one', payload })),
  );
  await close();
  await expect(runOn(url, 'delete from report where seq = 1')).rejects.toThrow(/conflict_report/);
});

test.each(['report', 'conflict'] as const)(
  'a number of a %s that was given before is an error: nothing is lost',
  async (table) => {
    const url = await aDatabase();
    const store = await openStore(url);
    onTestFinished(() => store.close());
    const { db } = store;
    const aConflict = (payload: string) => aReport({ reportId: 'one', payload });
    expect(await receive(db, ['a', 'b'].map(aConflict))).toEqual(['unclaimed', 'conflict']);
    await runOn(url, `select setval(pg_get_serial_sequence('${table}', 'seq'), 1, false)`);
    const next = table === 'report' ? aReport({ reportId: 'two' }) : aConflict('c');
    await expect(receive(db, [next])).rejects.toThrow(/no result|its number exists/);
    await runOn(url, `select setval(pg_get_serial_sequence('${table}', 'seq'), 9)`);
    expect(await receive(db, [next])).toEqual([table === 'report' ? 'unclaimed' : 'conflict']);
  },
);
