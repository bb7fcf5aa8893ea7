import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NAME = 'plumbline.db';

/**
 * The database when none is configured, whatever the current folder is: in a checkout, where Node runs the
 * TypeScript, its folder `data`; for an installed package the place for the data of the user's programs (XDG
 * Base Directory), because an upgrade replaces the package's own folder.
 */
export function findDefaultDatabase(env: NodeJS.ProcessEnv, module = import.meta.url): string {
  if (module.endsWith('.ts')) return fileURLToPath(new URL(`../../data/${NAME}`, module));
  return join(findDataHome(env), 'plumbline', NAME);
}

/** A relative XDG_DATA_HOME is invalid and is ignored, as the specification demands. */
function findDataHome(env: NodeJS.ProcessEnv): string {
  const wanted = process.platform === 'win32' ? env['LOCALAPPDATA'] : env['XDG_DATA_HOME'];
  return wanted !== undefined && isAbsolute(wanted) ? wanted : join(homedir(), '.local', 'share');
}
