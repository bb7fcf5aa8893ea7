import { expect, onTestFinished, test, vi } from 'vitest';
import { serveApi } from '../support/api.ts';
import { aBareAccount, aDomain } from '../support/builders.ts';
import { aVisitor } from '../support/visitor.ts';

test('a person can look at 300 lists and pages of sources in fifteen minutes', async () => {
  // The clock stands still, so that the window is a whole one at its end on a machine of any speed.
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const api = await serveApi();
  const accountId = await aBareAccount(api.db);
  const { id } = await aDomain(api.db, accountId);
  const [{ browser: eager }, { browser }] = [
    await aVisitor(api, accountId),
    await aVisitor(api, accountId),
  ];
  const list = `/settings/domains/${id}/sources`;
  const none = '/settings/domains/none/sources';
  for (let i = 0; i < 150; i += 1) {
    const answers = await Promise.all([eager.get(none), eager.get(`${none}/192.0.2.1`)]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  }
  for (const place of [list, `${list}/192.0.2.1`]) {
    const { status, headers } = await eager.get(place);
    expect([status, headers['retry-after']]).toEqual([429, '900']);
    expect((await browser.get(place)).status).toBe(200);
  }
});
