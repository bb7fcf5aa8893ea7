import { describe, expect, test } from 'vitest';
import { aRawSmtp, aTransaction } from '../../support/raw-smtp.ts';
import { ADDRESS, anSmtpDoor } from '../../support/smtp-door.ts';

const HEAD = 'Subject: Report domain: example.com\r\n\r\n';
const ENVELOPE = `MAIL FROM:<noreply@reporter.example>\r\nRCPT TO:<${ADDRESS}>\r\n`;
/** With what DATA would take for its end, and for an escape. */
const BODY = `${HEAD}.\r\n..dots\r\nQUIT\r\n.\r\n`;

/** The first digits of so many replies. */
async function codes(client: { reply(): Promise<string> }, count: number): Promise<string[]> {
  const replies: string[] = [];
  for (let i = 0; i < count; i += 1) replies.push((await client.reply()).slice(0, 3));
  return replies;
}

describe('a message in chunks (BDAT)', () => {
  test('is taken byte for byte, also when all comes at once, and the connection goes on', async () => {
    const { port, delivered } = await anSmtpDoor();
    const client = aRawSmtp(port);
    await client.reply();
    const message = `${ENVELOPE}BDAT 10\r\n${BODY.slice(0, 10)}BDAT 0\r\nbdat ${BODY.length - 10} last\r\n${BODY.slice(10)}`;
    client.write(`EHLO x\r\n${message}${message}NOOP\r\n`);
    expect(await codes(client, 12)).toEqual(Array(12).fill('250'));
    expect(delivered.map(({ text }) => text)).toEqual([BODY, BODY]);
  });

  test('is taken when every byte comes by itself', async () => {
    const { port, delivered } = await anSmtpDoor();
    const client = await aTransaction(port, ADDRESS);
    const bytes = `BDAT 3\r\n${BODY.slice(0, 3)}BDAT ${BODY.length - 3}\r\n${BODY.slice(3)}BDAT 0 LAST\r\n`;
    for (const byte of bytes) {
      client.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await codes(client, 3)).toEqual(['250', '250', '250']);
    expect(delivered.map(({ text }) => text)).toEqual([BODY]);
  });

  test('whose recipient was refused is not taken for commands', async () => {
    const { port, delivered } = await anSmtpDoor();
    const client = await aTransaction(port, 'nobody@mx.plumbline.example');
    client.write(`BDAT ${ENVELOPE.length}\r\n${ENVELOPE}BDAT 6 LAST\r\nDATA\r\nNOOP\r\n`);
    expect(await codes(client, 3)).toEqual(['503', '503', '250']);
    expect(await client.ask('DATA')).toMatch(/^503 /);
    expect(delivered).toEqual([]);
  });

  test('is refused as one in DATA is: too large, with bare line feeds, or not stored', async () => {
    let isBroken = false;
    const store = () => {
      if (isBroken) throw new Error('no disk');
    };
    const { port, delivered } = await anSmtpDoor({ limits: { maxMessageBytes: 1_000 }, store });
    const client = await aTransaction(port, ADDRESS);
    const send = async (text: string) => {
      client.write(`BDAT ${text.length} LAST\r\n${text}`);
      const reply = await client.reply();
      client.write(ENVELOPE);
      await codes(client, 2);
      return reply;
    };
    expect(await send('x'.repeat(1_500))).toMatch(/^552 /);
    expect(await send('x\ny\r\n')).toMatch(/^554 /);
    isBroken = true;
    expect(await send(BODY)).toMatch(/^451 /);
    isBroken = false;
    expect(await send(BODY)).toMatch(/^250 /);
    expect(delivered.map(({ text }) => text)).toEqual([BODY]);
  });

  test.each([
    ['with another command between its chunks', 'BDAT 1\r\nxRSET\r\n'],
    ['whose chunk has no size', 'BDAT\r\n'],
    ['whose chunk has a size that nobody counts to', `BDAT ${'9'.repeat(20)}\r\n`],
    ['in chunks without number', 'BDAT 0\r\n'.repeat(10_000)],
    ['with an endless command between its chunks', `BDAT 1\r\nx${'B'.repeat(10_000)}`],
  ])('%s ends the connection, and is not stored', async (_, bytes) => {
    const { port, delivered } = await anSmtpDoor();
    const client = await aTransaction(port, ADDRESS);
    client.write(bytes);
    const said = await client.closed();
    expect(said).toMatch(/421 [^\r]*\r\n$/);
    expect(said.match(/^250 /gm)?.length ?? 0).toBeLessThanOrEqual(250);
    expect(delivered).toEqual([]);
  });

  test('that nobody asked for, in thousands of empty chunks, does no harm', async () => {
    const { port } = await anSmtpDoor();
    const client = await aTransaction(port);
    client.write('BDAT 0\r\n'.repeat(5_000));
    expect(await client.closed()).toMatch(/421 .*Too many commands/);
    expect(await aRawSmtp(port).reply()).toMatch(/^220 /);
  });

  test('is ended by silence between its chunks', async () => {
    const { port, delivered } = await anSmtpDoor({ limits: { idleMs: 200 } });
    const client = await aTransaction(port, ADDRESS);
    client.write('BDAT 1\r\nx');
    expect(await client.reply()).toMatch(/^250 /);
    expect(await client.closed()).toMatch(/421 .*Timeout/);
    expect(delivered).toEqual([]);
  });
});
