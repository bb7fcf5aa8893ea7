/** The baseline: a bare node:http server that sends the same bytes as the product. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Recorded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** In base64. */
  readonly body: string;
}

const answer = readFileSync(process.env['BENCH_ANSWER'] ?? '', 'utf8');
const { status, headers, body }: Recorded = JSON.parse(answer);
const bytes = Buffer.from(body, 'base64');
const server = createServer((_req, res) => res.writeHead(status, headers).end(bytes));
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
