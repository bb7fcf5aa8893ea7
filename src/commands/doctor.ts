import type { Command } from 'commander';
import { type Config, readConfig } from '../config/config.ts';
import type { Store } from '../store/engine/store.ts';
import {
  checkBackup,
  checkDatabase,
  checkDoors,
  checkSecrets,
  checkSpace,
  checkWork,
  openUnchanged,
} from './doctor/database-checks.ts';
import { check, error, type Finding, LEVELS, ok, warning } from './doctor/finding.ts';
import {
  checkAddress,
  checkCertificate,
  checkClock,
  checkDocs,
  checkMailServer,
  checkProxy,
  checkResolver,
} from './doctor/outside-checks.ts';
import { warnOfLooseFiles } from './loose-files.ts';
import { type OutputOptions, printList } from './output/output.ts';

const HELP = `
It changes nothing. SQLite's file is read as a whole. Exit status, for a monitor: 0 when all is well, 1 with a warning, 2 with an
error.`;

const OF_DATABASE = {
  space: checkSpace,
  clock: checkClock,
  doors: checkDoors,
  work: checkWork,
  secrets: checkSecrets,
} as const;

const OF_OTHERS = {
  backup: checkBackup,
  resolver: checkResolver,
  certificate: checkCertificate,
  docs: checkDocs,
  address: checkAddress,
  proxy: checkProxy,
  'mail server': checkMailServer,
} as const;

export function define(command: Command): void {
  command.addHelpText('after', HELP).action(async (options: OutputOptions) => {
    const findings = await examine();
    const rows = findings.map(([name, finding]) => ({ check: name, ...finding }));
    const toColumns = ({ check, level, found, advice }: (typeof rows)[number]) => ({
      level,
      check,
      found: advice === null ? found : `${found.replace(/\.?$/, '.')} ${advice}`,
    });
    printList(rows, { none: '', toColumns }, options);
    process.exitCode = Math.max(...rows.map(({ level }) => LEVELS.indexOf(level)));
  });
}

type Named = readonly [check: string, Finding];

async function examine(): Promise<readonly Named[]> {
  const read = readConfiguration();
  if (!('config' in read)) return [['configuration', read]];
  const { config, finding } = read;
  const ofDatabase = await examineDatabase(config);
  const others = Object.entries(OF_OTHERS).map(
    async ([name, run]): Promise<Named> => [name, await check(() => run(config))],
  );
  return [['configuration', finding], ...ofDatabase, ...(await Promise.all(others))];
}

function readConfiguration(): Finding | { readonly config: Config; readonly finding: Finding } {
  try {
    const config = readConfig(process.env);
    const loose: string[] = [];
    warnOfLooseFiles(config, (text) => loose.push(text));
    const isTight = loose.length === 0;
    const finding = isTight ? ok('It is right.') : warning(loose.join(' '), 'Change the mode.');
    return { config, finding };
  } catch (fault) {
    const message = (fault as Error).message.replaceAll(/\n\s*/g, ' ');
    return error(message, 'Correct that. Nothing else was looked at.');
  }
}

/** Says only that the database cannot be used when it cannot. */
async function examineDatabase(config: Config): Promise<readonly Named[]> {
  let store: Store | undefined;
  let pending = 0;
  try {
    ({ store, pending } = await openUnchanged(config));
    const found: Named[] = [['database', await check(() => checkDatabase(config, pending))]];
    if (pending > 0) return found;
    for (const [name, run] of Object.entries(OF_DATABASE))
      found.push([name, await check(() => run(config, store as Store))]);
    return found;
  } catch (fault) {
    return [['database', error((fault as Error).message, 'Nothing else of it was looked at.')]];
  } finally {
    await store?.close();
  }
}
