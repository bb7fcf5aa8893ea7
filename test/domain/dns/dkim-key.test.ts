import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { readKey } from '../../../src/domain/dns/dkim-key.ts';

const aKey = (bits: number, type: 'spki' | 'pkcs1' = 'spki') =>
  generateKeyPairSync('rsa', { modulusLength: bits })
    .publicKey.export({ format: 'der', type })
    .toString('base64');
const [SHORT, RIGHT, BARE] = [aKey(512), aKey(1024), aKey(1024, 'pkcs1')];
const ED25519 = Buffer.alloc(32, 7).toString('base64');

test.each<[string, readonly string[], ReturnType<typeof readKey>]>([
  ['no record', [], { state: 'missing', bits: null, findings: [] }],
  ['a key', [`v=DKIM1; k=rsa; p=${RIGHT}`], { state: 'found', bits: 1024, findings: [] }],
  [
    'one with blanks',
    [`p=${RIGHT.slice(0, 40)} ${RIGHT.slice(40)};`],
    { state: 'found', bits: 1024, findings: [] },
  ],
  ['a bare RSA key', [`v=DKIM1; p=${BARE}`], { state: 'found', bits: 1024, findings: [] }],
  [
    'a short key in test mode',
    [`v=DKIM1; t=s:y; p=${SHORT}`],
    { state: 'found', bits: 512, findings: ['short', 'test_mode'] },
  ],
  ['Ed25519', [`v=DKIM1; k=ed25519; p=${ED25519}`], { state: 'found', bits: 256, findings: [] }],
  [
    'Ed25519 of another length',
    [`k=ed25519; p=${RIGHT}`],
    { state: 'invalid', bits: null, findings: ['bad_key'] },
  ],
  ['revoked', ['v=DKIM1; p='], { state: 'revoked', bits: null, findings: [] }],
  [
    'another type',
    [`k=ecdsa; p=${RIGHT}`],
    { state: 'invalid', bits: null, findings: ['bad_type'] },
  ],
  [
    'another version',
    [`v=DKIM2; p=${RIGHT}`],
    { state: 'invalid', bits: null, findings: ['bad_version'] },
  ],
  [
    'a version that is not first',
    [`p=${RIGHT}; v=DKIM1`],
    { state: 'invalid', bits: null, findings: ['bad_version'] },
  ],
  [
    'SHA-1 alone, and not for mail',
    [`h=sha1; s=tlsrpt; p=${RIGHT}`],
    { state: 'found', bits: 1024, findings: ['sha1_only', 'not_for_mail'] },
  ],
  [
    'half a key',
    [`p=${RIGHT.slice(0, 80)}`],
    { state: 'invalid', bits: null, findings: ['bad_key'] },
  ],
  ['64 KB', [`p=${'A'.repeat(65_000)}`], { state: 'invalid', bits: null, findings: ['bad_key'] }],
  ['no tag of a key', ['v=spf1 -all'], { state: 'invalid', bits: null, findings: ['bad_key'] }],
  ['two keys', [`p=${RIGHT}`, `p=${RIGHT}`], { state: 'found', bits: 1024, findings: ['several'] }],
])('%s', (_, texts, found) => {
  expect(readKey(texts)).toEqual(found);
});
