import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { findDefaultDatabase } from '../../src/config/database.ts';
import { loadConfigFile } from '../../src/config/file.ts';
import { ConfigError } from '../../src/config/variable.ts';
import { toShownUrl } from '../../src/domain/database-address.ts';
import { aFolder } from '../support/command.ts';

/** The lines of the error, without the first one. */
function problemsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(env);
  } catch (error) {
    return (error as Error).message.split('\n').slice(1);
  }
  return [];
}

describe('a variable that begins with PLUMBLINE_', () => {
  test('and that nothing reads is refused, with the nearest name', () => {
    expect(problemsOf({ PLUMBLINE_DATABSE: 'x', PLUMBLINE_ALERT_SILENCE_HOUR: '72' })).toEqual([
      '  PLUMBLINE_DATABSE: there is no such variable. Is it PLUMBLINE_DATABASE?',
      '  PLUMBLINE_ALERT_SILENCE_HOUR: there is no such variable. Is it PLUMBLINE_ALERT_SILENCE_HOURS?',
    ]);
  });

  test.each(['PLUMBLINE_COLOUR_OF_THE_LINE', 'PLUMBLINE_FOO', 'PLUMBLINE_'])(
    '(%s) and is like no other name is refused without a guess',
    (name) => {
      expect(problemsOf({ [name]: 'red' })).toEqual([`  ${name}: there is no such variable`]);
    },
  );

  test('is allowed when it is empty, or when the samples of the docs export it', () => {
    expect(problemsOf({ PLUMBLINE_DATABSE: '', PLUMBLINE_API_KEY: 'x' })).toEqual([]);
  });
});

describe('PLUMBLINE_REDIS', () => {
  const RULE = '  PLUMBLINE_REDIS: must be a URL like redis://';
  const SECRET = 'hunter2';

  test.each([
    ['redis://redis.example.com', { host: 'redis.example.com', port: 6379, isTls: false }],
    ['rediss://192.0.2.7:7000/3', { host: '192.0.2.7', port: 7000, isTls: true, database: 3 }],
    ['redis://[2001:db8::7]', { host: '2001:db8::7', database: 0, username: undefined }],
    ['redis://ada:a%3Ab%40c@r', { username: 'ada', password: 'a:b@c' }],
    ['redis://:only@r/', { username: undefined, password: 'only' }],
  ])('%s is read', (url, wanted) => {
    expect(readConfig({ PLUMBLINE_REDIS: url }).redis).toMatchObject(wanted);
  });

  test.each([
    `http://:${SECRET}@r`,
    `redis:${SECRET}`,
    'redis://',
    `redis://:${SECRET}@r/name`,
    `redis://:${SECRET}@r/0?x=1`,
    `redis://:${SECRET}%zz@r`,
    `redis://:${SECRET}#@r`,
    `/run/redis/${SECRET}.sock`,
  ])('%s is refused, and the text does not repeat it', (url) => {
    const problems = problemsOf({ PLUMBLINE_REDIS: url });
    expect(problems).toEqual([expect.stringContaining(RULE)]);
    expect(problems.join()).not.toContain(SECRET);
  });

  test.each<[Record<string, string>, string]>([
    [{ _PASSWORD: SECRET }, 'PLUMBLINE_REDIS_PASSWORD: needs PLUMBLINE_REDIS'],
    [{ _CA: '/ca.crt' }, 'PLUMBLINE_REDIS_CA: needs PLUMBLINE_REDIS'],
    [{ '': 'redis://r', _CA: '/ca.crt' }, 'PLUMBLINE_REDIS_CA: needs rediss:// in PLUMBLINE_REDIS'],
    [{ '': 'redis://ada@r' }, 'PLUMBLINE_REDIS: the user has no password'],
    [
      { '': `redis://:${SECRET}@r`, _PASSWORD: SECRET },
      'PLUMBLINE_REDIS_PASSWORD: the password is in PLUMBLINE_REDIS already',
    ],
    [
      { '': 'redis://r', _PASSWORD: SECRET, _PASSWORD_FILE: '/password' },
      'PLUMBLINE_REDIS_PASSWORD_FILE: the password is in PLUMBLINE_REDIS_PASSWORD already',
    ],
  ])('%j contradicts itself: %s', (variables, problem) => {
    const env = Object.entries(variables).map(([name, value]) => [`PLUMBLINE_REDIS${name}`, value]);
    expect(problemsOf(Object.fromEntries(env))).toEqual([`  ${problem}`]);
  });

  test('is optional', () => {
    expect(readConfig({}).redis).toBeUndefined();
  });
});

