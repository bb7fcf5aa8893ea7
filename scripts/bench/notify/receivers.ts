/** Receivers in a process of their own, which tells the types of the alerts that the quick one gets. */
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

export interface Ports {
  readonly quick: number;
  /** Hangs, answers a byte a second, answers 10 GB. */
  readonly bad: readonly number[];
  /** Stalls at DATA. */
  readonly mail: number;
}

async function listen(answer: RequestListener): Promise<number> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return (server.address() as AddressInfo).port;
}

const quick = await listen(async (req, res) => {
  const { data } = JSON.parse(await text(req));
  process.send?.(data.type);
  res.writeHead(204).end();
});

function writeBytes(res: ServerResponse): void {
  const timer = setInterval(() => res.write('x'), 1_000);
  res.once('close', () => clearInterval(timer));
}

function writeEndless(res: ServerResponse): void {
  let left = 10e9;
  const more = () => {
    while (!res.destroyed && left > 0) {
      left -= 65_536;
      if (!res.write(Buffer.alloc(65_536, 120))) return void res.once('drain', more);
    }
  };
  more();
}

const bad = [
  await listen(() => {}),
  await listen((_req, res) => writeBytes(res)),
  await listen((_req, res) => writeEndless(res)),
];
const smtp = new SMTPServer({
  ...{ authOptional: true, disabledCommands: ['STARTTLS'] },
  onData: (stream) => void stream.resume(),
});
smtp.on('error', () => {});
const server = smtp.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const { port: mail } = server.address() as AddressInfo;
process.send?.({ quick, bad, mail } satisfies Ports);
