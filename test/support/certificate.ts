import { generateKeyPairSync, sign } from 'node:crypto';

/** DER (X.690): a tag, a length, and what is in it. */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const { length } = body;
  const short = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : short)]), body]);
}

const sequence = (...content: readonly Uint8Array[]) => der(0x30, ...content);
const integer = (value: number) => der(0x02, Buffer.from([value]));
const oid = (...bytes: readonly number[]) => der(0x06, Buffer.from(bytes));
const time = (text: string) => der(0x17, Buffer.from(text));

const ECDSA_SHA256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const COMMON_NAME = oid(0x55, 0x04, 0x03);
const SUBJECT_ALT_NAME = oid(0x55, 0x1d, 0x11);
const DNS_NAME = 0x82;

/** A self-signed certificate (RFC 5280) for a host name until the end of a year, and its key, both in PEM. */
export function aCertificate(host: string, lastYear = 2049): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(host)))));
  const names = sequence(der(DNS_NAME, Buffer.from(host)));
  const toBeSigned = sequence(
    der(0xa0, integer(2)),
    integer(1 + Math.floor(Math.random() * 100)),
    ECDSA_SHA256,
    name,
    sequence(time('200101000000Z'), time(`${lastYear - 2000}1231235959Z`)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(SUBJECT_ALT_NAME, der(0x04, names)))),
  );
  const signature = sign('sha256', toBeSigned, privateKey);
  const bits = der(0x03, Buffer.from([0]), signature);
  return {
    cert: toPem('CERTIFICATE', sequence(toBeSigned, ECDSA_SHA256, bits)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function toPem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