describe('a value', () => {
  test.each([
    ['PLUMBLINE_PORT', '65536', 'must be a whole number from 0 to 65535'],
    ['PLUMBLINE_PORT', '1e3', 'must be a whole number from 0 to 65535'],
    ['PLUMBLINE_PORT', ' 80', 'must be a whole number from 0 to 65535'],
    ['PLUMBLINE_REQUESTS_PER_KEY', '0', 'must be a whole number from 1 to 1000000000'],
    ['PLUMBLINE_LOG_LEVEL', 'loud', 'must be one of fatal, error, warn'],
    ['PLUMBLINE_TRUSTED_PROXIES', '10.0.0.0/33', 'must be addresses or networks like 10.0.0.0/8'],
    ['PLUMBLINE_DNS_SERVERS', 'dns', 'must be addresses like 192.0.2.53'],
    ['PLUMBLINE_IP_DATABASE', 'networks.mmdb', 'must be the absolute path of a file'],
    ['PLUMBLINE_BASE_URL', 'ftp://dmarc.example.com', 'must be a URL without a path'],
    ['PLUMBLINE_BASE_URL', 'https://example.com/dmarc', 'must be a URL without a path'],
    ['PLUMBLINE_CONTACT', 'http://example.com/', 'must be an e-mail address or an https URL'],
    ['PLUMBLINE_CONTACT', 'postmaster', 'must be an e-mail address or an https URL'],
    ['PLUMBLINE_CONTACT', 'a?b@example.com', 'must be an e-mail address or an https URL'],
    ['PLUMBLINE_ALERT_DROP_POINTS', '0', 'must be a number from 0.01 to 100'],
    ['PLUMBLINE_ALERT_DROP_POINTS', '10.005', 'must be a number from 0.01 to 100'],
    ['PLUMBLINE_ALERT_MAX_AGE_DAYS', '367', 'must be a whole number from 1 to 366: rules look'],
    [
      'PLUMBLINE_ALERT_NEW_SOURCE_FAIL_PERCENT',
      '101',
      'must be a whole number from 1 to 100: it counts',
    ],
    [
      'PLUMBLINE_ALERT_DNS_CONFIRM_MINUTES',
      '1441',
      'must be a whole number from 1 to 1440: at most a day',
    ],
  ])('of %s that is %s is refused: %s', (name, value, rule) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringContaining(`${name}: ${rule}`)]);
  });

  test.each([
    ['postmaster@example.com', 'mailto:postmaster@example.com'],
    ['https://example.com/contact', 'https://example.com/contact'],
    ['https://example.com', 'https://example.com/'],
  ])('of PLUMBLINE_CONTACT that is %s is the URI %s', (PLUMBLINE_CONTACT, uri) => {
    expect(readConfig({ PLUMBLINE_CONTACT }).contact).toBe(uri);
  });

  test.each([
    ['PLUMBLINE_ALERT_SILENCE_HOURS', '97', 'must be at most 96'],
    ['PLUMBLINE_ALERT_RECOVERY_POINTS', '10', 'must be less than PLUMBLINE_ALERT_DROP_POINTS (10)'],
    ['PLUMBLINE_ALERT_SILENCE_REPORT_DAYS', '15', 'must be at most PLUMBLINE_ALERT_SILENCE_WINDOW'],
  ])('of %s that contradicts another threshold is refused: %s', (name, value, rule) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringContaining(`${name}: ${rule}`)]);
  });

  test('at the edge of what is allowed is accepted', () => {
    const { alertThresholds } = readConfig({
      PLUMBLINE_ALERT_SILENCE_HOURS: '96',
      PLUMBLINE_ALERT_RECOVERY_POINTS: '9.99',
      PLUMBLINE_ALERT_SILENCE_REPORT_DAYS: '14',
    });
    expect(alertThresholds).toMatchObject({
      silenceHours: 96,
      recoveryPoints: 9.99,
      silenceReportDays: 14,
    });
  });
});

