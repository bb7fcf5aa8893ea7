import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Tells Dovecot whose an access token is, as an OAuth server does (RFC 7662), and counts what it is asked. */
export async function aTokenServer(user: string) {
  const valid = new Set<string>();
  const asked: string[] = [];
  const server = createServer(({ headers }, response) => {
    const token = headers.authorization?.replace(/^Bearer /, '') ?? '';
    asked.push(token);
    const answer = valid.has(token) ? { active: true, email: user } : { active: false };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/introspect`, valid, asked };
}
