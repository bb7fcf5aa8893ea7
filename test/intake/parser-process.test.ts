import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Parser } from '../../src/intake/parser/parser.ts';
import { createParserProcess } from '../../src/intake/parser/parser-process.ts';
import { toKey } from '../../src/intake/verification/answers.ts';
import { fixture, NOW, PLAIN } from '../support/intake.ts';
import { zip } from '../support/zip.ts';

const GOOD = Buffer.from(PLAIN);
/** Its documents come in several replies. */
const MANY = zip(Array.from({ length: 1_000 }, (_, i) => ({ name: `${i}`, content: PLAIN })));
const WATCHDOG = new URL('../../src/intake/parser/parser-watchdog.ts', import.meta.url).href;

function aParser() {
  const parser = createParserProcess();
  onTestFinished(() => parser.close());
  return parser;
}

/** The outcomes of each input, in order: `report` or the reason of the refusal. */
async function outcomesOf(parser: Parser, inputs: readonly Uint8Array[]): Promise<string[][]> {
  const found: string[][] = inputs.map(() => []);
  for (const [index, bytes] of inputs.entries())
    for await (const document of parser.parse(bytes, { nowMs: NOW }))
      found[index]?.push(document.kind === 'report' ? 'report' : document.refusal.reason);
  return found;
}

/** A report with this many records. */
function aLargeReport(records: number): Buffer {
  const record = /<record>[\s\S]*?<\/record>/.exec(PLAIN)?.[0] ?? '';
  return Buffer.from(PLAIN.replace('</feedback>', `${record.repeat(records)}</feedback>`));
}

/** The CPU time that a process has used, in hundredths of a second. */
function findTicks(pid: number): number {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ').slice(13, 15);
  return Number(user) + Number(system);
}

/** What the start of a child takes, and a small report. */
async function measureStart(): Promise<number> {
  const parser = aParser();
  await outcomesOf(parser, [GOOD]);
  return findTicks(parser.pid as number);
}

/** Waits until a child has used twice the CPU time of its start, so that it is reading. */
async function untilReading(pid: number, startTicks: number): Promise<void> {
  while (findTicks(pid) < 2 * startTicks) await setTimeout(20);
}

