import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { aCertificate } from '../support/certificate.ts';
import { aFolder } from '../support/command.ts';
import { PATIENCE_MS } from '../support/every-suite.ts';

const FILES = new URL('../../docs/operate/', import.meta.url);
const HOST = 'dmarc.example.com';

export interface RunningProxy {
  readonly port: number;
  readonly send: (path: string, options?: Sent) => Promise<Answer>;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The client's own address, of this machine. */
  readonly from?: string;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** nginx with the file of docs/operate, in front of servers on these ports, until the test ends. */
export async function runNginx(ports: readonly number[]): Promise<RunningProxy> {
  const { folder, cert, key, port } = await prepare();
  const site = readFileSync(new URL('nginx.conf', FILES), 'utf8')
    .replace(/server 127.0.0.1:8080(.*);/, (_line, rest) =>
      ports.map((one) => `server 127.0.0.1:${one}${rest};`).join(' '),
    )
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/ssl/certs/dmarc.example.com.pem', cert)
    .replace('/etc/ssl/private/dmarc.example.com.pem', key);
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder};`)
    .join(' ');
  const file = join(folder, 'nginx.conf');
  await writeFile(
    file,
    `daemon off; pid ${folder}/pid; error_log stderr; events {}\nhttp { access_log off; ${places}\n${site}}`,
  );
  return start('nginx', ['-c', file, '-e', 'stderr'], port);
}

/** Caddy with the file of docs/operate for one server or two, and a certificate that exists already. */
export async function runCaddy(ports: readonly number[]): Promise<RunningProxy> {
  const { folder, cert, key, port } = await prepare();
  const site = readFileSync(
    new URL(ports.length === 1 ? 'Caddyfile' : 'Caddyfile.two', FILES),
    'utf8',
  )
    .replace('127.0.0.1:8080', `127.0.0.1:${ports[0]}`)
    .replace('127.0.0.1:8081', `127.0.0.1:${ports[1]}`)
    .replace(`${HOST} {`, `https://${HOST}:${port} {\n\ttls ${cert} ${key}`);
  const file = join(folder, 'Caddyfile');
  await writeFile(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
  return start('caddy', ['run', '--adapter', 'caddyfile', '--config', file], port);
}

async function prepare() {
  const folder = await aFolder();
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const certificate = aCertificate(HOST);
  await writeFile(cert, certificate.cert);
  await writeFile(key, certificate.key);
  return { folder, cert, key, port: await findFreePort() };
}

export function findFreePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

async function start(
  program: string,
  args: readonly string[],
  port: number,
): Promise<RunningProxy> {
  // Caddy keeps its last configuration there.
  const env = { ...process.env, XDG_CONFIG_HOME: await aFolder() };
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  let printed = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.once('error', (error) => {
    printed += error.message;
  });
  onTestFinished(async () => {
    if (child.pid === undefined) return;
    child.kill('SIGTERM');
    await ended;
  });
  const send = (path: string, options: Sent = {}) => sendOnce(port, path, options);
  await vi.waitFor(
    () => send('/healthz').catch((error) => Promise.reject(new Error(`${error}: ${printed}`))),
    { timeout: PATIENCE_MS, interval: 100 },
  );
  return { port, send };
}

function sendOnce(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body = '', from }: Sent,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const target = { host: '127.0.0.1', port, path, method, localAddress: from };
    const sent = request(
      {
        ...target,
        headers: { Host: HOST, ...headers },
        servername: HOST,
        rejectUnauthorized: false,
        agent: false,
      },
      (res) => {
        res.resume().once('end', () => resolve({ status: res.statusCode, headers: res.headers }));
      },
    );
    sent.once('error', reject).end(body);
  });
}
