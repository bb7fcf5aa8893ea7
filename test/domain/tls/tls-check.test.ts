import { expect, test } from 'vitest';
import { UNCHECKED } from '../../../src/domain/dns/daily-check.ts';
import {
  addTlsCheck,
  type TlsCheck,
  type TlsCheckState,
} from '../../../src/domain/tls/tls-check.ts';

const FILE = { mode: 'testing', mx: ['mx1.example.com'], maxAge: 604_800 } as const;
const aCheck = (id: string, policy: object = FILE) =>
  ({
    record: { value: 'v=TLSRPTv1; rua=mailto:a@reports.example.net', findings: [] },
    sts: { id, recordFindings: [], policy, fileFindings: [] },
  }) as TlsCheck;
const [ONE, TWO] = [aCheck('1'), aCheck('2')];
const addAll = (...checks: readonly TlsCheck[]) =>
  checks.reduce<TlsCheckState>((state, check) => addTlsCheck(state, check), UNCHECKED);

test.each<[string, readonly TlsCheck[], TlsCheck | null]>([
  ['one check', [ONE], null],
  ['two that agree', [ONE, ONE], ONE],
  ['another one after them', [ONE, ONE, TWO], ONE],
  ['two others after them', [ONE, ONE, TWO, TWO], TWO],
  ['others that do not agree', [ONE, ONE, TWO, aCheck('3')], ONE],
  ['one that is as it was before', [ONE, ONE, TWO, ONE, TWO], ONE],
])('%s', (_, checks, confirmed) => {
  expect(addAll(...checks).confirmed).toEqual(confirmed);
});

test('what a person asked for counts at once', () => {
  expect(addTlsCheck(addAll(ONE, ONE), TWO, true)).toEqual({ candidate: null, confirmed: TWO });
});

test('a changed file with the id of before is said until the id changes', () => {
  const changed = aCheck('1', { ...FILE, mode: 'enforce' });
  const state = addAll(ONE, ONE, changed, changed);
  expect(state.confirmed?.sts?.recordFindings).toEqual(['id_not_changed']);
  expect(addTlsCheck(state, changed)).toEqual(state);
  const mended = aCheck('2', { ...FILE, mode: 'enforce' });
  expect(addTlsCheck(addTlsCheck(state, mended), mended).confirmed).toEqual(mended);
});
