import { accessSync, constants, statSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { readAuthority } from '../../config/secret-file.ts';
import { ConfigError } from '../../config/variable.ts';
import { describeSystemError } from '../../domain/system-error.ts';
import { readCertificate } from '../../intake/doors/smtp/certificate.ts';
import { isPseudoFolder } from '../../intake/inputs/pseudo-file-system.ts';

const { R_OK, W_OK, X_OK } = constants;

/** What jobs would find out later. Throws a ConfigError that names the variable of the first that cannot be used. */
export async function requireUsable({ backups, watched, smtp, mailboxes }: Config): Promise<void> {
  if (backups) await requireFolder('PLUMBLINE_BACKUP_TO', backups.folder, W_OK | X_OK);
  for (const folder of watched) await requireFolder('PLUMBLINE_WATCH', folder, R_OK | X_OK);
  if (smtp?.certificate)
    await readCertificate(smtp.certificate).catch(({ message }: Error) => {
      throw new ConfigError(`PLUMBLINE_SMTP_TLS_CERT, PLUMBLINE_SMTP_TLS_KEY: ${message}`);
    });
  for (const { caFile, credentials, door } of mailboxes) {
    if (caFile !== undefined) readAuthority(`PLUMBLINE_IMAP_CA${toEnd(door)}`, caFile);
    const program = credentials.tokenCommand?.trim().split(/\s/, 1)[0];
    // Any other is looked for in PATH.
    if (program?.includes('/'))
      requireAccess(`PLUMBLINE_IMAP_TOKEN_COMMAND${toEnd(door)}`, program, X_OK);
  }
}

/** The end of the names of a mailbox's variables. */
const toEnd = (door: string) => door.replace(/^imap:?/, '').replace(/^(?=\d)/, '_');

async function requireFolder(variable: string, folder: string, mode: number): Promise<void> {
  requireAccess(variable, folder, constants.F_OK);
  if (!statSync(folder).isDirectory())
    throw new ConfigError(`${variable}: ${folder} is no folder.`);
  requireAccess(variable, folder, mode);
  if (await isPseudoFolder(folder))
    throw new ConfigError(`${variable}: ${folder} is in a file system of the kernel.`);
}

function requireAccess(variable: string, path: string, mode: number): void {
  try {
    accessSync(path, mode);
  } catch (error) {
    throw new ConfigError(`${variable}: ${path} cannot be used: ${describeSystemError(error)}.`);
  }
}
