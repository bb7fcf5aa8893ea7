import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { renderLetter } from '../../src/notify/mail/letter.ts';
import {
  createMailer,
  findRefusal,
  type Mail,
  type MailServer,
} from '../../src/notify/mail/mailer.ts';
import { aCertificate } from '../support/certificate.ts';
import { aMailServer, listFields, refusal } from '../support/mail-server.ts';

const ID = '5e8f0c6a-0b1e-4c2f-9a53-0d6a4c5b7e11';

const aMail = (given: Partial<Mail> = {}): Mail => ({
  ...{ to: 'ada@example.com', id: ID },
  ...renderLetter({ subject: 'A subject', blocks: ['A text.'], reason: 'A reason.' }),
  ...given,
});

function aMailer(server: MailServer, options?: { maxMs: number }) {
  const mailer = createMailer(server, options);
  onTestFinished(mailer.close);
  return mailer;
}

const EXPECTED_FIELDS = [
  ...['Auto-Submitted', 'Content-Type', 'Date', 'From', 'In-Reply-To', 'List-Unsubscribe'],
  ...['List-Unsubscribe-Post', 'MIME-Version', 'Message-ID', 'References', 'Subject', 'To'],
  'X-Auto-Response-Suppress',
];

test('a check signs in, and sends nothing', async () => {
  const password = 'right';
  const { config, received } = await aMailServer({
    ...{ authOptional: false, allowInsecureAuth: true },
    onAuth: (auth, _session, callback) =>
      auth.password === password
        ? callback(null, { user: auth.username })
        : callback(new Error('Wrong.')),
  });
  const withPassword = (given: string) =>
    aMailer({ ...config, user: 'plumbline', password: () => given }).check();
  await withPassword(password);
  await expect(withPassword('wrong')).rejects.toThrow('Wrong');
  expect(received).toEqual([]);
});

test('a mail has the fields of a thread, of an automatic mail and of one-click unsubscribing, and no others', async () => {
  const { config, received } = await aMailServer();
  const unsubscribe = 'https://dmarc.example.com/settings/unsubscribe?token=abc';
  const answer = await aMailer(config).send(aMail({ inReplyTo: 'first', unsubscribe }));
  expect(answer).toMatch(/^250 /);
  const fields = listFields(received[0]?.raw ?? '');
  expect(fields.map((field) => field.split(':')[0]).sort()).toEqual(EXPECTED_FIELDS.sort());
  expect(fields).toEqual(
    expect.arrayContaining([
      'From: Plumbline <plumbline@mx.plumbline.example>',
      'To: ada@example.com',
      `Message-ID: <${ID}@mx.plumbline.example>`,
      'In-Reply-To: <first@mx.plumbline.example>',
      'References: <first@mx.plumbline.example>',
      'Auto-Submitted: auto-generated',
      `List-Unsubscribe: <${unsubscribe}>`,
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    ]),
  );
});

test('a link by plain HTTP ends a subscription by its page only (RFC 8058, 3.1)', async () => {
  const { config, received } = await aMailServer();
  await aMailer(config).send(aMail({ unsubscribe: 'http://localhost/settings/unsubscribe' }));
  const fields = listFields(received[0]?.raw ?? '');
  expect(fields).toContain('List-Unsubscribe: <http://localhost/settings/unsubscribe>');
  expect(fields.join()).not.toContain('List-Unsubscribe-Post');
});

