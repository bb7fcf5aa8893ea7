import { X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
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

/** Reads both files. Throws an Error in words when one cannot be read, or they do not belong together. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([readPem(files.certFile), readPem(files.keyFile)]);
  try {
    createSecureContext({ cert, key });
    new X509Certificate(cert);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(
      `${files.certFile} and ${files.keyFile} are no certificate and key: ${message}`,
    );
  }
  return { cert, key };
}

async function readPem(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new Error(`${file} cannot be read: ${describeSystemError(error)}.`);
  }
}

interface Watched {
  readonly onRenewed: (certificate: Certificate) => void;
  /** The files cannot be used: the former certificate stays. */
  readonly onFault: (error: Error) => void;
  readonly lookMs?: number;
}

/**
 * Reads the files again when one has changed. Half of a renewal (the certificate is new, the key is not yet) is a
 * fault that ends by itself. Returns what ends the watching.
 */
export function watchCertificate(
  files: CertificateFiles,
  { onRenewed, onFault, lookMs = LOOK_MS }: Watched,
): () => void {
  let known: string | undefined;
  const look = async () => {
    const seen = await toVersion(files);
    const isFirst = known === undefined;
    if (seen === known) return;
    known = seen;
    if (!isFirst) await readCertificate(files).then(onRenewed, onFault);
  };
  void look();
  const timer = setInterval(() => void look(), lookMs).unref();
  return () => clearInterval(timer);
}

/** Changes when a file is replaced or written, and when it cannot be read. */
async function toVersion({ certFile, keyFile }: CertificateFiles): Promise<string> {
  const stats = await Promise.all(
    [certFile, keyFile].map((file) => stat(file).catch(() => undefined)),
  );
  return stats.map((one) => `${one?.ino}:${one?.mtimeMs}:${one?.size}`).join(' ');
}
