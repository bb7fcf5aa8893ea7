import { Command, CommanderError } from 'commander';

interface CommandModule {
  /** Adds options and an action to the command, or subcommands. */
  readonly define: (command: Command) => void;
}

/** The module of each command. To load all of them would take ten times as long as to print the help. */
const MODULES = {
  serve: () => import('./serve.ts'),
  work: () => import('./work.ts'),
  demo: () => import('./demo.ts'),
  ingest: () => import('./ingest.ts'),
  document: () => import('./document.ts'),
  inbox: () => import('./inbox.ts'),
  account: () => import('./account.ts'),
  domain: () => import('./domain.ts'),
  key: () => import('./key.ts'),
  mail: () => import('./mail.ts'),
  webhook: () => import('./webhook.ts'),
  delivery: () => import('./delivery.ts'),
  alerts: () => import('./alerts.ts'),
  user: () => import('./user.ts'),
  audit: () => import('./audit.ts'),
  backup: () => import('./backup.ts'),
  restore: () => import('./restore.ts'),
  verify: () => import('./verify.ts'),
  doctor: () => import('./doctor.ts'),
  prune: () => import('./prune.ts'),
  migrate: () => import('./migrate.ts'),
  move: () => import('./move.ts'),
} satisfies Record<string, () => Promise<CommandModule>>;

/** Syntax and description of each command, in the order of the help. */
const COMMANDS = {
  serve: 'Serve the API until the process is told to stop.',
  work: 'Do what is not answering requests, beside one or more plumbline serve --only api.',
  demo: 'Serve made-up data: five domains, ninety days of reports, a few alerts.',
  'ingest <path...>':
    'Read report files, folders (with all that is in them), or - for standard input.',
  document: 'Rejected documents and conflicts: what was received and is not served by the API.',
  inbox: 'Mails that came in by SMTP, by IMAP and through folders, and what became of them.',
  account: 'Accounts and their plan. An <account> is given by its id or its name.',
  domain: 'The domains that accounts monitor. A <domain> is given by its name or its id.',
  key: 'API keys, at most ten for each account.',
  mail: 'The mail that Plumbline sends.',
  webhook: 'Endpoints that are told of events, at most five for each account.',
  delivery: 'What endpoints were sent, and how they answered.',
  alerts: 'Alerts, and why they are open.',
  user: 'People who sign in to the settings pages. A <user> is given by an e-mail address or an id.',
  'audit <account>': 'What was done in an account: who, when, from where; latest first.',
  'backup <file>': 'Copy the SQLite database into a file while it is used, and check the copy.',
  'restore <file>': 'Put a backup in the place of the SQLite database.',
  verify: 'Count every stored figure again, and name or mend those that are wrong.',
  doctor: 'Look for what is wrong with the installation, and say what to do.',
  prune: 'Delete the reports and the entries of the audit that are older than they are kept.',
  migrate: 'Bring the database to the schema of this version, however long that takes.',
  'move [postgres-url]':
    'Move the SQLite database to an empty PostgreSQL database, and compare both.',
} satisfies Partial<Record<`${keyof typeof MODULES}${string}`, string>>;

/** Exit statuses: 0 done, 1 failed, 2 wrong command line or configuration. */
const MISUSED = 2;

/** Prints what goes wrong, and returns the exit status. */
export async function runCommand(argv: readonly string[]): Promise<number> {
  const args = expandHelp(argv);
  try {
    const said = await findSaid(argv);
    if (said !== undefined) {
      process.stdout.write(said);
      return 0;
    }
    await createProgram().parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // commander has printed the error, or the help that was requested.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : MISUSED;
    const { reportError } = await import('./output/report-error.ts');
    return reportError(error, { json: args.includes('--json') });
  }
}

/** The `plumbline` command. A subcommand is completed from its module before its arguments are parsed. */
function createProgram(): Command {
  const program = new Command('plumbline')
    .description('DMARC aggregate reports in, a read-only HTTP API out.')
    .option('-V, --version', 'print the version')
    .enablePositionalOptions()
    .showHelpAfterError('(plumbline --help lists the commands)')
    .addHelpText('after', '\nFor operators: plumbline help topics, plumbline help <topic>.')
    .exitOverride();
  addCommonOptions(program);
  for (const [syntax, description] of Object.entries(COMMANDS))
    program.command(syntax).description(description);
  return program
    .hook('preSubcommand', async (_program, command) => {
      const name = command.name();
      if (isCommand(name)) (await MODULES[name]()).define(command);
      complete(command, `plumbline ${name}`);
    })
    .hook('preAction', async (_program, command) => {
      for (const [name, value] of Object.entries(program.opts()))
        command.setOptionValue(name, value);
      const { loadConfigFile } = await import('../config/file.ts');
      loadConfigFile(process.env, command.opts()['config']);
    });
}

/** What is said without any command: the version, and what `help` says of a topic that is no command. */
async function findSaid(argv: readonly string[]): Promise<string | undefined> {
  const [first, ...words] = argv;
  const command = argv.findIndex((arg) => !arg.startsWith('-'));
  const options = command === -1 ? argv : argv.slice(0, command);
  if (options.includes('-V') || options.includes('--version'))
    return `${(await import('../config/version.ts')).readVersion()}\n`;
  const [word] = words;
  const isTopic =
    first === 'help' &&
    word !== undefined &&
    !word.startsWith('-') &&
    !isCommand(word.toLowerCase());
  return isTopic ? (await import('./topics.ts')).renderTopic(words.join(' ')) : undefined;
}

/** The options of every command, which may stand before its name or after it. */
function addCommonOptions(command: Command): void {
  command
    .option('--json', 'one JSON value on standard output, messages on standard error')
    .option('--quiet', 'no hints, no progress; ingest prints only what went wrong')
    .option('--config <file>', 'read the configuration from this file, not from PLUMBLINE_CONFIG');
}

/** `plumbline help account` is `plumbline account --help`, which loads the command first. */
function expandHelp(argv: readonly string[]): readonly string[] {
  const [first, word = '', ...others] = argv;
  if (first !== 'help') return argv;
  const command = word.toLowerCase();
  return [...(isCommand(command) ? [command, ...others] : argv.slice(1)), '--help'];
}

const isCommand = (word: string): word is keyof typeof MODULES => Object.hasOwn(MODULES, word);

/** Each command names its own help after an error, and what has no subcommands gets the common options. */
function complete(command: Command, path: string): void {
  command.showHelpAfterError(`(${path} --help says how to use it)`);
  if (command.commands.length === 0) addCommonOptions(command);
  for (const one of command.commands) complete(one, `${path} ${one.name()}`);
}
