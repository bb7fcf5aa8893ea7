import { beforeAll, describe, expect, test } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { aBareAccount, aDomain, UNKNOWN_ID } from '../support/builders.ts';
import { aSignedIn, type Browser } from '../support/visitor.ts';

/** What forms about sources and domains need; others leave it out of account. */
const FORM = { subject: 'scattered', mark: 'unknown', sends_no_mail: 'yes' };

let api: Api;
let browser: Browser;
let domainId: string;

beforeAll(async () => {
  api = await startApi();
  const accountId = await aBareAccount(api.db);
  ({ browser } = await aSignedIn(api, accountId));
  ({ id: domainId } = await aDomain(api.db, accountId));
  return api.close;
});

/** PostgreSQL compares an id with nothing else, and instants and days with nothing that is none. */
describe.each(['x', UNKNOWN_ID, `${UNKNOWN_ID}0`, `{${UNKNOWN_ID}}`, '%00', '%F0%9F%99%83'])(
  'the id “%s” is not found',
  (id) => {
    test.each([
      ...[`domains/${id}`, `domains/${id}/sources`, `domains/${id}/sources/192.0.2.1`],
      ...[`domains/${id}/reports`, `domains/${id}/reports/${UNKNOWN_ID}`],
      ...[`integrations/api-keys/${id}/delete`, `integrations/webhooks/${id}`],
    ])('GET %s', async (path) => {
      expect((await browser.get(`/settings/${path}`)).status).toBe(404);
    });

    test.each([
      ...[`domains/${id}/check`, `domains/${id}/sources/mark`, `domains/${id}/sends-no-mail`],
      ...[`integrations/api-keys/${id}/enable`, `integrations/api-keys/${id}/delete`],
      ...[`integrations/webhooks/${id}/test`, `integrations/webhooks/${id}/delete`],
      ...[`people/${id}/link`, `people/${id}/withdraw`, `people/${id}/enable`],
      ...[`people/${id}/disable`, `people/${id}/sign-out`, `security/sessions/${id}`],
    ])('POST %s', async (path) => {
      expect((await browser.post(`/settings/${path}`, FORM)).status).toBe(404);
    });

    test('as that of a report', async () => {
      const path = `/settings/domains/${domainId}/reports/${id}`;
      expect((await browser.get(path)).status).toBe(404);
      expect((await browser.get(`${path}/original`)).status).toBe(404);
    });
  },
);

test.each([
  ...['0000-01-01', '2026-02-30', '9999-12-31', '2026-13-01', '-271821-04-20', '2026-03-01\0'],
])('the day %j gives a page', async (day) => {
  const text = encodeURIComponent(day);
  for (const path of [
    `audit?from=${text}&until=${text}`,
    `domains/${domainId}/reports?from=${text}&to=${text}`,
    `domains/${domainId}/reports?older=${text}T00:00:00Z-1`,
    `domains/${domainId}/reports?newer=${text}T23:59:60Z-1`,
  ])
    expect([path, (await browser.get(`/settings/${path}`)).status]).toEqual([path, 200]);
});
