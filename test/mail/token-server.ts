import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
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
  });
  return { url: `${await listen(server)}/introspect`, valid, asked };
}

/** Gives a token for a form, as an OAuth server does (RFC 6749, section 4.4). Returns its URL. */
export async function aTokenProvider(
  answer: (form: Readonly<Record<string, string>>) => object,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer(form)));
  });
  return `${await listen(server)}/token`;
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
