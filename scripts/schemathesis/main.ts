/**
 * Schemathesis against live servers, from openapi/v1.yaml: `npm run schemathesis`, with `schemathesis` on the
 * PATH (test/schemathesis/requirements.txt). `-- --seed 7` tries other cases than CI does; other arguments
 * are passed to it. The variable SCHEMATHESIS_CASES says how many cases there are at least.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type ServedPlumbline, servePlumbline, serveSandbox } from '../served-plumbline.ts';
import { addOtherAccount, writeKeys } from './accounts.ts';
import { type Ran, runSchemathesis } from './run.ts';

const NO_LIMITS = {
  PLUMBLINE_REQUESTS_PER_KEY: '1000000000',
  PLUMBLINE_REQUESTS_PER_IP: '1000000000',
};
const MOST_CHAIN_RUNS = 8;
/**
 * The same cases in every run of CI, so that a failure is caused by a change. Each run of chains has the next
 * seed.
 */
const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' } },
  strict: false,
});
const seed = Number(values.seed);
const wantedCases = Number(process.env['SCHEMATHESIS_CASES'] ?? 10_000);
/** Of the single requests, Schemathesis makes as many cases as it is told; chains give the rest. */
const chainedCases = Math.ceil(wantedCases * 0.66);
const maxExamples = Math.ceil(wantedCases * 0.12);

const isOnPostgres = process.env['SERVED_POSTGRES'] !== undefined;

const folder = await mkdtemp(join(tmpdir(), 'plumbline-schemathesis-'));
try {
  const runs = [...(await fuzzSandbox()), await fuzzTwoAccounts()];
  if (!isOnPostgres) runs.push(await fuzzWithLimits());
  const cases = sumCases(runs);
  const failed = runs.filter(({ isPassed }) => !isPassed).length;
  process.stdout.write(
    `\nSchemathesis: ${cases} test cases in ${runs.length} runs, ${failed} failed\n`,
  );
  const isEnough = cases >= wantedCases;
  if (!isEnough) process.stdout.write(`✗ fewer test cases than ${wantedCases}\n`);
  process.exitCode = failed === 0 && isEnough ? 0 : 1;
} finally {
  await rm(folder, { recursive: true });
}

/**
 * Single requests and chains of requests at the same time, because Schemathesis uses one core. The sandbox is in memory: on
 * PostgreSQL the demo takes its place, and what is refused before a database is asked is not tried again.
 */
async function fuzzSandbox(): Promise<Ran[]> {
  const sandbox = await (isOnPostgres
    ? servePlumbline(['demo'], NO_LIMITS)
    : serveSandbox(NO_LIMITS));
  const phases = isOnPostgres ? 'examples,fuzzing' : 'examples,coverage,fuzzing';
  const run = { name: 'requests', phases, maxExamples, seed };
  const ran = await whileServed(sandbox, () =>
    Promise.all([runSchemathesis({ ...sandbox, folder, ...run }), fuzzChains(sandbox)]),
  );
  return ran.flat();
}

/**
 * Requests whose parameters come from earlier answers, by the contract's links. Schemathesis ends such a run
 * early, as passed, when a chain cannot be repeated exactly. So it runs as often as necessary.
 */
async function fuzzChains(sandbox: ServedPlumbline): Promise<Ran[]> {
  const runs: Ran[] = [];
  while (sumCases(runs) < chainedCases && runs.length < MOST_CHAIN_RUNS) {
    const run = { name: `chains ${runs.length + 1}`, phases: 'stateful' };
    const of = { maxExamples: Math.min(500, chainedCases), seed: seed + runs.length };
    runs.push(await runSchemathesis({ ...sandbox, folder, ...run, ...of }));
  }
  return runs;
}

/** No request succeeds without a key, and no key reads another account's data. */
async function fuzzTwoAccounts(): Promise<Ran> {
  const demo = await servePlumbline(['demo'], NO_LIMITS);
  return await whileServed(demo, async () => {
    const other = await addOtherAccount({ PLUMBLINE_DATABASE: demo.database as string });
    const keys = join(folder, 'keys.json');
    await writeKeys(keys, { demo: demo.key, other });
    const run = { name: 'two accounts', config: 'two-accounts.toml', maxExamples: 100, seed };
    return await runSchemathesis({ ...demo, folder, ...run, keys });
  });
}

/** Nearly all answers are a 429, for the key and then for the address. The contract has those too. */
async function fuzzWithLimits(): Promise<Ran> {
  const limits = { PLUMBLINE_REQUESTS_PER_KEY: '5', PLUMBLINE_REQUESTS_PER_IP: '50' };
  const sandbox = await serveSandbox(limits);
  const run = { name: 'limits', config: 'limits.toml', phases: 'fuzzing' };
  const ran = await whileServed(sandbox, () =>
    runSchemathesis({ ...sandbox, folder, ...run, maxExamples: 100, seed }),
  );
  const isLimited = ran.rateLimited.length > 0;
  if (!isLimited) process.stdout.write('✗ limits: no operation was limited\n');
  return { ...ran, isPassed: ran.isPassed && isLimited };
}

function sumCases(runs: readonly Ran[]): number {
  return runs.reduce((sum, { cases }) => sum + cases, 0);
}

async function whileServed<T>({ stop }: ServedPlumbline, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await stop();
  }
}
