import { Command } from 'commander';

/** Adds to a command what it takes and does: its options and its action, or its subcommands. */
type Define = (command: Command) => void;

/**
 * How each command is called, what the help says of it, and its module. A module is loaded when its command
 * runs, because all of them take ten times as long to load as the help takes to print.
 */
const COMMANDS: readonly (readonly [string, string, () => Promise<Define>])[] = [
  [
    'serve',
    'Serve the API until the process is told to stop.',
    async () => (await import('./serve.ts')).defineServe,
  ],
  [
    'demo',
    'Serve made-up data: two domains, ninety days of reports, a few alerts.',
    async () => (await import('./demo.ts')).defineDemo,
  ],
  [
    'ingest <path...>',
    'Read report files, folders (with all that is in them), or - for standard input.',
    async () => (await import('./ingest.ts')).defineIngest,
  ],
  [
    'document',
    'Rejected documents and conflicts: what was received and is not served by the API.',
    async () => (await import('./document.ts')).addDocumentCommands,
  ],
  [
    'account',
    'Accounts and their plan.',
    async () => (await import('./account.ts')).addAccountCommands,
  ],
  [
    'domain',
    'The domains that accounts monitor.',
    async () => (await import('./domain.ts')).addDomainCommands,
  ],
  [
    'key',
    'API keys, at most ten for each account.',
    async () => (await import('./key.ts')).addKeyCommands,
  ],
  [
    'alerts',
    'Alerts, and why they are open.',
    async () => (await import('./alerts.ts')).addAlertCommands,
  ],
  [
    'user',
    'People who sign in to the settings pages.',
    async () => (await import('./user.ts')).addUserCommands,
  ],
  [
    'audit <account-id>',
    'Changes of API keys: who, when, from where; latest first.',
    async () => (await import('./audit.ts')).defineAudit,
  ],
];

/** The `plumbline` command. A subcommand is completed from its module before its arguments are parsed. */
export function createProgram(): Command {
  const program = new Command('plumbline')
    .description('DMARC aggregate reports in, a read-only HTTP API out.')
    .showHelpAfterError('(plumbline --help lists the commands)')
    .exitOverride();
  const modules = new Map<Command, () => Promise<Define>>();
  for (const [syntax, description, load] of COMMANDS)
    modules.set(program.command(syntax).description(description), load);
  return program.hook('preSubcommand', async (_program, command) => {
    const [define, { loadEnvFile }] = await Promise.all([
      modules.get(command)?.(),
      import('../config.ts'),
    ]);
    loadEnvFile();
    define?.(command);
    leavesOf(command).forEach(addJson);
  });
}

/** `plumbline help account` is `plumbline account --help`, which loads the command first. */
export function toArguments(given: readonly string[]): readonly string[] {
  return given[0] === 'help' ? [...given.slice(1), '--help'] : given;
}

function addJson(command: Command): void {
  command.option('--json', 'one JSON value on standard output, messages on standard error');
}

function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}
