import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { toDay, toInstant } from '../../../domain/instant.ts';
import { describeSystemError } from '../../../domain/system-error.ts';

/** A certificate with its chain, and its key: files in PEM. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** How often the files are looked at. Whoever renews a certificate does so days before the old one ends. */
const LOOK_MS = 60_000;

/** Throws an Error that says why a file cannot be used, or that the two do not belong together. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const { certFile, keyFile } = files;
  const [cert, key] = await Promise.all([readPem(certFile), readPem(keyFile)]);
  const first = parse(() => new X509Certificate(cert), `${certFile} is no certificate in PEM.`);
  const cure = 'An encrypted one has to be stored without its password: openssl pkey -in … -out ….';
  const own = parse(() => createPrivateKey(key), `${keyFile} is no private key in PEM. ${cure}`);
  const order = "whose first certificate has to be the server's own";
  if (!first.checkPrivateKey(own))
    throw new Error(`${keyFile} is not the key of ${certFile}, ${order}.`);
  parse(() => createSecureContext({ cert, key }), `TLS does not work with ${certFile}.`);
  return { cert, key };
}

/** OpenSSL's own message says what it did, not what is wrong with the file. */
function parse<T>(read: () => T, text: string): T {
  try {
    return read();
  } catch (cause) {
    throw new Error(text, { cause });
  }
}

async function readPem(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new Error(`${file} cannot be read: ${describeSystemError(error)}.`);
  }
}

/** Why senders that check certificates do not deliver. Those that do not check go on, so the door stays open. */
export function findExpiry({ cert }: Certificate, file: string, now: Date): string | undefined {
  const { validFromDate, validToDate } = new X509Certificate(cert);
  if (now > validToDate)
    return `The certificate ${file} expired on ${toDay(toInstant(validToDate))}: renew it.`;
  if (now < validFromDate)
    return `The certificate ${file} is not valid before ${toDay(toInstant(validFromDate))}: is the clock right?`;
  return undefined;
}

/**
 * Calls `on.fault` when the files cannot be used: the former certificate then stays. Half of a renewal (new certificate,
 * old key) is a fault that ends by itself. Returns what stops the watching.
 */
export function watchCertificate(
  files: CertificateFiles,
  on: { renewed: (certificate: Certificate) => void; fault: (error: Error) => void },
  lookMs = LOOK_MS,
): () => void {
  let known: string | undefined;
  const look = async () => {
    const seen = await toVersion(files);
    const isFirst = known === undefined;
    if (seen === known) return;
    known = seen;
    if (!isFirst) await readCertificate(files).then(on.renewed, on.fault);
  };
  void look();
  const timer = setInterval(() => void look(), lookMs).unref();
  return () => clearInterval(timer);
}

/** Changes when a file is replaced or written, and when it cannot be read. */
async function toVersion({ certFile, keyFile }: CertificateFiles): Promise<string> {
  const look = (file: string) => stat(file).catch(() => undefined);
  const stats = await Promise.all([certFile, keyFile].map(look));
  return stats.map((one) => `${one?.ino}:${one?.mtimeMs}:${one?.size}`).join(' ');
}
