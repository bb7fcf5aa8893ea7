import { setTimeout as sleep } from 'node:timers/promises';

interface Pages {
  readonly urls: readonly string[];
  readonly key: string;
  readonly domainId: string;
  readonly total: number;
}

export interface Measured {
  /** Milliseconds of each answer. */
  readonly times: number[];
  readonly errors: string[];
}

const CLIENTS = 4;
const PAUSE_MS = 20;

/** Pages at random places of a list, one after another on a few connections, until a time. */
export async function readPages(pages: Pages, until: number): Promise<Measured> {
  const { urls, key, domainId, total } = pages;
  const measured: Measured = { times: [], errors: [] };
  const headers = { Authorization: `Bearer ${key}` };
  const client = async (index: number) => {
    const url = urls[index % urls.length] as string;
    while (Date.now() < until) {
      const offset = Math.floor(Math.random() * total);
      const path = `/v1/external/domains/${domainId}/reports?offset=${offset}`;
      await measure(measured, url + path, headers);
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
  return measured;
}

/** Whether each server is ready, five times a second. */
export async function pollReadiness(urls: readonly string[], until: number): Promise<Measured> {
  const measured: Measured = { times: [], errors: [] };
  while (Date.now() < until) {
    await Promise.all(urls.map((url) => measure(measured, `${url}/readyz`, {})));
    await sleep(200);
  }
  return measured;
}

async function measure(
  { times, errors }: Measured,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const startedAt = performance.now();
  const response = await fetch(url, { headers });
  await response.arrayBuffer();
  times.push(performance.now() - startedAt);
  if (response.status !== 200) errors.push(`${response.status} ${new URL(url).pathname}`);
}

export function percentile(times: readonly number[], percent: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}
