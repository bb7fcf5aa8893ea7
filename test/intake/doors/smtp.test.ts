import { createTransport } from 'nodemailer';
import { describe, expect, test } from 'vitest';
import { aRawSmtp, aTransaction } from '../../support/raw-smtp.ts';
import { ADDRESS, anSmtpDoor, TOKEN } from '../../support/smtp-door.ts';

const BODY = 'Subject: Report domain: example.com\r\n\r\nreport\r\n';

/** A message as a whole, answered. */
async function send(port: number): Promise<string> {
  const client = await aTransaction(port, ADDRESS);
  await client.ask('DATA');
  client.write(`${BODY}.\r\n`);
  return await client.reply();
}

describe('a message', () => {
  test('of a real client arrives byte for byte, with its envelope', async () => {
    const { port, delivered } = await anSmtpDoor();
    const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
    const envelope = { from: 'noreply@reporter.example', to: [ADDRESS] };
    const raw = `${BODY}..dots\r\n.\r\n... and\r\n.end\r\n`;
    await transport.sendMail({ envelope, raw });
    transport.close();
    expect(delivered).toEqual([
      {
        door: 'smtp',
        text: raw,
        envelope: {
          sender: 'noreply@reporter.example',
          recipients: [ADDRESS],
          remoteAddress: '127.0.0.1',
          helo: '[127.0.0.1]',
        },
        receivedAt: '2026-03-15T04:00:00Z',
        accountId: undefined,
        isRelayed: false,
      },
    ]);
  });

  test('is answered only after it is stored', async () => {
    const stored = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { port } = await anSmtpDoor({
      store: () => {
        asked.resolve();
        return stored.promise;
      },
    });
    const client = await aTransaction(port, ADDRESS);
    await client.ask('DATA');
    client.write(`${BODY}.\r\n`);
    await asked.promise;
    client.write('NOOP\r\n');
    let isAnswered = false;
    const reply = client.reply().then((text) => {
      isAnswered = true;
      return text;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isAnswered).toBe(false);
    stored.resolve();
    expect(await reply).toMatch(/^250 2\.\d\.\d /);
  });

  test('that cannot be stored is answered with 451, and can be sent again in the same connection', async () => {
    let isBroken = true;
    const { port, delivered } = await anSmtpDoor({
      store: () => {
        if (isBroken) throw new Error('the disk is full of secrets');
      },
    });
    const client = await aTransaction(port, ADDRESS);
    await client.ask('DATA');
    client.write(`${BODY}.\r\n`);
    const reply = await client.reply();
    expect(reply).toMatch(/^451 4\.3\.0 /);
    expect(reply).not.toContain('secrets');
    isBroken = false;
    await client.ask('MAIL FROM:<>');
    await client.ask(`RCPT TO:<${ADDRESS}>`);
    await client.ask('DATA');
    client.write(`${BODY}.\r\n`);
    expect(await client.reply()).toMatch(/^250 /);
    expect(delivered.map(({ envelope }) => envelope.sender)).toEqual(['']);
  });

  test('whose sender went away in the middle is not stored', async () => {
    const { port, delivered, lines } = await anSmtpDoor();
    const client = await aTransaction(port, ADDRESS);
    await client.ask('DATA');
    client.write(BODY);
    client.socket.end();
    await client.closed();
    await expect.poll(() => lines.map(({ outcome }) => outcome)).toEqual(['connection lost']);
    expect(delivered).toEqual([]);
  });

  test('that was announced as too large is refused at once', async () => {
    const { port } = await anSmtpDoor({ limits: { maxMessageBytes: 1_000 } });
    const client = aRawSmtp(port);
    await client.reply();
    expect(await client.ask('EHLO x')).toContain('SIZE 1000');
    expect(await client.ask('MAIL FROM:<a@reporter.example> SIZE=1001')).toMatch(/^552 /);
  });

  test('that turns out too large is refused at its end, and the connection goes on', async () => {
    const { port, delivered } = await anSmtpDoor({ limits: { maxMessageBytes: 1_000 } });
    const client = await aTransaction(port, ADDRESS);
    await client.ask('DATA');
    client.write(`${'x'.repeat(998)}\r\n${'y'.repeat(200)}\r\n.\r\n`);
    expect(await client.reply()).toMatch(/^552 /);
    expect(await client.ask('NOOP')).toMatch(/^250 /);
    expect(delivered).toEqual([]);
  });

  test('that does not end is cut off', async () => {
    const { port, delivered } = await anSmtpDoor({ limits: { maxMessageBytes: 10_000 } });
    const client = await aTransaction(port, ADDRESS);
    await client.ask('DATA');
    const timer = setInterval(() => client.write(`${'x'.repeat(998)}\r\n`.repeat(10)), 5);
    expect(await client.closed()).toMatch(/^421 /m);
    clearInterval(timer);
    expect(delivered).toEqual([]);
  });

  test('is logged in one line, with hostile bytes escaped and without its content', async () => {
    const { port, lines } = await anSmtpDoor();
    const client = aRawSmtp(port);
    await client.reply();
    await client.ask('EHLO x');
    await client.ask(`MAIL FROM:<${Buffer.from('a"\u202e').toString('latin1')}@reporter.example>`);
    await client.ask(`RCPT TO:<${ADDRESS}>`);
    await client.ask('DATA');
    client.write(`${BODY}.\r\n`);
    await client.reply();
    expect(lines).toEqual([
      {
        door: 'smtp',
        remote_address: '127.0.0.1',
        sender: 'a"\\u{202e}@reporter.example',
        recipients: [ADDRESS],
        bytes: BODY.length,
        outcome: 'stored',
      },
    ]);
  });

  test('from nobody, as bounces and auto-replies are, is accepted like any other', async () => {
    const { port, delivered } = await anSmtpDoor();
    const client = aRawSmtp(port);
    await client.reply();
    await client.ask('HELO x');
    await client.ask('MAIL FROM:<>');
    await client.ask(`RCPT TO:<${ADDRESS}>`);
    await client.ask('DATA');
    client.write(`${BODY}.\r\n`);
    expect(await client.reply()).toMatch(/^250 /);
    expect(delivered).toHaveLength(1);
  });
});

describe('a recipient', () => {
  test.each([
    ['the configured address', ADDRESS, /^250 2\.1\.5/],
    ['the configured address in capitals', ADDRESS.toUpperCase(), /^250 /],
    ['an account’s own address', `${TOKEN}@mx.plumbline.example`, /^250 /],
    [
      'an account’s own address in capitals',
      `${TOKEN.toUpperCase()}@MX.plumbline.example`,
      /^250 /,
    ],
    ['a token that nobody has', 'abcdefgh01234568@mx.plumbline.example', /^550 5\.1\.1/],
    ['a token at another host', `${TOKEN}@other.example`, /^550 5\.1\.1/],
    ['an address elsewhere', 'victim@elsewhere.example', /^550 5\.1\.1/],
    ['a route through this server', '@mx.plumbline.example:victim@elsewhere.example', /^550 /],
    ['the percent hack', 'victim%elsewhere.example@mx.plumbline.example', /^550 /],
    ['a name without a host', 'somebody', /^5/],
    ['the postmaster (RFC 5321, 4.5.1)', 'Postmaster', /^250 /],
    ['the postmaster of this host', 'postmaster@mx.plumbline.example', /^250 /],
    ['the postmaster of another host', 'postmaster@other.example', /^550 /],
    ['an account’s own address with a tag', `${TOKEN}+dmarc@mx.plumbline.example`, /^250 /],
    ['an account’s own address in quotes', `"${TOKEN}"@mx.plumbline.example`, /^250 /],
  ])('that is %s: %s', async (_what, address, reply) => {
    const { port } = await anSmtpDoor();
    const client = await aTransaction(port);
    expect(await client.ask(`RCPT TO:<${address}>`)).toMatch(reply);
  });

  test('names the account that the message is for', async () => {
    const { port, delivered } = await anSmtpDoor();
    const client = await aTransaction(port, ADDRESS, `${TOKEN}@mx.plumbline.example`);
    await client.ask('DATA');
    client.write(`${BODY}.\r\n`);
    await client.reply();
    expect(delivered.map(({ accountId }) => accountId)).toEqual(['account-1']);
  });

  test('of a second account has to wait for a message of its own', async () => {
    const { port, otherToken } = await anSmtpDoor();
    const client = await aTransaction(port, `${TOKEN}@mx.plumbline.example`);
    expect(await client.ask(`RCPT TO:<${otherToken}@mx.plumbline.example>`)).toMatch(/^452 /);
  });

  test('that cannot be looked up gets 451', async () => {
    const { port } = await anSmtpDoor({
      findAccountByToken: () => Promise.reject(new Error('no database')),
    });
    const client = await aTransaction(port);
    expect(await client.ask(`RCPT TO:<${TOKEN}@mx.plumbline.example>`)).toMatch(/^451 4\.3\.0/);
  });

  test('that is unknown, twenty times, ends the connection', async () => {
    const { port } = await anSmtpDoor();
    const client = await aTransaction(port);
    for (let i = 0; i < 20; i += 1)
      expect(await client.ask(`RCPT TO:<guess${i}@mx.plumbline.example>`)).toMatch(/^550 /);
    expect(await client.ask('RCPT TO:<guess@mx.plumbline.example>')).toMatch(/^421 /);
    await client.closed();
  });
});

describe('the server', () => {
  test('offers what it does, and no authentication', async () => {
    const { port } = await anSmtpDoor();
    const client = aRawSmtp(port);
    expect(await client.reply()).toMatch(/^220 mx\.plumbline\.example ESMTP/);
    const offered = await client.ask('EHLO x');
    for (const extension of ['PIPELINING', '8BITMIME', 'SIZE 26214400'])
      expect(offered).toContain(extension);
    expect(offered).not.toMatch(/AUTH|STARTTLS|XCLIENT|CHUNKING|BINARYMIME|DSN/);
    expect(await client.ask('AUTH PLAIN AGEAYg==')).toMatch(/^5\d\d /);
  });

  test('knows no command that it does not need, and verifies no address, without a joke', async () => {
    const { port } = await anSmtpDoor();
    const client = aRawSmtp(port);
    await client.reply();
    await client.ask('EHLO x');
    for (const command of ['EXPN dmarc', 'WIZ please', 'HELP', 'KILL', 'STARTTLS'])
      expect(await client.ask(command)).toMatch(/^500 5\.5\.2 Error: command not recognized$/);
    for (const command of ['VRFY dmarc', `VRFY ${ADDRESS}`, 'VRFY'])
      expect(await client.ask(command)).toMatch(/^252 2\.1\.5 Not verified; /);
  });

  test('takes pipelined commands, and a second message in one connection', async () => {
    const { port, delivered } = await anSmtpDoor();
    const client = aRawSmtp(port);
    await client.reply();
    const commands = ['MAIL FROM:<a@reporter.example>', `RCPT TO:<${ADDRESS}>`, 'DATA', ''];
    client.write(['EHLO x', ...commands].join('\r\n'));
    for (let i = 0; i < 4; i += 1) await client.reply();
    client.write(`first\r\n.\r\n${commands.join('\r\n')}`);
    const replies = [await client.reply(), await client.reply(), await client.reply()];
    replies.push(await client.reply());
    client.write('second\r\n.\r\nQUIT\r\n');
    replies.push(await client.reply(), await client.reply());
    expect(replies.map((reply) => reply.slice(0, 3))).toEqual([
      '250',
      '250',
      '250',
      '354',
      '250',
      '221',
    ]);
    expect(delivered.map(({ text }) => text)).toEqual(['first\r\n', 'second\r\n']);
  });

  test('stores what is complete before it stops', async () => {
    const stored = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const { port, stop, delivered } = await anSmtpDoor({
      limits: { stopMs: 100 },
      store: () => {
        asked.resolve();
        return stored.promise;
      },
    });
    const answer = send(port);
    await asked.promise;
    const stopped = stop();
    stored.resolve();
    expect(await answer).toMatch(/^250 /);
    await stopped;
    expect(delivered).toHaveLength(1);
  });
});
