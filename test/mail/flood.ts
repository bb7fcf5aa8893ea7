/** Clients that take every place of the SMTP door, and keep it. */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { PART_BYTES } from '../../src/store/inbox/parts.ts';
import { RawSmtp } from '../support/raw-smtp.ts';

const CLIENTS = 1_000;
/** As many as the door takes from one address. */
const PER_ADDRESS = 20;
/** Addresses whose clients send a message, five each at the same time, which never ends. */
const SLOW = { addresses: 7, each: 5 };
const PAUSE_MS = 50;
/** Almost two parts: as much as the door holds of a message. */
const HELD = Buffer.alloc(2 * PART_BYTES - 100, 'x'.repeat(76).concat('\r\n'));

/** All of 127.0.0.0/8 is this machine. */
const connectFrom = (port: number, address: number): Socket =>
  connect({ port, host: '127.0.0.1', localAddress: `127.0.1.${address}` });

/** Connects a thousand clients from fifty addresses at the same time. Returns how many were greeted with 220. */
export async function flood(port: number): Promise<number> {
  const sockets = Array.from({ length: CLIENTS }, (_, i) =>
    connectFrom(port, 100 + Math.floor(i / PER_ADDRESS)),
  );
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const greetings = await Promise.all(sockets.map(readGreeting));
  for (const socket of sockets) socket.destroy();
  return greetings.filter((greeting) => greeting.startsWith('220')).length;
}

/** Empty when the connection is closed without one. */
function readGreeting(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.on('error', () => {});
    socket.once('data', (chunk) => resolve(chunk.toString('latin1')));
    socket.once('close', () => resolve(''));
  });
}

/**
 * Sends messages that do not end, from several addresses, until the test is over: what the door holds in memory, and
 * then one byte after the other.
 */
export async function sendSlowly(port: number, to: string): Promise<void> {
  for (let i = 0; i < SLOW.addresses * SLOW.each; i += 1) {
    const socket = connectFrom(port, 1 + Math.floor(i / SLOW.each));
    onTestFinished(() => {
      socket.destroy();
    });
    await beginMessage(new RawSmtp(socket), to);
    socket.write(HELD);
    void sendBytes(socket);
  }
}

async function beginMessage(client: RawSmtp, to: string): Promise<void> {
  await client.reply();
  await client.ask('EHLO slow.example');
  await client.ask('MAIL FROM:<slow@reporter.example>');
  await client.ask(`RCPT TO:<${to}>`);
  const answer = await client.ask('DATA');
  if (!answer.startsWith('354')) throw new Error(`The server answers ${answer} to DATA.`);
}

/** Each byte is a packet of its own. */
async function sendBytes(socket: Socket): Promise<void> {
  while (!socket.destroyed) {
    socket.write('x');
    await sleep(PAUSE_MS);
  }
}
