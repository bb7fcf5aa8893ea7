import { describe, expect, test } from 'vitest';
import { aMailServer, refusal } from '../support/mail-server.ts';
import { aProgram } from '../support/program.ts';

const toEnv = (port: number) => ({
  PLUMBLINE_MAIL_SERVER: `smtp://127.0.0.1:${port}`,
  PLUMBLINE_MAIL_FROM: 'Plumbline <plumbline@mx.plumbline.example>',
  PLUMBLINE_BASE_URL: 'https://dmarc.example.com',
});

describe('plumbline mail test', () => {
  test('sends a mail, and prints the answer', async () => {
    const { port, received } = await aMailServer();
    const { json } = aProgram(toEnv(port));
    const sent = await json('mail', 'test', 'ada@example.com');
    expect(sent).toEqual({
      to: 'ada@example.com',
      server: `127.0.0.1:${port}`,
      answer: expect.stringMatching(/^250 /),
    });
    const [{ subject, text } = { subject: '', text: '' }] = received;
    expect(subject).toBe('Plumbline can send mail');
    expect(text).toMatch(/https:\/\/dmarc\.example\.com/);
  });

  test('prints why the server refuses it', async () => {
    const { port } = await aMailServer({ answerTo: () => refusal(550, 'No such person') });
    const { run } = aProgram(toEnv(port));
    const { status, stderr } = await run(['mail', 'test', 'ada@example.com']);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/did not take.*550 No such person/),
    ]);
    expect(stderr).not.toMatch(/ at /);
  });

  test('without a server says which variable is missing', async () => {
    const { status, stderr } = await aProgram().run(['mail', 'test', 'ada@example.com']);
    expect([status, stderr]).toEqual([2, 'PLUMBLINE_MAIL_SERVER is not set.\n']);
  });
});
