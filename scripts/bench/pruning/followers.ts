import { type Page, readJson, type Seen, toUrl } from './pages.ts';

const LIMIT = 200;

/**
 * Makes copies of a list by its cursors, one after the other, until it is over, and then one more, which is compared with
 * the list itself. Throws when an item comes twice.
 */
export async function follow(seen: Seen, domainId: string, isOver: () => boolean) {
  const latencies: number[] = [];
  let copies = 0;
  let copy = new Set<string>();
  for (let isLast = false; !isLast; copies += 1) {
    isLast = isOver();
    copy = await makeCopy(seen, domainId, latencies);
  }
  const list = await readList(seen, domainId);
  const missing = list.filter((id) => !copy.has(id));
  if (missing.length > 0 || copy.size !== list.length)
    throw new Error(`A copy has ${copy.size} of ${list.length}, and lacks ${missing.length}.`);
  return { latencies, copies };
}

async function makeCopy(seen: Seen, domainId: string, latencies: number[]): Promise<Set<string>> {
  const copy = new Set<string>();
  for (let cursor: string | null = 'start'; ; ) {
    const from = performance.now();
    const url = toUrl(seen, domainId, `limit=${LIMIT}&received_after=${cursor}`);
    const [{ data, total }, headers]: [Page, Headers] = await readJson(seen, url);
    latencies.push(performance.now() - from);
    for (const { id } of data) {
      if (copy.has(id)) throw new Error(`A follower met ${id} twice.`);
      copy.add(id);
    }
    cursor = headers.get('plumbline-cursor');
    if (total <= data.length) return copy;
  }
}

async function readList(seen: Seen, domainId: string): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const query = `limit=${LIMIT}&offset=${ids.length}`;
    const [{ data }] = await readJson(seen, toUrl(seen, domainId, query));
    if (data.length === 0) return ids;
    ids.push(...data.map(({ id }) => id));
  }
}
