/** Follows the feed with the packed client and prints its copy after each page; or verifies the delivery that it is given. */
import { connect, follow, verifyWebhook } from 'plumbline-client';

const { PLUMBLINE_BASE_URL, PLUMBLINE_API_KEY, CURSOR, DELIVERY } = process.env;
const copy = { domain: new Map(), report: new Map(), alert: new Map() };
let cleared = 0;

function remove(kind, which) {
  for (const [id, item] of copy[kind])
    if ('id' in which ? id === which.id : item.domain_id === which.domain_id) copy[kind].delete(id);
}

function print() {
  const ids = Object.entries(copy).map(([kind, items]) => [kind, [...items.keys()]]);
  process.stdout.write(`${JSON.stringify({ cleared, ...Object.fromEntries(ids) })}\n`);
}

if (DELIVERY === undefined)
  await follow(
    connect(PLUMBLINE_BASE_URL, PLUMBLINE_API_KEY),
    {
      put: (kind, item) => {
        if (kind === 'report' && !Array.isArray(item.records)) throw new Error('no records');
        copy[kind].set(item.id, item);
      },
      delete: remove,
      save: print,
      clear: () => {
        cleared += 1;
        for (const items of Object.values(copy)) items.clear();
      },
    },
    { cursor: CURSOR, everyMs: 200, include: 'records' },
  );
else {
  const { secret, headers, body } = JSON.parse(DELIVERY);
  const { type } = verifyWebhook(secret, headers, body);
  verifyWebhook(secret, new Headers(headers), Buffer.from(body));
  process.stdout.write(`${JSON.stringify({ type })}\n`);
}