describe('a PostgreSQL database', () => {
  const PLUMBLINE_DATABASE = 'postgres://plumbline@db.example.com/plumbline';

  test('has its URL where a SQLite database has its path, also in a configuration file', async () => {
    expect(readConfig({ PLUMBLINE_DATABASE }).database).toBe(PLUMBLINE_DATABASE);
    const file = join(await aFolder(), 'plumbline.env');
    writeFileSync(file, `PLUMBLINE_DATABASE=${PLUMBLINE_DATABASE}`);
    const env: NodeJS.ProcessEnv = {};
    loadConfigFile(env, file);
    expect(env['PLUMBLINE_DATABASE']).toBe(PLUMBLINE_DATABASE);
  });

  test('has a password that is read from its file for each connection', async () => {
    const file = join(await aFolder(), 'password');
    const env = { PLUMBLINE_DATABASE, PLUMBLINE_DATABASE_PASSWORD_FILE: file };
    const { password } = readConfig(env).databaseOptions;
    for (const now of ['first', 'second']) {
      writeFileSync(file, `${now}\n`);
      expect(password?.()).toBe(now);
    }
    const missing = readConfig({ ...env, PLUMBLINE_DATABASE_PASSWORD_FILE: `${file}.none` });
    expect(missing.databaseOptions.password).toThrow(/PASSWORD_FILE: .* cannot be read/);
  });

  test.each([
    [
      { PLUMBLINE_DATABASE: 'postgres://a b:5432x/' },
      /^ {2}PLUMBLINE_DATABASE: must be a URL like/,
    ],
    [{ PLUMBLINE_DATABASE: 'postgress://x/y' }, /^ {2}PLUMBLINE_DATABASE: must be a URL like/],
    [
      { PLUMBLINE_DATABASE, PLUMBLINE_DATABASE_READ: 'replica.db' },
      /DATABASE_READ: must be a URL like/,
    ],
    [{ PLUMBLINE_DATABASE_READ: PLUMBLINE_DATABASE }, /DATABASE_READ: is only for a PostgreSQL/],
    [
      {
        PLUMBLINE_DATABASE,
        PLUMBLINE_DATABASE_PASSWORD: 'x',
        PLUMBLINE_DATABASE_PASSWORD_FILE: 'y',
      },
      /PASSWORD: is set, and so is …_PASSWORD_FILE/,
    ],
    [{ PLUMBLINE_DATABASE_CONNECTIONS: '1' }, /CONNECTIONS: must be a whole number from 2 to 1000/],
  ])('%o is refused', (env, problem) => {
    expect(problemsOf(env)).toEqual([expect.stringMatching(problem)]);
  });

  test('is shown without its password', () => {
    const url = 'postgres://user:secret@db.example.com/plumbline?sslmode=require&password=secret';
    expect(toShownUrl(url)).toBe('postgres://user@db.example.com/plumbline?sslmode=require');
    expect(toShownUrl('postgres://a b:secret@')).not.toContain('secret');
  });
});

describe('the default database', () => {
  const asPackage = (folder: string) =>
    pathToFileURL(join(folder, 'node_modules/plumbline/dist/config/database.js')).href;
  const asCheckout = (folder: string) => pathToFileURL(join(folder, 'src/config/database.ts')).href;

  test('of a checkout is in the checkout, wherever the command is started', () => {
    expect(findDefaultDatabase({}, asCheckout('/opt/plumbline'))).toBe(
      '/opt/plumbline/data/plumbline.db',
    );
  });

  test('of an installed package is the user’s, and not in the package', () => {
    expect(findDefaultDatabase({ XDG_DATA_HOME: '/data' }, asPackage('/opt'))).toBe(
      '/data/plumbline/plumbline.db',
    );
    const inHome = join(homedir(), '.local/share/plumbline/plumbline.db');
    expect(findDefaultDatabase({}, asPackage('/opt'))).toBe(inHome);
    expect(findDefaultDatabase({ XDG_DATA_HOME: 'relative' }, asPackage('/opt'))).toBe(inHome);
  });
});