describe('what comes from outside never adds a header field or a recipient', () => {
  const ATTACKS = [
    'x\r\nBcc: eve@example.net',
    'x\nBcc: eve@example.net',
    'x\rBcc: eve@example.net',
    'x\r\n\r\n<html>another body',
    'x\r\n Bcc: eve@example.net',
    'x\u0085Bcc: eve@example.net',
    'x\u2028Bcc: eve@example.net',
    'x\u0000Bcc: eve@example.net',
    'x\v\fBcc: eve@example.net',
    '=?utf-8?Q?x=0D=0ABcc:_eve@example.net?=',
    '=?utf-8?B?eA0KQmNjOiBldmVAZXhhbXBsZS5uZXQ=?=',
    'x" <eve@example.net>, "y',
    'x, eve@example.net',
    '\u202emoc.elpmaxe',
    '\ud800 half a pair',
    `${'long '.repeat(400)}\r\nBcc: eve@example.net`,
    '.\r\n.\r\nMAIL FROM:<eve@example.net>\r\nRCPT TO:<eve@example.net>',
  ];

  test.each(ATTACKS)('in a subject and a text: %j', async (attack) => {
    const { config, received } = await aMailServer();
    const letter = renderLetter({ subject: attack, blocks: [attack], reason: attack });
    await aMailer(config).send(aMail(letter));
    expect(received).toHaveLength(1);
    const [{ raw, to, subject, html } = { raw: '', to: [], subject: '', html: '' }] = received;
    const names = listFields(raw).map((field) => field.split(':')[0] ?? '');
    expect(names.filter((name) => !EXPECTED_FIELDS.includes(name))).toEqual([]);
    expect(to).toEqual(['ada@example.com']);
    expect(listFields(raw)).toContain('To: ada@example.com');
    // One line, which an encoded word in it does not become.
    expect(subject).not.toMatch(/[\r\n]/);
    expect(html).toMatch(/<h1>/);
    expect(html).not.toContain('<html>another body');
  });

  test.each([
    'ada@example.com\r\nBcc: eve@example.net',
    'ada@example.com,eve@example.net',
    'ada,eve@example.com',
    'ada@example.com>\r\nRCPT TO:<eve@example.net',
    '"ada@example.com,eve"@example.net',
    'ada\u0000@example.com',
    'ada@example.com;eve@example.net',
    '=?utf-8?Q?eve=40example.net=2C?=@example.com',
  ])('in an address: %j', async (to) => {
    const { config, received } = await aMailServer();
    await aMailer(config)
      .send(aMail({ to }))
      .catch(() => {});
    const recipients = received.flatMap((one) => one.to);
    expect(recipients.length).toBeLessThanOrEqual(1);
    expect(recipients).not.toContain('eve@example.net');
    for (const { raw } of received) {
      const names = listFields(raw).map((field) => field.split(':')[0] ?? '');
      expect(names.filter((name) => !EXPECTED_FIELDS.includes(name))).toEqual([]);
    }
  });
});

describe('STARTTLS', () => {
  const { cert, key } = aCertificate('localhost');

  test('a server that does not offer it gets no mail', async () => {
    const { config, received } = await aMailServer();
    const mailer = aMailer({ ...config, host: 'localhost', security: 'starttls' });
    await expect(mailer.send(aMail())).rejects.toThrow(/STARTTLS/);
    expect(received).toEqual([]);
  });

  test('a server whose certificate nobody signed gets no mail, and no password', async () => {
    let logins = 0;
    const { config, received } = await aMailServer({
      ...{ disabledCommands: [], cert, key, authOptional: false },
      onAuth: (_auth, _session, callback) => {
        logins += 1;
        callback(null, { user: 'plumbline' });
      },
    });
    const login = { user: 'plumbline', password: () => 'secret' };
    const mailer = aMailer({ ...config, ...login, host: 'localhost', security: 'starttls' });
    await expect(mailer.send(aMail())).rejects.toThrow(/certificate/);
    expect([received, logins]).toEqual([[], 0]);
  });

  test('a trusted server gets the password and the mail, encrypted', async () => {
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, cert]);
    onTestFinished(() => setDefaultCACertificates(before));
    const { config, received } = await aMailServer({
      ...{ disabledCommands: [], cert, key, authOptional: false },
      onAuth: ({ username, password }, { secure }, callback) => {
        const isRight = secure && username === 'plumbline' && password === 'secret';
        callback(isRight ? null : new Error('wrong'), { user: username });
      },
    });
    let password = 'wrong';
    const login = { user: 'plumbline', password: () => password };
    const mailer = aMailer({ ...config, ...login, host: 'localhost', security: 'starttls' });
    await expect(mailer.send(aMail())).rejects.toThrow(/Invalid login/);
    password = 'secret';
    await mailer.send(aMail());
    expect(received).toHaveLength(1);
  });
});

test('a server that stalls at DATA for one mail delays no other, and its mail fails in bounded time', async () => {
  const { config, received } = await aMailServer({
    answer: ({ to }) => (to.includes('slow@example.com') ? 'never' : null),
  });
  const mailer = aMailer(config, { maxMs: 2_000 });
  const slow = mailer.send(aMail({ to: 'slow@example.com' }));
  const failed = expect(slow).rejects.toThrow();
  for (let i = 0; i < 20; i += 1) await mailer.send(aMail());
  expect(received).toHaveLength(20);
  await failed;
  // Its connection is free again.
  await mailer.send(aMail());
  expect(received).toHaveLength(21);
});

test.each([
  ['an unknown recipient', { answerTo: () => refusal(550, 'No such person') }, true],
  ['a mail for a full mailbox', { answer: () => refusal(552, 'No such person') }, true],
  ['a recipient for the time being', { answerTo: () => refusal(450, 'Later') }, false],
  [
    'a sender',
    { onMailFrom: (_a: unknown, _s: unknown, done: (e: Error) => void) => done(refusal(550)) },
    false,
  ],
])(
  'the refusal of %s is the person’s only when it is about their address',
  async (_what, given, isTheirs) => {
    const { config } = await aMailServer(given);
    const error = await aMailer(config)
      .send(aMail())
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    if (isTheirs) expect(findRefusal(error)).toMatch(/No such person/);
    else expect(findRefusal(error)).toBeUndefined();
  },
);
