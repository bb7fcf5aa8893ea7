import { generateKeyPairSync } from 'node:crypto';
import signing from 'mailauth/lib/dkim/sign.js';

interface Key {
  readonly privateKey: string;
  /** The TXT record of its selector. */
  readonly record: string;
}

export function aKey(modulusLength = 2_048): Key {
  const pair = generateKeyPairSync('rsa', { modulusLength });
  const spki = pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  return {
    privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    record: `v=DKIM1; k=rsa; p=${spki}`,
  };
}

interface Signing {
  readonly domain?: string;
  readonly expires?: Date;
  readonly maxBodyLength?: number;
  /** The fields that are signed; without them, all that usually are. */
  readonly fields?: readonly string[];
}

export const SELECTOR = 's1';

/** The mail with a DKIM signature before it. */
export async function signMail(
  mail: Buffer,
  { privateKey }: Pick<Key, 'privateKey'>,
  { domain = 'reporter.example', fields, ...options }: Signing = {},
): Promise<Buffer> {
  const key = { signingDomain: domain, selector: SELECTOR, privateKey };
  const { signatures } = await signing.dkimSign(mail, {
    ...{ ...key, ...options, signatureData: [{ ...key, ...options }] },
    canonicalization: 'relaxed/relaxed',
    ...(fields && { headerList: fields.join(': ') }),
    signTime: new Date('2026-03-01T00:00:00Z'),
  });
  return Buffer.concat([Buffer.from(signatures), mail]);
}
