import type { Polled } from '../beside/poll.ts';

export interface Seen {
  readonly server: string;
  readonly key: string;
  readonly domainIds: readonly string[];
}

export interface Page {
  readonly total: number;
  readonly data: readonly { readonly id: string; readonly begin_date: string }[];
}

const LIMIT = 100;
/** Where pages begin, as shares of a list. */
const SHARES = [0, 0.2, 0.45, 0.5, 0.55, 0.8, 0.999];

export const toUrl = ({ server }: Seen, domainId: string, query: string) =>
  `${server}/v1/external/domains/${domainId}/reports?${query}`;

export async function readJson({ key }: Seen, url: string): Promise<[Page, Headers]> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`);
  return [(await answer.json()) as Page, answer.headers];
}

/**
 * Pages of all lists, as they are now. Newest come first and only the oldest reports go, so a page is what it was, or less
 * at its end: every later answer is compared.
 */
export async function recordPages(seen: Seen) {
  const counts = { compared: 0, shorter: 0 };
  const requests: Polled[] = [];
  for (const share of SHARES)
    for (const domainId of seen.domainIds) {
      const [{ total }] = await readJson(seen, toUrl(seen, domainId, 'limit=1'));
      const offset = Math.floor(total * share);
      const url = toUrl(seen, domainId, `limit=${LIMIT}&offset=${offset}`);
      const [{ data }] = await readJson(seen, url);
      const check = (body: string) => {
        const page = JSON.parse(body) as Page;
        const wanted = data.slice(0, Math.max(0, page.total - offset));
        if (page.total > total || JSON.stringify(page.data) !== JSON.stringify(wanted))
          throw new Error(`${url} is wrong: ${body.slice(0, 500)}`);
        counts.compared += 1;
        if (wanted.length < data.length) counts.shorter += 1;
      };
      const headers = { authorization: `Bearer ${seen.key}` };
      requests.push({ url, headers, status: 200, check });
    }
  return { requests, counts };
}
