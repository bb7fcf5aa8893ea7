import { type RawBuilder, sql } from 'kysely';
import { expect, test } from 'vitest';
import { IS_DOUBTFUL, IS_NEW, IS_REPEATED } from '../../../src/store/reports/index-conditions.ts';
import { aStore, IS_POSTGRES } from '../../support/store.ts';

test.skipIf(IS_POSTGRES).each([
  ['report_new', IS_NEW],
  ['report_stranger', IS_DOUBTFUL],
  ['report_repeated', IS_REPEATED],
] as const)('the condition of %s is the text that queries have', async (name, condition) => {
  const { db } = await aStore();
  const index = await db.write(async (tx) => {
    const found = sql<{ sql: string }>`select sql from sqlite_master where name = ${name}`;
    return { text: toText(condition, tx), ...(await found.execute(tx)).rows[0] };
  });
  expect(index.sql?.split(' where ')[1]).toBe(index.text);
});

const toText = (condition: RawBuilder<boolean>, tx: Parameters<typeof condition.compile>[0]) =>
  condition.compile(tx).sql;
