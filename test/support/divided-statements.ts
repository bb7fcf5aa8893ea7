import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, inject } from 'vitest';

/* A setup file: notes which statements a run on a cluster asks of the tables that are divided (citus-cluster.ts lists them). */

/** What reads or changes reports and conflicts, but not what makes, empties or describes tables. */
const OF_DIVIDED =
  /^(?:select|with|insert|update|delete|\().*\b(?:report|conflict|every_shard)\b/is;

const seen = new Set<string>();

const { query } = pg.Client.prototype;
if (!('isWatched' in query)) {
  const watched = function (this: pg.Client, ...asked: never[]) {
    const [first] = asked as unknown as [string | { readonly text?: string }];
    const text = typeof first === 'string' ? first : (first.text ?? '');
    if (OF_DIVIDED.test(text)) seen.add(toShape(text));
    return (query as (...asked: never[]) => unknown).apply(this, asked);
  };
  pg.Client.prototype.query = Object.assign(watched, { isWatched: true }) as never;
}

/** One line, and one text for all lengths of a list. */
function toShape(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\$\d+/g, '$')
    .replaceAll(/(\$(?:::\w+)?(?:, )?){2,}/g, '$, …')
    .replaceAll(/(\([^()]*\$[^()]*\))(?:, \1)+/g, '$1, …');
}

afterAll(() => {
  const lines = [...seen].map((line) => `${line}\n`);
  appendFileSync(join(inject('noted'), `${process.pid}.txt`), lines.join(''));
  seen.clear();
});
