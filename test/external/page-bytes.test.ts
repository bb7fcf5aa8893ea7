import { expect, test } from 'vitest';
import { serveApi } from '../support/api.ts';
import { aDomain, anAccount, aReport, receive } from '../support/builders.ts';

/* A page is sent as text, in one of two encodings, or as bytes from memory: the client gets the same. */

async function servePage(orgName: string, pageCacheBytes: number) {
  const { db, get } = await serveApi({ pageCacheBytes });
  const { id, key } = await anAccount(db);
  const domain = await aDomain(db, id);
  await receive(db, [aReport({ domain: domain.name, orgName })]);
  return () => get(`/v1/external/domains/${domain.id}/reports`, { key });
}

test.each(['Reporter', 'Zürich', '漢字 😀', '\u00ff'])(
  'a page with “%s” is the same afresh and from memory, and its length counts bytes',
  async (orgName) => {
    for (const pageCacheBytes of [0, 100_000]) {
      const ask = await servePage(orgName, pageCacheBytes);
      const [first, second] = [await ask(), await ask()];
      expect(first.body.data[0].reporter_org).toBe(orgName);
      expect(second.text).toBe(first.text);
      const byteCount = String(Buffer.byteLength(first.text));
      expect([first, second].map(({ headers }) => headers['content-length'])).toEqual([
        byteCount,
        byteCount,
      ]);
    }
  },
);
