import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { createTransport } from 'nodemailer';
import { describe, expect, onTestFinished, test } from 'vitest';
import { aCertificate } from '../../support/certificate.ts';
import { aFolder } from '../../support/command.ts';
import { aRawSmtp, aTransaction, RawSmtp } from '../../support/raw-smtp.ts';
import { ADDRESS, anSmtpDoor } from '../../support/smtp-door.ts';

const HOST = 'mx.plumbline.example';

describe('SMTP smuggling', () => {
  const SECOND = `MAIL FROM:<forged@bank.example>\r\nRCPT TO:<${ADDRESS}>\r\nDATA\r\nforged\r\n.\r\n`;

  test.each([
    ['LF . LF', '\n.\n'],
    ['LF . CR LF', '\n.\r\n'],
    ['CR LF . LF', '\r\n.\n'],
    ['CR . CR', '\r.\r'],
    ['CR . CR LF', '\r.\r\n'],
    ['CR LF . CR', '\r\n.\r'],
    ['LF . CR', '\n.\r'],
    ['CR CR LF . CR LF', '\r\r\n.\r\r\n'],
    ['LF CR . LF CR', '\n\r.\n\r'],
    ['CR NUL LF . CR LF', '\r\0\n.\r\n'],
    ['LF .. CR LF', '\n..\r\n'],
    ['LF LF . CR LF', '\n\n.\r\n'],
  ])('by %s does not end the message, which is refused whole', async (_name, end) => {
    const { port, delivered, lines } = await anSmtpDoor();
    const client = await aTransaction(port, ADDRESS);
    await client.ask('DATA');
    client.write(`Subject: first\r\n\r\nfirst${end}${SECOND}`);
    expect(await client.reply()).toMatch(/^554 /);
    client.write('QUIT\r\n');
    await client.closed();
    expect(delivered).toEqual([]);
    expect(lines).toHaveLength(1);
  });

  test('cut into single bytes does not end the message either', async () => {
    const { port, delivered } = await anSmtpDoor();
    const client = await aTransaction(port, ADDRESS);
    await client.ask('DATA');
    for (const byte of `first\n.\r\n${SECOND}`) {
      client.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await client.reply()).toMatch(/^554 /);
    expect(delivered).toEqual([]);
  });

  test('by a dot that was doubled, at the beginning of the message, does not end it', async () => {
    const { port, delivered } = await anSmtpDoor();
    const client = await aTransaction(port, ADDRESS);
    await client.ask('DATA');
    client.write('..');
    await new Promise((resolve) => setTimeout(resolve, 20));
    client.write(`\r\n${SECOND.slice(0, -3)}.\r\n`);
    expect(await client.reply()).toMatch(/^250 /);
    expect(delivered.map(({ text }) => text)).toEqual([`.\r\n${SECOND.slice(0, -3)}`]);
  });
});