describe('a parser process', () => {
  test('gives the same as reading in this process', async () => {
    const inputs = [GOOD, Buffer.from('nothing'), fixture('example-plain.xml'), Buffer.alloc(0)];
    const parser = aParser();
    expect(await outcomesOf(parser, inputs)).toEqual([
      ['report'],
      ['no_report'],
      ['report'],
      ['empty'],
    ]);
  });

  test('checks who sent a mail, and says what it must know of DNS', async () => {
    const mail = Buffer.from('From: a@reporter.example\r\n\r\nx');
    const sent = {
      client: '192.0.2.7',
      sender: 'a@reporter.example',
      helo: '',
      trustedServers: [],
    };
    const given = { ...sent, receivedAt: '2026-03-15T04:12:09Z', spent: 0 };
    const asked = { name: 'reporter.example', type: 'TXT' };
    const parser = aParser();
    const first = await parser.check(mail, { ...given, answers: new Map() });
    expect(first.questions).toEqual([asked]);
    const answers = new Map([[toKey(asked), { records: [['v=spf1 ip4:192.0.2.7 -all']] }]]);
    expect(await parser.check(mail, { ...given, answers })).toMatchObject({
      from: 'a@reporter.example',
      questions: [],
    });
    expect(await outcomesOf(parser, [GOOD])).toEqual([['report']]);
  });

  test('that ends while it checks a mail gives it up: it is not read either', async () => {
    const parser = aParser();
    await outcomesOf(parser, [GOOD]);
    const claim = { client: undefined, sender: '', helo: '', trustedServers: ['a.example'] };
    const given = { ...claim, receivedAt: '2026-03-15T04:12:09Z', spent: 0, answers: new Map() };
    const checking = parser.check(GOOD, given);
    process.kill(parser.pid as number, 'SIGXCPU');
    const nobody = { from: '', signers: [], questions: [] };
    expect(await checking).toEqual({ ...nobody, cost: Number.POSITIVE_INFINITY });
  });

  test('accepts an input that is larger than a pipe holds', async () => {
    expect(await outcomesOf(aParser(), [aLargeReport(3_000), GOOD])).toEqual([
      ['report'],
      ['report'],
    ]);
  });

  test('that ends while it reads its first input: the input is rejected, all others are read', async () => {
    const startTicks = await measureStart();
    const parser = aParser();
    const large = aLargeReport(80_000);
    const reading = outcomesOf(parser, [large]);
    const { pid } = parser;
    await untilReading(pid as number, startTicks);
    process.kill(pid as number, 'SIGKILL');
    expect(await reading).toEqual([['reader_failed']]);
    expect(await outcomesOf(parser, [GOOD, large])).toEqual([['report'], ['report']]);
    expect(parser.pid).not.toBe(pid);
  });

  test('that takes too long: the input is unreadable this time, all others are read', async () => {
    const parser = aParser();
    await outcomesOf(parser, [GOOD]);
    const reading = outcomesOf(parser, [aLargeReport(40_000), GOOD]);
    process.kill(parser.pid as number, 'SIGXCPU');
    expect(await reading).toEqual([['unreadable'], ['report']]);
  });

  test('that ends before it has started: no input is blamed for it, reading is an error', async () => {
    const parser = aParser();
    const reading = outcomesOf(parser, [GOOD]);
    process.kill(parser.pid as number, 'SIGKILL');
    await expect(reading).rejects.toThrow(
      'The process that reads reports does not start: SIGKILL.',
    );
    expect(await outcomesOf(parser, [GOOD])).toEqual([['report']]);
  });

  test('that cannot be created: reading is an error, and closing waits for nothing', async () => {
    const { execPath } = process;
    onTestFinished(() => void Object.assign(process, { execPath }));
    process.execPath = '/nonexistent/node';
    const parser = aParser();
    await expect(outcomesOf(parser, [GOOD])).rejects.toThrow('ENOENT');
    process.execPath = execPath;
    expect(await outcomesOf(parser, [GOOD])).toEqual([['report']]);
  });

  test('that ends after it has read others reads the input again: their memory may be the cause', async () => {
    const parser = aParser();
    await outcomesOf(parser, [GOOD]);
    const reading = outcomesOf(parser, [aLargeReport(20_000)]);
    process.kill(parser.pid as number, 'SIGKILL');
    expect(await reading).toEqual([['report']]);
  });

  test('that ends while it reads one of several inputs reads it again, and all others', async () => {
    const parser = aParser();
    await outcomesOf(parser, [GOOD]);
    const reading = outcomesOf(parser, [aLargeReport(20_000), GOOD, GOOD]);
    process.kill(parser.pid as number, 'SIGKILL');
    expect(await reading).toEqual([['report'], ['report'], ['report']]);
  });

  test('accepts the next request when the one before was cancelled', async () => {
    const parser = aParser();
    for await (const _document of parser.parse(MANY, { nowMs: NOW })) break;
    expect(await outcomesOf(parser, [GOOD])).toEqual([['report']]);
  });
});

describe('the watchdog', () => {
  test.each([
    ['SIGXCPU', 'an endless loop', 'watchdog.start(200, 0); for (;;) {}'],
    [
      'SIGKILL',
      'memory outside the heap',
      'watchdog.start(60_000, 0); setInterval(() => kept.push(Buffer.alloc(20e6, 1)), 5);',
    ],
  ])('ends with %s a process that has %s', async (signal, _what, code) => {
    const child = spawn(process.execPath, [
      '--no-warnings',
      '--input-type=module',
      '-e',
      `import { startWatchdog } from '${WATCHDOG}';
       const kept = [];
       const watchdog = startWatchdog();
       watchdog.thread.once('online', () => { ${code} });`,
    ]);
    expect(await once(child, 'exit')).toEqual([null, signal]);
  });
});
