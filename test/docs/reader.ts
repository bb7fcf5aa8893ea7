import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { OnTestFinishedHandler } from 'vitest';
import { servePlumbline } from '../../scripts/served-plumbline.ts';
import { SANDBOX_DOMAIN_IDS, SANDBOX_KEY } from '../../src/domain/sandbox.ts';
import { finish, type Ran } from '../support/command.ts';
import type { Program, SamplePage, Step } from './pages.ts';

/** The server's address in the pages. */
const SHOWN_URL = 'http://127.0.0.1:8080';
/** Where a partner of the guide about webhooks listens. */
const SHOWN_RECEIVER = 'http://127.0.0.1:3000';

/** Readers run concurrently, so each cleans up in its own test. */
type Finish = (clear: OnTestFinishedHandler) => void;

/** Lines that are not run here, and why. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  'PLUMBLINE_WEBHOOK_ALLOW=127.0.0.1 plumbline demo':
    'it runs until it is stopped: test/commands/webhook.test.ts has an allowed network',
};

/** The program of a step for a reader of one language; shell programs are for every reader. */
export function choose({ programs }: Step, language: string): Program | undefined {
  return (
    programs.find((program) => program.language === language) ??
    programs.find((program) => program.language === 'sh')
  );
}

/** A reader who runs the samples of a page from top to bottom, in a folder and a shell of their own. */
export async function aReader(page: SamplePage, url: string, onTestFinished: Finish) {
  const folder = await mkdtemp(join(tmpdir(), 'plumbline-reader-'));
  const state = await mkdtemp(join(tmpdir(), 'plumbline-shell-'));
  onTestFinished(async () => {
    for (const path of [folder, state]) await rm(path, { recursive: true });
  });
  const variables = join(state, 'variables');
  const receiver = await startReceiver(onTestFinished);
  await writeFile(variables, page.isPrepared ? prepare(url) : '');

  /** Runs one program with the variables of the programs before it. */
  return async function run({ language, text, file, args }: Program): Promise<Ran> {
    const adapted = withoutUnrun(text)
      .replaceAll(SHOWN_URL, url)
      .replaceAll(SHOWN_RECEIVER, receiver);
    const name = file ?? (language === 'python' ? 'sample.py' : 'sample.mjs');
    const script = language === 'sh' ? adapted : `${RUNNERS[language]} ${name} ${args.join(' ')}`;
    if (language !== 'sh') await writeFile(join(folder, name), adapted);
    // Variables stay defined after a block, as in the reader's terminal.
    const shell = `. "${variables}"\n${script}\nexport -p > "${variables}"`;
    const child = spawn('bash', ['-eo', 'pipefail', '-c', shell], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: state },
      timeout: 250_000,
    });
    child.stdin.end();
    return await finish(child);
  };
}

const RUNNERS: Readonly<Record<string, string>> = { js: 'node', python: 'python3' };

function prepare(url: string): string {
  return `export PLUMBLINE_BASE_URL=${url}/sandbox PLUMBLINE_API_KEY=${SANDBOX_KEY} KEY=${SANDBOX_KEY}
export DOMAIN_ID=${SANDBOX_DOMAIN_IDS['example.com']}
export REPORT_ID=$(curl -s -H "Authorization: Bearer $KEY" "${url}/sandbox/v1/external/domains/$DOMAIN_ID/reports?limit=1" |
  sed -E 's/.*"id":"([^"]+)".*/\\1/')
`;
}

function withoutUnrun(text: string): string {
  const lines = text.split('\n').filter((line) => NOT_RUN[line] === undefined);
  return lines.join('\n');
}

/** Each of them has a sandbox: a server of it alone, the demo, and a service in which nobody has an account. */
export const SERVERS = ['serve --sandbox', 'demo', 'serve'] as const;

/** A server on a free port. Each reader has one, so that readers do not share limits. */
export async function startServer(
  command: (typeof SERVERS)[number],
  onTestFinished: Finish,
): Promise<string> {
  const environment = { PLUMBLINE_DATABASE: ':memory:' };
  const { url, stop } = await servePlumbline(command.split(' '), environment);
  onTestFinished(stop);
  await untilSandbox(url);
  return url;
}

/**
 * On a busy machine the sandbox's data takes longer than a request waits. The address is another one than the reader's, whose
 * limits count nothing of this.
 */
async function untilSandbox(url: string): Promise<void> {
  const asked = get(`${url}/sandbox/v1/external/domains`, { localAddress: '127.0.0.2' });
  const [answer] = await once(asked, 'response');
  answer.resume();
  if (answer.statusCode !== 503) return;
  await setTimeout(200);
  await untilSandbox(url);
}

/** A partner's, with the secret of the guide: the library of Standard Webhooks says what it accepts. */
async function startReceiver(onTestFinished: Finish): Promise<string> {
  const verifier = new Webhook('whsec_cGx1bWJsaW5lIHBsdW1ibGluZSBwbHVtYmxpbmUgISE=');
  const server = createServer(async (req, res) => {
    const body = await readText(req);
    try {
      verifier.verify(body, req.headers as Record<string, string>);
      res.writeHead(204).end();
    } catch {
      res.writeHead(401).end();
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
