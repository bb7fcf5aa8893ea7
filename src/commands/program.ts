import { Command } from 'commander';
import { loadEnvFile } from '../config.ts';
import { addAccountCommands } from './account.ts';
import { addAlertCommands } from './alerts.ts';
import { addAuditCommand } from './audit.ts';
import { addDemoCommand } from './demo.ts';
import { addDocumentCommands } from './document.ts';
import { addDomainCommands } from './domain.ts';
import { addIngestCommand } from './ingest.ts';
import { addKeyCommands } from './key.ts';
import { addServeCommand } from './serve.ts';
import { addUserCommands } from './user.ts';

/** The `plumbline` command. Every leaf takes `--json`. */
export function createProgram(): Command {
  const program = new Command('plumbline')
    .description('DMARC aggregate reports in, a read-only HTTP API out.')
    .showHelpAfterError('(plumbline --help lists the commands)')
    .exitOverride();
  loadEnvFile();
  addServeCommand(program);
  addDemoCommand(program);
  addIngestCommand(program);
  addDocumentCommands(program);
  addAccountCommands(program);
  addDomainCommands(program);
  addKeyCommands(program);
  addAlertCommands(program);
  addUserCommands(program);
  addAuditCommand(program);
  for (const leaf of leavesOf(program)) {
    leaf.option('--json', 'one JSON value on standard output, messages on standard error');
  }
  return program;
}

function leavesOf(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}
