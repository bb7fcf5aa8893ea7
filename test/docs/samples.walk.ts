import { describe, expect, test } from 'vitest';
import { findDifference } from './compare.ts';
import { listSamplePages, type Program, type SamplePage } from './pages.ts';
import { aReader, choose, NOT_RUN, SERVERS, startServer } from './reader.ts';

/*
 * Every sample of the docs, run against servers of three kinds. The samples of a page are run once for each of its
 * languages, from top to bottom.
 */

const pages = listSamplePages();
/** In turn against a server of each kind; with `ALL_SERVERS=1` each against all. */
const readings = pages
  .flatMap((page) => languagesOf(page).map((language) => ({ page, language })))
  .flatMap((reading, i) => {
    const inTurn = SERVERS.filter((_, server) => server === i % SERVERS.length);
    const servers = process.env['ALL_SERVERS'] === '1' ? SERVERS : inTurn;
    return servers.map((server) => ({ ...reading, server }));
  });
const ran = new Set<Program>();

describe.concurrent.for(readings)('$page.name, read for $language of $server', (reading) => {
  const { page, language, server } = reading;
  test('every sample does what the page says', { timeout: 300_000 }, async (given) => {
    const { expect, onTestFinished } = given;
    const run = await aReader(page, await startServer(server, onTestFinished), onTestFinished);
    for (const step of page.steps) {
      const program = choose(step, language);
      if (program === undefined) continue;
      ran.add(program);
      const { status, stdout, stderr } = await run(program);
      expect(status, `${program.text}\n${stderr}`).toBe(0);
      // curl ends with 0 whatever the answer says.
      if (page.name === 'operations')
        expect(JSON.parse(stdout), program.text).toHaveProperty('data');
      if (step.output !== undefined) expect(findDifference(step.output, stdout)).toBeUndefined();
    }
  });
});

test('no sample was left out', () => {
  const all = pages.flatMap(({ steps }) => steps.flatMap(({ programs }) => programs));
  expect(all.filter((program) => !ran.has(program)).map(({ text }) => text)).toEqual([]);
  expect(all.length).toBeGreaterThan(20);
});

test('the lines that are not run are in the docs', () => {
  const texts = pages
    .flatMap(({ steps }) => steps.flatMap(({ programs }) => programs))
    .map(({ text }) => text);
  const lines = new Set(texts.flatMap((text) => text.split('\n')));
  expect(Object.keys(NOT_RUN).filter((line) => !lines.has(line))).toEqual([]);
});

function languagesOf({ steps }: SamplePage): string[] {
  return [...new Set(steps.flatMap(({ programs }) => programs.map(({ language }) => language)))];
}
