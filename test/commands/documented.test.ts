import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { aProgram } from '../support/program.ts';

const COMMAND = /^(?:.*(?:\/| -- |npm run ))?plumbline (?:-- )?([a-z].*)$/;

/** The commands in the blocks of code of a page, as the words after `plumbline`. */
function listCommands(page: string): string[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```\w*\n(.*?)^```/gms);
  const lines = [...blocks].flatMap(([, block = '']) => block.split('\n'));
  return lines.flatMap((line) => COMMAND.exec(line.replace(/ +#.*$/, ''))?.[1] ?? []);
}

/** Commands without subcommands. */
const LEAVES = ['serve', 'demo', 'ingest', 'audit', 'backup', 'restore', 'migrate', 'move'];

test.each([
  ['README.md', 5],
  ['docs/operate.md', 10],
  ['docs/operate/mail.md', 8],
  ['docs/operate/scale.md', 1],
  ['docs/manual.md', 5],
])('every command and option in the blocks of %s exists', async (page, least) => {
  const commands = listCommands(page);
  expect(commands.length).toBeGreaterThanOrEqual(least);
  const { run } = aProgram();
  for (const command of commands) {
    const words = command.split(' ');
    const isLeaf = LEAVES.includes(words[0] ?? '');
    const { status, stdout } = await run([...words.slice(0, isLeaf ? 1 : 2), '--help']);
    const wanted = `Usage: plumbline ${words.slice(0, isLeaf ? 1 : 2).join(' ')} `;
    expect([status, stdout], command).toEqual([0, expect.stringContaining(wanted)]);
    for (const option of words.filter((word) => word.startsWith('--')))
      expect(stdout, command).toContain(option);
  }
});

const OF_ALL = ['--json', '--quiet', '--config', '--help'];

/** The commands in a help text. */
function listNames(help: string): string[] {
  const [, list = ''] = help.split('Commands:\n');
  return [...list.matchAll(/^ {2}([a-z-]+)/gm)].flatMap(([, name = '']) =>
    name === 'help' ? [] : [name],
  );
}

function listOptions(help: string): string[] {
  const options = [...help.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)];
  return options.flatMap(([, option = '']) => (OF_ALL.includes(option) ? [] : [option]));
}

test('docs/manual.md names every command, subcommand and option', async () => {
  const { run } = aProgram();
  const readHelp = async (...words: string[]) => (await run([...words, '--help'])).stdout;
  const lines = readFileSync('docs/manual.md', 'utf8').split('\n');
  const commands = listNames(await readHelp());
  expect(commands.length).toBeGreaterThan(20);
  for (const command of commands) {
    const row = lines.filter((line) => line.startsWith(`| \`plumbline ${command}`)).join('\n');
    expect(row, command).not.toBe('');
    const help = await readHelp(command);
    const names = listNames(help);
    for (const name of names)
      expect(row, command).toMatch(new RegExp(`(?:\`|${command} )${name}[ \`]`));
    const helps = await Promise.all(names.map((name) => readHelp(command, name)));
    for (const option of [help, ...helps].flatMap(listOptions))
      expect(row, command).toContain(option);
  }
});
