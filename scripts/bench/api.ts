/**
 * The CPU time of a request, against a bare node:http server that sends the same bytes; on SQLite beside a former release, and
 * beside a server that is written by hand for the comparison (peers/).
 */
import { writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Recorded } from './bare.ts';
import { type Bench, isAlone } from './bench.ts';
import { type Checkout, serve } from './checkout.ts';
import { type Contender, compare, print } from './compare.ts';
import type { Engine } from './engines.ts';
import { checkOutFormer } from './former.ts';
import { CLIENT, checkAnswers, type Load, send, warmUp } from './load.ts';
import { startPeer } from './peer.ts';
import { type Asked, SCENARIOS, type Scenario } from './scenarios.ts';
import { type Server, startServer, toScript } from './servers.ts';

export async function benchApi(bench: Bench): Promise<void> {
  const toName = ({ name }: Scenario) => `api, ${bench.engine.name}: ${name}`;
  const wanted = SCENARIOS.filter((scenario) => bench.isWanted(toName(scenario)));
  if (wanted.length > 0) print(`\nRequests for the API, sent by ${CLIENT}`);
  const isCompared = hasOthers(bench) && wanted.some(({ hasFormer }) => hasFormer);
  const former = isCompared ? checkOutFormer(bench.folder) : undefined;
  for (const scenario of wanted) {
    const goal = scenario.goal === undefined ? '' : ` (goal: at most ${scenario.goal} × bare)`;
    const checkouts = [...bench.checkouts, ...(former && scenario.hasFormer ? [former] : [])];
    await race(bench, { scenario, checkouts }, toName(scenario) + goal);
  }
}

/** Whether this version is measured beside other servers than the bare one. */
const hasOthers = (bench: Bench) => isAlone(bench) && bench.engine.name === 'SQLite';

interface Race {
  readonly scenario: Scenario;
  readonly checkouts: readonly Checkout[];
}

/** A server that answers, and what it is asked. */
interface Asking {
  readonly name: string;
  readonly server: Server;
  readonly load: Load;
}

async function race(bench: Bench, run: Race, title: string): Promise<void> {
  const askings: Asking[] = [];
  try {
    for await (const asking of startAll(bench, run)) {
      askings.push(asking);
      await checkAnswers(asking.server, asking.load);
      await warmUp(asking.server, asking.load);
    }
    await compare(
      title,
      askings.map((asking) => toContender(asking, bench.engine)),
    );
  } finally {
    for (const { server } of askings) await server.stop();
  }
}

async function* startAll(bench: Bench, { scenario, checkouts }: Race): AsyncGenerator<Asking> {
  for (const checkout of checkouts) {
    const filled = await bench.databases.open(checkout, scenario.shape ?? 'domain');
    const server = await serve(checkout, filled.database, scenario.pageCacheMb);
    const asked: Asked = { ...filled, url: server.url };
    const asking = { name: checkout.name, server, load: await scenario.toLoad(asked) };
    const isFirst = checkout === checkouts[0];
    if (isFirst && isAlone(bench)) yield await startBare(asking, bench.folder);
    yield asking;
    if (isFirst && scenario.hasPeer && hasOthers(bench)) {
      const peer = await startPeer(asked);
      if (peer !== undefined) yield await toPeer(peer, scenario, asked);
    }
  }
}

async function toPeer(server: Server, scenario: Scenario, asked: Asked): Promise<Asking> {
  return { name: 'Fastify', server, load: await scenario.toLoad({ ...asked, url: server.url }) };
}

function toContender({ name, server, load }: Asking, engine: Engine): Contender {
  const round = async () => {
    const [before, beside] = [await server.usage(), engine.micros()];
    const sent = await send(server.url, load);
    const { micros, megabytes } = await server.usage();
    return {
      'µs of CPU': (micros - before.micros) / sent,
      'µs of PostgreSQL': (engine.micros() - beside) / sent,
      'MB of memory': megabytes,
    };
  };
  return { name, round };
}

/** A bare server that sends what the product answers to one of the load's requests. */
async function startBare({ server, load }: Asking, folder: string): Promise<Asking> {
  const path = load.paths[Math.floor(load.paths.length / 2)];
  const answer = await record(server.url + path, load.headers);
  // In a file: a variable has at most 128 KiB.
  const env = { BENCH_ANSWER: join(folder, 'answer.json') };
  await writeFile(env.BENCH_ANSWER, JSON.stringify(answer));
  return { name: 'bare node:http', server: await startServer([toScript('bare.ts')], env), load };
}

/** An answer without the headers of the connection. */
async function record(url: string, headers: Load['headers']): Promise<Recorded> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) =>
    get(url, { headers }, resolve).once('error', reject),
  );
  const body = (await buffer(answer)).toString('base64');
  const own = new Set(['connection', 'keep-alive', 'date', 'transfer-encoding']);
  const kept = Object.entries(answer.headers).filter(([name]) => !own.has(name));
  return {
    status: answer.statusCode ?? 0,
    headers: Object.fromEntries(kept) as Record<string, string>,
    body,
  };
}
