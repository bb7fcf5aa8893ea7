import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DAY_MS, later } from '../../src/domain/instant.ts';
import { readJudgedOnce } from '../../src/judging/judged.ts';
import { updateMark } from '../../src/store/days/marks.ts';
import { updateNames } from '../../src/store/days/names.ts';
import { aBareAccount, aDomain, aRecord, aReportOf, NOW, receive } from '../support/builders.ts';
import { caseCount } from '../support/counts.ts';
import { readsOf } from '../support/day-sources.ts';
import { openTestStore } from '../support/store.ts';

const RANGE = { from: '2026-03-01', to: '2026-03-14' };
const NAME = 'example.com';
const ADDRESSES = ['192.0.2.1', '198.51.100.7', '2001:db8::1'];
/** The last of them is another one of the owner's as soon as the account has it. */
const OTHERS = ['mail.stranger.example', 'sister.example'];

const KINDS = ['report', 'mark', 'name', 'sister', 'day', 'nothing'] as const;
const step = fc.record({
  kind: fc.constantFrom(...KINDS),
  address: fc.constantFrom(...ADDRESSES),
  which: fc.nat(2),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function aJudgedDomain() {
  const store = await openTestStore();
  const { db, aside, reader } = store;
  const accountId = await aBareAccount(db);
  const { id: domainId } = await aDomain(db, accountId, { name: NAME });
  let [now, sisters] = [NOW, 0];
  const steps: Record<Step['kind'], (address: string, which: number) => unknown> = {
    report: (sourceIp, which) => {
      const spfDomain = OTHERS[which];
      const record = aRecord({ sourceIp, count: 50, ...(spfDomain && { spfDomain }) });
      const of = { domain: NAME, begin: '2026-03-10T00:00:00Z' };
      return receive(db, [aReportOf([record], of)]);
    },
    mark: (subject, which) => {
      const by = { name: 'you@example.com', accountId, address: null, at: NOW };
      const mark = ([null, 'legitimate', 'unknown'] as const)[which] ?? null;
      return updateMark(db, { domainId, subject, mark }, by);
    },
    name: (address, which) => {
      const name = OTHERS[which] ?? null;
      const names = [{ address, name, expiresAt: later(NOW, DAY_MS) }];
      return updateNames(db, { domainId, now }, names);
    },
    sister: () => ++sisters === 1 && aDomain(db, accountId, { name: OTHERS[1] }),
    day: () => {
      now = later(now, DAY_MS);
    },
    nothing: () => {},
  };
  const take = async ({ kind, address, which }: Step) => await steps[kind](address, which);
  const read = (of: typeof reader) =>
    readJudgedOnce(
      { reader: of, days: readsOf({ db, aside }), now: () => new Date(now) },
      { scope: { accountId, domainId }, name: NAME, range: RANGE },
    );
  const readKept = () => read(reader);
  return { take, readKept, readAfresh: () => read({ ...reader }), close: store.close };
}

test('who sent is judged again after whatever changes by which it is, and only then', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      const { take, readKept, readAfresh, close } = await aJudgedDomain();
      for (const one of steps) {
        const before = await readKept();
        await take(one);
        const kept = await readKept();
        expect(kept).toEqual(await readAfresh());
        if (one.kind === 'nothing') expect(kept).toBe(before);
      }
      await close();
    }),
    { numRuns: caseCount({ few: 8, full: 60 }) },
  );
});