describe('STARTTLS', () => {
  async function aTlsDoor(certificateLookMs = 60_000) {
    const folder = await aFolder();
    const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
    const write = () => {
      const { cert, key } = aCertificate(HOST);
      writeFileSync(files.keyFile, key);
      writeFileSync(files.certFile, cert);
      return cert;
    };
    const cert = write();
    const door = await anSmtpDoor({ certificate: files, certificateLookMs });
    return { ...door, cert, files, renew: write };
  }

  /** A TLS session in the place of a client's own connection. */
  async function upgrade(client: RawSmtp, ca: string): Promise<TLSSocket> {
    client.socket.removeAllListeners('data');
    const socket = connectTls({ socket: client.socket, ca, servername: HOST });
    onTestFinished(() => {
      socket.destroy();
    });
    await once(socket, 'secureConnect');
    return socket;
  }

  test('is offered with a certificate, and a real client that demands TLS delivers', async () => {
    const { port, cert, delivered } = await aTlsDoor();
    const transport = createTransport({
      host: '127.0.0.1',
      port,
      requireTLS: true,
      tls: { ca: cert, servername: HOST },
    });
    const envelope = { from: 'noreply@reporter.example', to: [ADDRESS] };
    await transport.sendMail({ envelope, raw: 'Subject: secret\r\n\r\nx\r\n' });
    transport.close();
    expect(delivered).toHaveLength(1);
  });

  test('discards commands that came in plain text after it', async () => {
    const { port, cert, delivered } = await aTlsDoor();
    const client = aRawSmtp(port);
    await client.reply();
    await client.ask('EHLO x');
    client.write(
      `STARTTLS\r\nMAIL FROM:<injected@bank.example>\r\nRCPT TO:<${ADDRESS}>\r\nDATA\r\n`,
    );
    expect(await client.reply()).toMatch(/^220 /);
    const secure = new RawSmtp(await upgrade(client, cert));
    expect(await secure.ask('RCPT TO:<dmarc@mx.plumbline.example>')).toMatch(/^503 /);
    expect(await secure.ask('EHLO x')).not.toContain('STARTTLS');
    expect(await secure.ask('MAIL FROM:<a@reporter.example>')).toMatch(/^250 /);
    expect(delivered).toEqual([]);
  });

  test('forgets what was said before it', async () => {
    const { port, cert } = await aTlsDoor();
    const client = await aTransaction(port, ADDRESS);
    expect(await client.ask('STARTTLS')).toMatch(/^220 /);
    const secure = new RawSmtp(await upgrade(client, cert));
    expect(await secure.ask('DATA')).toMatch(/^503 /);
  });

  test('uses a renewed certificate without a restart, and the former one while the files are unusable', async () => {
    const { port, cert, files, renew } = await aTlsDoor(20);
    const serialNumber = async () => {
      const client = aRawSmtp(port);
      await client.reply();
      await client.ask('EHLO x');
      await client.ask('STARTTLS');
      client.socket.removeAllListeners('data');
      const socket = connectTls({
        socket: client.socket,
        servername: HOST,
        rejectUnauthorized: false,
      });
      await once(socket, 'secureConnect');
      const { fingerprint256 } = socket.getPeerX509Certificate() ?? {};
      socket.destroy();
      return fingerprint256;
    };
    const former = await serialNumber();
    writeFileSync(files.certFile, 'half of a certificate');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await serialNumber()).toBe(former);
    expect(renew()).not.toBe(cert);
    await expect.poll(serialNumber).not.toBe(former);
  });

  test('with files that do not belong together does not start', async () => {
    const folder = await aFolder();
    const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
    writeFileSync(files.certFile, aCertificate(HOST).cert);
    writeFileSync(files.keyFile, aCertificate(HOST).key);
    await expect(anSmtpDoor({ certificate: files })).rejects.toThrow(/is not the key of/);
  });
});

