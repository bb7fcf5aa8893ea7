import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { aProgram } from '../support/program.ts';

const GUIDES = ['operate.md', 'operate/mail.md', 'operate/scale.md', 'manual.md'].map((guide) =>
  readFileSync(`docs/${guide}`, 'utf8'),
);

describe('help for operators', () => {
  test('lists the topics, and every part of the guide and of the manual is one', async () => {
    const { run } = aProgram();
    const topics = (await run(['help', 'topics'])).stdout.trimEnd().split('\n');
    expect(topics).toContain('back-up-and-restore');
    const isPart = (topic: string) => topic.startsWith('  ');
    const texts = await Promise.all(
      topics
        .filter((topic) => !isPart(topic))
        .map(async (topic) => (await run(['help', topic])).stdout),
    );
    const wanted = GUIDES.map((guide) => guide.slice(guide.indexOf('\n## ') + 1));
    expect(texts.join('')).toBe(wanted.join(''));
    // “help retention” names a part, which the list lacked.
    expect(topics).toContain('  partitions-and-months');
    for (const part of topics.filter(isPart))
      expect((await run(['help', part.trim()])).stdout, part).toMatch(/^(?:### |Usage: )/);
  });

  test('a topic is found by a word of its name, when only one has it', async () => {
    const { run } = aProgram();
    expect((await run(['help', 'systemd'])).stdout).toMatch(/^## Start it with systemd\n/);
  });

  test('a word of several topics lists them, those first that have it in their name', async () => {
    const { status, stdout } = await aProgram().run(['help', 'reports']);
    expect(status).toBe(0);
    const names = [...stdout.matchAll(/^plumbline help (\S+)\n {4}\S/gm)].map(([, name]) => name);
    expect(names.slice(0, 3).toSorted()).toEqual([
      'ingest-reports',
      'reports-by-mail',
      'reports-that-come-in',
    ]);
  });

  test.each([
    ['retention', 'how-long-things-are-kept'],
    ['cron', 'ingest-reports'],
    ['secrets', 'postgresql'],
    ['log', 'health-and-logs'],
    ['certbot', 'the-certificate-of-the-smtp-door'],
    ['drill', 'back-up-and-restore'],
    ['target_session_attrs', 'postgresql'],
    ['PLUMBLINE_BACKUP_KEEP', 'back-up-and-restore'],
  ])('%s, a word that no heading has, was no topic', async (word, topic) => {
    const { status, stdout } = await aProgram().run(['help', word]);
    const { stdout: text } = await aProgram().run(['help', topic]);
    expect(status).toBe(0);
    expect(stdout === text || stdout.includes(`plumbline help ${topic}\n`)).toBe(true);
    expect(stdout.toLowerCase()).toContain(word.toLowerCase());
  });

  test('the place of a word in a topic ends and begins with whole words', async () => {
    const { stdout } = await aProgram().run(['help', 'retention']);
    const places = [...stdout.matchAll(/^ {4}(.+)$/gm)].map(([, place]) => ` ${place} `);
    expect(places.length).toBeGreaterThan(1);
    const texts = GUIDES.join('\n').replaceAll('\n', ' \n ');
    for (const place of places) expect(texts).toContain(place);
  });

  test.each([
    [['Upgrade'], /^## Upgrade\n/],
    [['PEOPLE'], /^## People\n/],
    [['Back', 'up', 'and', 'restore'], /^## Back up and restore\n/],
    [['smtp'], /^### SMTP\n/],
    [['metrics'], /^### Metrics\n/],
    [['outcomes'], /^## Outcomes\n/],
    [['Account'], /^Usage: plumbline account /],
  ])(
    '%j, a heading as it is written, printed the general usage, or was no topic',
    async (words, text) => {
      const { status, stdout } = await aProgram().run(['help', ...words]);
      expect([status, stdout]).toEqual([0, expect.stringMatching(text)]);
    },
  );

  test('a command comes before a topic with its name', async () => {
    expect((await aProgram().run(['help', 'mail'])).stdout).toMatch(/^Usage: plumbline mail /);
  });

  test('what is neither is an error that says where the topics are', async () => {
    const { status, stderr } = await aProgram().run(['help', 'nonsense']);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/plumbline help topics.*back-up-and-restore/),
    ]);
  });
});

describe('the version', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const [heading] = /^## (.*)/m.exec(readFileSync('CHANGELOG.md', 'utf8'))?.slice(1) ?? [];

  test('of what is not released ends with -dev and says the commit; the changelog then begins with Unreleased', async () => {
    const { stdout } = await aProgram().run(['--version']);
    if (heading !== 'Unreleased') {
      expect([heading?.split(' ')[0], stdout]).toEqual([version, `${version}\n`]);
      return;
    }
    expect(version).toMatch(/^\d+\.\d+\.\d+-dev$/);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+-dev(?:\+[0-9a-f]{7,})?\n$/);
  });

  test('is printed with other options before it, and not in the place of a command', async () => {
    const { run } = aProgram();
    expect((await run(['--quiet', '--version'])).stdout).toContain(version);
    expect((await run(['account', '--version'])).status).toBe(2);
  });
});
