import { type RawBuilder, sql } from 'kysely';
import { expect, test } from 'vitest';
import { type Doubt, toBelief, toTrust } from '../../src/domain/reports/authentication.ts';
import { BELIEF, IS_DOUBTFUL, IS_NEW, IS_UNPROVEN } from '../../src/store/days/belief.ts';
import { IS_REPEATED } from '../../src/store/reports/document-list.ts';
import { aStore, IS_POSTGRES } from '../support/store.ts';

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

const DOUBTS = { unproven: true, new: true, disputed: true } satisfies Record<Doubt, true>;

test.each([null, ...(Object.keys(DOUBTS) as Doubt[])])(
  'queries say of %j what the rule says',
  async (doubt) => {
    const { db } = await aStore();
    const said = sql<Record<string, unknown>>`select ${BELIEF} as belief,
      case when ${IS_UNPROVEN} then 0 when ${IS_NEW} then 1 else 2 end as trust,
      case when ${IS_DOUBTFUL} then 1 else 0 end as doubtful
      from (select cast(${doubt} as text) as doubt) as report`;
    const [trust, belief] = [toTrust(doubt), toBelief(doubt)];
    expect((await db.write((tx) => said.execute(tx))).rows).toEqual([
      { belief, trust, doubtful: trust < 2 ? 1 : 0 },
    ]);
  },
);
