import { Command } from 'commander';
import { loadEnvFile } from '../config.ts';

type AddCommands = (program: Command) => void;

/** The module of each command, loaded when it is needed: most commands need neither a server nor a parser. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommands>>> = {
  serve: async () => (await import('./serve.ts')).addServeCommand,
  demo: async () => (await import('./demo.ts')).addDemoCommand,
  ingest: async () => (await import('./ingest.ts')).addIngestCommand,
  document: async () => (await import('./document.ts')).addDocumentCommands,
  account: async () => (await import('./account.ts')).addAccountCommands,
  domain: async () => (await import('./domain.ts')).addDomainCommands,
  key: async () => (await import('./key.ts')).addKeyCommands,
  alerts: async () => (await import('./alerts.ts')).addAlertCommands,
  user: async () => (await import('./user.ts')).addUserCommands,
  audit: async () => (await import('./audit.ts')).addAuditCommand,
};

/**
 * The `plumbline` command with the subcommand that the arguments begin with; with all of them when that is not
 * a subcommand, for the help and for errors. Every leaf takes `--json`.
 */
export async function createProgram([name = '']: readonly string[]): Promise<Command> {
  const program = new Command('plumbline')
    .description('DMARC aggregate reports in, a read-only HTTP API out.')
    .showHelpAfterError('(plumbline --help lists the commands)')
    .exitOverride();
  loadEnvFile();
  const names = Object.hasOwn(COMMANDS, name) ? [name] : Object.keys(COMMANDS);
  for (const wanted of names) (await COMMANDS[wanted]?.())?.(program);
  for (const leaf of leavesOf(program)) {
    leaf.option('--json', 'one JSON value on standard output, messages on standard error');
  }
  return program;
}

function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}
