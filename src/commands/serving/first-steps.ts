import { resolve } from 'node:path';
import { findDefaultDatabase } from '../../config/database.ts';
import { readConfigFile } from '../../config/file.ts';
import { isPostgresUrl, toShownDatabase } from '../../domain/database-address.ts';

/**
 * What names the database of this process for a command in another terminal: the texts before the command and after it. It
 * is named by the configuration file, or else by the environment.
 */
export function findNaming(database: string, env: NodeJS.ProcessEnv, config?: string) {
  const { settings, named } = readConfigFile(env, config);
  const isOfFile = settings['PLUMBLINE_DATABASE'] === database;
  if (isOfFile && named?.by === '--config')
    return { before: '', after: ` --config ${toShellWord(named.file)}` };
  if (isOfFile && named !== undefined)
    return { before: `PLUMBLINE_CONFIG=${toShellWord(named.file)} `, after: '' };
  // A URL may have a password, and its reader has set the environment that names it.
  const isPlain = isOfFile || isPostgresUrl(database) || database === findDefaultDatabase(env);
  return {
    before: isPlain ? '' : `PLUMBLINE_DATABASE=${toShellWord(resolve(database))} `,
    after: '',
  };
}

function toShellWord(path: string): string {
  return /^[\w./:@%+,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** The commands work where this module is: in a checkout or in an installed package. */
export function renderFirstSteps(
  database: string,
  { before, after }: ReturnType<typeof findNaming>,
  module = import.meta.url,
): string {
  const [command, demo] = module.endsWith('.ts')
    ? ['npm run plumbline --', 'npm run demo']
    : ['plumbline', 'plumbline demo'];
  const plumbline = `${before}${command}`;
  return `
The database ${toShownDatabase(database)} is empty. To get data into it, in another terminal:

  ${plumbline} account create "My company"${after}
  ${plumbline} domain add "My company" example.com${after}
  ${plumbline} key create "My company" "First key"${after}
  ${plumbline} user add "My company" you@example.com${after}
  ${plumbline} ingest <files and folders with DMARC aggregate reports>${after}

Or stop this, and look around with made-up data: ${demo}
`;
}