describe('the configuration file', () => {
  async function aFile(text: string) {
    const folder = await aFolder();
    const file = join(folder, 'plumbline.env');
    writeFileSync(file, text);
    return { folder, file };
  }

  test('has a relative path of the database begin at the file', async () => {
    const { folder, file } = await aFile('PLUMBLINE_DATABASE=db/plumbline.db\n');
    const env: NodeJS.ProcessEnv = { PLUMBLINE_CONFIG: file };
    loadConfigFile(env);
    expect(readConfig(env).database).toBe(join(folder, 'db/plumbline.db'));
  });

  test('has relative paths of other files begin there too', async () => {
    const { folder, file } = await aFile(
      'PLUMBLINE_REDIS=rediss://r\nPLUMBLINE_REDIS_PASSWORD_FILE=secret\nPLUMBLINE_REDIS_CA=/etc/ca.pem\nPLUMBLINE_IP_DATABASE=networks.mmdb\n',
    );
    const env: NodeJS.ProcessEnv = { PLUMBLINE_CONFIG: file };
    loadConfigFile(env);
    const files = { passwordFile: join(folder, 'secret'), caFile: '/etc/ca.pem' };
    expect(readConfig(env).redis).toMatchObject(files);
    expect(readConfig(env).ipDatabase).toBe(join(folder, 'networks.mmdb'));
  });

  test('has relative paths of the files of mail begin there too', async () => {
    const { folder, file } = await aFile(
      [
        'PLUMBLINE_IMAP_URL=imaps://reports@mail.example.com',
        'PLUMBLINE_IMAP_PASSWORD_FILE=secret\nPLUMBLINE_IMAP_CA=ca.pem',
        'PLUMBLINE_IMAP_URL_2=imaps://reports@mail.example.net',
        'PLUMBLINE_IMAP_PASSWORD_FILE_2=secret-2',
        'PLUMBLINE_SMTP_NAME=mx.example.com\nPLUMBLINE_SMTP_PORT=25',
        'PLUMBLINE_SMTP_TLS_CERT=cert.pem\nPLUMBLINE_SMTP_TLS_KEY=key.pem',
      ].join('\n'),
    );
    const env: NodeJS.ProcessEnv = { PLUMBLINE_CONFIG: file };
    loadConfigFile(env);
    const { mailboxes, smtp } = readConfig(env);
    expect(mailboxes.map(({ credentials, caFile }) => [credentials.passwordFile, caFile])).toEqual([
      [join(folder, 'secret'), join(folder, 'ca.pem')],
      [join(folder, 'secret-2'), undefined],
    ]);
    const certificate = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
    expect(smtp?.certificate).toEqual(certificate);
  });

  test('is that of --config rather than that of PLUMBLINE_CONFIG; the environment wins', async () => {
    const { file } = await aFile('PLUMBLINE_PORT=81\nPLUMBLINE_HOST=192.0.2.1\n');
    const env: NodeJS.ProcessEnv = { PLUMBLINE_CONFIG: '/nowhere', PLUMBLINE_HOST: '192.0.2.2' };
    loadConfigFile(env, file);
    expect(readConfig(env)).toMatchObject({ port: 81, host: '192.0.2.2' });
  });

  test.each([
    [
      'is not there',
      '/nowhere/plumbline.env',
      '--config: there is no file /nowhere/plumbline.env.',
    ],
    ['is a folder', '/', '--config: / is not a file.'],
    ['is a device without an end', '/dev/zero', '--config: /dev/zero is not a file.'],
  ])('that %s is an error that names it', (_what, file, message) => {
    expect(() => loadConfigFile({}, file)).toThrow(message);
  });

  test('that is too large is not read', async () => {
    const { file } = await aFile('#'.repeat(1024 * 1024 + 1));
    expect(() => loadConfigFile({}, file)).toThrow(`${file} is too large for a configuration.`);
  });

  test('with a quote that is not closed is refused, with what is wrong and the number of the line', async () => {
    const { file } = await aFile("# ours\nPLUMBLINE_HOST='192.0.2.1\nPLUMBLINE_PORT=81\n");
    expect(() => loadConfigFile({}, file)).toThrow(
      `${file}, line 2: the quote has no end, or more`,
    );
  });

  test('with a quote that the next value closes was no setting', async () => {
    const { file } = await aFile('A="1\nPLUMBLINE_HOST="192.0.2.1"\n');
    expect(() => loadConfigFile({}, file)).toThrow(
      `${file}, line 1: the quote has no end, or more`,
    );
  });

  test.each([
    ['a colon in place of the equals sign', 'PLUMBLINE_DATABASE: other.db', 1],
    ['a space in place of the equals sign', '# port\n\nPLUMBLINE_PORT 9000\n', 3],
    ['words', 'PLUMBLINE_PORT=81\r\nthis is nothing\r\n', 2],
    ['a line after a value of several lines', 'NOTE="a\nb"\nnothing\n', 3],
  ])('with %s is refused with the number of the line', async (_what, text, line) => {
    const { file } = await aFile(text);
    const message = `${file}, line ${line}: this is not a setting. Write NAME=value.`;
    expect(() => loadConfigFile({}, file)).toThrow(new ConfigError(message));
  });

  test('the last of two equal names won in silence: the second one is refused with its line', async () => {
    const { file } = await aFile('PLUMBLINE_PORT=81\n# again\nexport PLUMBLINE_PORT=82\n');
    const message = `${file}, line 3: PLUMBLINE_PORT was set before. Keep one of the two.`;
    expect(() => loadConfigFile({}, file)).toThrow(new ConfigError(message));
  });

  test.each([
    ['comments and blank lines', '# a comment\n\n   # another = one\n \t\nPLUMBLINE_PORT=81'],
    ['export', 'export PLUMBLINE_PORT=81\n'],
    ['spaces and a comment', '  PLUMBLINE_PORT = 81 # the port\r\n'],
    ['quotes', 'PLUMBLINE_PORT="81" # the port\nA=\'it # is\'\nB=`"`\n'],
    ['values of several lines', 'A="one\ntwo three\n"\nPLUMBLINE_PORT=81\n'],
    ['empty values', 'A=\nB= # none\nPLUMBLINE_PORT=81\n'],
    ['a byte order mark', '\ufeffPLUMBLINE_PORT=81\n'],
  ])('can have %s', async (_what, text) => {
    const { file } = await aFile(text);
    const env: NodeJS.ProcessEnv = {};
    loadConfigFile(env, file);
    expect(env['PLUMBLINE_PORT']).toBe('81');
  });
});
