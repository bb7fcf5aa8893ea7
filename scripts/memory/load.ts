import { addDays } from '../../src/domain/instant.ts';
import type { Filled } from './database.ts';

const [SHORTEST, LONGEST] = [30, 365];

/** One client, which asks for other ranges all the time: none is in memory. */
export async function askForSources(url: string, filled: Filled, requests: number): Promise<void> {
  const { domainIds, key, newest } = filled;
  const headers = { authorization: `Bearer ${key}` };
  for (let i = 0; i < requests; i++) {
    const days = SHORTEST + ((i * 61) % (LONGEST - SHORTEST + 1));
    const until = addDays(newest, -((i * 17) % (LONGEST - days + 1)));
    const query = new URLSearchParams({ from: addDays(until, 1 - days), until, limit: '200' });
    const path = `/v1/external/domains/${domainIds[i % domainIds.length]}/sources?${query}`;
    const answer = await fetch(url + path, { headers });
    const { data } = (await answer.json()) as { readonly data?: readonly unknown[] };
    if (!data?.length) throw new Error(`${path} answered ${answer.status} without sources.`);
  }
}