describe('a client that takes more than its share', () => {
  test('of commands is disconnected', async () => {
    const { port } = await anSmtpDoor({ limits: { maxCommands: 50 } });
    const client = aRawSmtp(port);
    await client.reply();
    client.write('NOOP\r\n'.repeat(10_000));
    const said = await client.closed();
    expect(said.match(/^250 /gm)?.length).toBeLessThanOrEqual(50);
    expect(said).toMatch(/421 .*Too many commands/);
  });

  test('of 10,000 recipients gets a hundred', async () => {
    const { port } = await anSmtpDoor({
      recipients: Array.from({ length: 10_000 }, (_, i) => `r${i}@${HOST}`),
    });
    const client = await aTransaction(port);
    client.write(Array.from({ length: 10_000 }, (_, i) => `RCPT TO:<r${i}@${HOST}>\r\n`).join(''));
    const said = await client.closed();
    expect(said.match(/^250 2\.1\.5/gm)).toHaveLength(100);
    expect(said.match(/^452 /gm)?.length).toBeLessThanOrEqual(150);
    expect(said).toMatch(/^421 /m);
  });

  test('of one command line is disconnected', async () => {
    const { port } = await anSmtpDoor();
    const client = aRawSmtp(port);
    await client.reply();
    client.write('A'.repeat(5_000));
    expect(await client.closed()).toMatch(/^421 /m);
  });

  test('of messages in one connection is disconnected', async () => {
    const { port, delivered } = await anSmtpDoor({ limits: { maxMessages: 2 } });
    const client = await aTransaction(port, ADDRESS);
    for (const next of ['250', '421']) {
      await client.ask('DATA');
      client.write('x\r\n.\r\n');
      await client.reply();
      expect((await client.ask('MAIL FROM:<>')).slice(0, 3)).toBe(next);
      if (next === '250') await client.ask(`RCPT TO:<${ADDRESS}>`);
    }
    expect(delivered).toHaveLength(2);
  });

  test('of time, in silence, is disconnected, and others are served meanwhile', async () => {
    const { port, delivered } = await anSmtpDoor({ limits: { idleMs: 300 } });
    const slow = await aTransaction(port, ADDRESS);
    await slow.ask('DATA');
    slow.write('Subject: x\r\n');
    const other = await aTransaction(port, ADDRESS);
    await other.ask('DATA');
    other.write('y\r\n.\r\n');
    expect(await other.reply()).toMatch(/^250 /);
    expect(await slow.closed()).toMatch(/421 .*Timeout/);
    expect(delivered).toHaveLength(1);
  });

  test('of time, byte by byte, is disconnected', async () => {
    const { port, delivered } = await anSmtpDoor({ limits: { idleMs: 5_000, sessionMs: 500 } });
    const client = await aTransaction(port, ADDRESS);
    await client.ask('DATA');
    const timer = setInterval(() => client.write('x'), 20);
    expect(await client.closed()).toMatch(/421 .*takes too long/);
    clearInterval(timer);
    expect(delivered).toEqual([]);
  });

  test('of the places for messages loses its place to others when it is slow', async () => {
    const { port, delivered } = await anSmtpDoor({
      limits: { maxReceiving: 2, slowMs: 400, waitMs: 50 },
    });
    const slow = [await aTransaction(port, ADDRESS), await aTransaction(port, ADDRESS)];
    for (const client of slow) {
      await client.ask('DATA');
      client.write('Subject: x\r\n');
    }
    const refused = await aTransaction(port, ADDRESS);
    await refused.ask('DATA');
    refused.write('y\r\n.\r\n');
    expect(await refused.reply()).toMatch(/^452 /);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const other = await aTransaction(port, ADDRESS);
    await other.ask('DATA');
    other.write('y\r\n.\r\n');
    expect(await other.reply()).toMatch(/^250 /);
    expect(await slow[0]?.closed()).toMatch(/421 .*Too slow/);
    expect(delivered).toHaveLength(1);
  });

  test('of the places for messages gets no more than its address may have', async () => {
    const { port } = await anSmtpDoor({ limits: { maxReceivingPerAddress: 2, waitMs: 50 } });
    for (let i = 0; i < 2; i += 1) {
      const slow = await aTransaction(port, ADDRESS);
      await slow.ask('DATA');
    }
    const other = await aTransaction(port, ADDRESS);
    await other.ask('DATA');
    other.write('y\r\n.\r\n');
    expect(await other.reply()).toMatch(/^452 /);
  });

  test('of the inbox is told to come back when there is room again', async () => {
    let isFull = true;
    const { port, delivered } = await anSmtpDoor({
      findShortage: async () => (isFull ? 'the inbox is full' : undefined),
    });
    const client = aRawSmtp(port);
    await client.reply();
    await client.ask('EHLO client.example');
    expect(await client.ask('MAIL FROM:<>')).toMatch(/^452 .*Insufficient system storage/);
    isFull = false;
    expect(await client.ask('MAIL FROM:<>')).toMatch(/^250 /);
    await client.ask(`RCPT TO:<${ADDRESS}>`);
    await client.ask('DATA');
    client.write('x\r\n.\r\n');
    expect(await client.reply()).toMatch(/^250 /);
    expect(delivered).toHaveLength(1);
  });

  test('of connections is told to come back, and the others stay', async () => {
    const { port } = await anSmtpDoor({ limits: { maxConnectionsPerAddress: 3 } });
    const clients = Array.from({ length: 3 }, () => aRawSmtp(port));
    for (const client of clients) expect(await client.reply()).toMatch(/^220 /);
    const one = aRawSmtp(port);
    expect(await one.reply()).toMatch(/^421 .*from your address/);
    await one.closed();
    await clients[0]?.ask('QUIT');
    await clients[0]?.closed();
    await expect.poll(() => aRawSmtp(port).reply()).toMatch(/^220 /);
    expect(await clients[1]?.ask('NOOP')).toMatch(/^250 /);
  });

  test('of all connections, from some addresses, keeps nobody else out', async () => {
    const limits = { maxConnections: 12, maxConnectionsPerAddress: 4 };
    const { port, delivered } = await anSmtpDoor({ limits, trusted: ['127.0.9.0/24'] });
    const relay = aRawSmtp(port, '127.0.9.1');
    expect(await relay.reply()).toMatch(/^220 /);
    const flood = Array.from({ length: 11 }, (_, i) => aRawSmtp(port, `127.0.${i % 3}.7`));
    for (const client of flood) expect(await client.reply()).toMatch(/^220 /);
    for (let i = 0; i < 5; i += 1) {
      const other = aRawSmtp(port, `127.0.2${i}.1`);
      expect(await other.reply()).toMatch(/^220 /);
      await other.ask('EHLO x');
      await other.ask('MAIL FROM:<>');
      await other.ask(`RCPT TO:<${ADDRESS}>`);
      await other.ask('DATA');
      other.write('x\r\n.\r\n');
      expect(await other.reply()).toMatch(/^250 /);
    }
    expect(delivered).toHaveLength(5);
    const ended = flood
      .filter(({ socket }) => socket.closed)
      .map((client) => flood.indexOf(client));
    expect(ended).toHaveLength(5);
    expect(await relay.ask('NOOP')).toMatch(/^250 /);
  });

  test('is none when its address is trusted', async () => {
    const limits = { maxConnectionsPerAddress: 2, maxConnectionRate: 2, maxMessages: 1 };
    const { port, delivered } = await anSmtpDoor({ limits, trusted: ['127.0.0.0/30'] });
    const clients = Array.from({ length: 4 }, () => aRawSmtp(port));
    for (const client of clients) expect(await client.reply()).toMatch(/^220 /);
    const [client] = clients;
    await client?.ask('EHLO x');
    for (let i = 0; i < 3; i += 1) {
      await client?.ask('MAIL FROM:<>');
      await client?.ask(`RCPT TO:<${ADDRESS}>`);
      await client?.ask('DATA');
      client?.write('x\r\n.\r\n');
      expect(await client?.reply()).toMatch(/^250 /);
    }
    expect(delivered).toHaveLength(3);
  });

  test('with 1,000 connections at once leaves the door open for those it has', async () => {
    const { port, delivered } = await anSmtpDoor({ limits: { maxConnectionsPerAddress: 50 } });
    const first = await aTransaction(port, ADDRESS);
    const greeted: string[] = [];
    const flood = Array.from({ length: 1_000 }, () => aFlooder(port, greeted));
    await expect.poll(() => greeted.length + refused(flood)).toBe(1_000);
    expect(greeted.filter((text) => text.startsWith('220')).length).toBeLessThan(50);
    await first.ask('DATA');
    first.write('x\r\n.\r\n');
    expect(await first.reply()).toMatch(/^250 /);
    for (const socket of flood) socket.destroy();
    await expect.poll(() => aRawSmtp(port).reply()).toMatch(/^220 /);
    expect(delivered).toHaveLength(1);
  });
});

/** Notes what it is greeted with. */
function aFlooder(port: number, greeted: string[]): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.once('data', (chunk) => greeted.push(chunk.toString('latin1')));
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

/** Connections that were closed without a word. */
const refused = (sockets: readonly Socket[]): number =>
  sockets.filter((socket) => socket.destroyed && socket.bytesRead === 0).length;
