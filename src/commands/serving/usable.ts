import { X509Certificate } from 'node:crypto';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/variable.ts';
import { describeSystemError } from '../../domain/system-error.ts';
import { readCertificate } from '../../intake/doors/smtp/certificate.ts';

const { R_OK, W_OK, X_OK } = constants;

/** What jobs would find out later. Throws a ConfigError that names the variable of the first that cannot be used. */
export async function requireUsable({ backups, watched, smtp, mailboxes }: Config): Promise<void> {
  if (backups) requireFolder('PLUMBLINE_BACKUP_TO', backups.folder, W_OK | X_OK);
  for (const folder of watched) requireFolder('PLUMBLINE_WATCH', folder, R_OK | X_OK);
  if (smtp?.certificate)
    await readCertificate(smtp.certificate).catch(({ message }: Error) => {
      throw new ConfigError(`PLUMBLINE_SMTP_TLS_CERT, PLUMBLINE_SMTP_TLS_KEY: ${message}`);
    });
  for (const { caFile, door } of mailboxes)
    if (caFile !== undefined) requireAuthority(`PLUMBLINE_IMAP_CA${toEnd(door)}`, caFile);
}

/** The end of the names of a mailbox's variables. */
const toEnd = (door: string) => door.replace(/^imap:?/, '').replace(/^(?=\d)/, '_');

function requireFolder(variable: string, folder: string, mode: number): void {
  try {
    accessSync(folder, mode);
  } catch (error) {
    throw new ConfigError(`${variable}: ${folder} cannot be used: ${describeSystemError(error)}.`);
  }
  if (!statSync(folder).isDirectory())
    throw new ConfigError(`${variable}: ${folder} is no folder.`);
}

function requireAuthority(variable: string, file: string): void {
  try {
    new X509Certificate(readFileSync(file));
  } catch {
    throw new ConfigError(`${variable}: ${file} is no certificate in PEM.`);
  }
}
