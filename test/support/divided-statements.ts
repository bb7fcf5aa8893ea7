import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresQueryCompiler } from 'kysely';
import { afterAll, expect, inject } from 'vitest';
import { NOT_ON_CITUS } from '../postgres/suites.ts';
import { IS_CITUS } from './citus-databases.ts';

/*
 * A setup file: which statements the product asks of the tables that are divided. A run on a cluster notes them
 * (citus-cluster.ts lists them); a run on one PostgreSQL server compares their texts on a cluster with that list.
 */

/** What reads or changes reports and conflicts, but not what makes, empties or describes tables. */
const OF_DIVIDED = /^(?:select|with|insert|update|delete|\().*\b(?:report|conflict)\b/is;

type Compile = PostgresQueryCompiler['compileQuery'];
type Compiler = { new (division: { readonly isDivided: true }): PostgresQueryCompiler };
type Watched = Compile & { readonly seen?: Set<string> };

const compiler: { compileQuery: Watched } = PostgresQueryCompiler.prototype;
// This module is loaded again for each suite.
const seen = compiler.compileQuery.seen ?? watch(compiler.compileQuery);

function watch(compile: Compile): Set<string> {
  const found = new Set<string>();
  const watched: Compile = function (this: PostgresQueryCompiler, ...given) {
    const divided = new (this.constructor as unknown as Compiler)({ isDivided: true });
    const { sql } = compile.apply(divided, given);
    if (OF_DIVIDED.test(sql) && isOfProduct()) found.add(toShape(sql));
    return compile.apply(this, given);
  };
  compiler.compileQuery = Object.assign(watched, { seen: found });
  return found;
}

const ROOT = new URL('../../', import.meta.url).pathname;

/** Whether the innermost function that is not of a package is of `src`: tests make statements of their own. */
function isOfProduct(): boolean {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 30;
  const { stack = '' } = new Error();
  Error.stackTraceLimit = limit;
  const places = stack.split('\n').map((line) => line.split(ROOT)[1] ?? '');
  const own = places.find((place) => /^(?:src|scripts|test)\/(?!support\/divided)/.test(place));
  return own?.startsWith('src/') === true;
}

/** One line, and one text for all lengths of a list. */
function toShape(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\$\d+/g, '$')
    .replaceAll(/(\$(?:::\w+)?(?:, )?){2,}/g, '$, …')
    .replaceAll(/(\([^()]*\$[^()]*\))(?:, \1)+/g, '$1, …');
}

/** A list of one is a list. */
const toKey = (line: string) => line.replaceAll(', …', '');

const toLines = (name: string) =>
  readFileSync(new URL(`../citus/${name}`, import.meta.url), 'utf8').split('\n');

afterAll(() => {
  const lines = [...seen];
  seen.clear();
  const { testPath = '' } = expect.getState();
  if (NOT_ON_CITUS.some((name) => testPath.endsWith(name))) return;
  if (IS_CITUS) return appendFileSync(join(inject('noted'), `${process.pid}.txt`), toText(lines));
  const known = new Set(['statements.txt', 'one-server.txt'].flatMap(toLines).map(toKey));
  const unknown = lines.filter((line) => !known.has(toKey(line)));
  if (unknown.length > 0) throw new Error(`${TO_DO}\n${toText(unknown)}`);
});

const TO_DO = `These statements of reports or conflicts were never run on a cluster of Citus. Run
"CITUS_BIN=… npm run test:citus" with the suite (docs/develop.md), which adds them to test/citus/statements.txt. What a cluster is
asked in another way (\`isDivided\`) is a line of test/citus/one-server.txt:`;

const toText = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');
