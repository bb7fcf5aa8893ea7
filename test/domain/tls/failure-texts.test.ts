import { describe, expect, test } from 'vitest';
import type { TlsMode } from '../../../src/domain/reports/tls-report.ts';
import { describeFailure, toEffect } from '../../../src/domain/tls/failure-texts.ts';

const NAMES = {
  ...{ domain: 'example.com', mxHost: 'mx.example.com', reporter: 'Provider' },
  reason: 'MX_HOSTS_MISMATCH',
};

test.each([
  ['starttls-not-supported', 'mx.example.com did not offer STARTTLS.', /port 25 of mx/],
  [
    'certificate-host-mismatch',
    'The certificate of mx.example.com is for another name.',
    /MX name/,
  ],
  ['certificate-expired', 'The certificate of mx.example.com has expired.', /^Renew it, reload/],
  ['certificate-not-trusted', 'Senders do not trust the certificate of mx.example.com.', /chain/],
  ['validation-failure', 'TLS with mx.example.com failed: MX_HOSTS_MISMATCH.', /mx lines/],
  ['tlsa-invalid', 'No TLSA record of mx.example.com matches its certificate.', /before the cert/],
  ['dnssec-invalid', 'DNS answers for mx.example.com fail DNSSEC.', /DS at the parent/],
  [
    'dane-required',
    'Provider insists on DANE, and mx.example.com has none.',
    /agreement with Prov/,
  ],
  [
    ...(['sts-policy-fetch-error', 'The policy file could not be fetched.'] as const),
    /https:\/\/mta-sts\.example\.com\/\.well-known\/mta-sts\.txt/,
  ],
  ['sts-policy-invalid', 'The policy file is not valid.', /change the id/],
  ['sts-webpki-invalid', 'The certificate of mta-sts.example.com is not valid.', /web server/],
  [
    ...(['unknown', /^TLS with mx\.example\.com failed, and reports do not say why/] as const),
    /STARTTLS/,
  ],
  ['of-tomorrow', /^TLS with mx\.example\.com failed \(of-tomorrow\)/, /STARTTLS/],
] as const)('%s has a sentence and a next step', (type, sentence, step) => {
  const told = describeFailure(type, NAMES, 'testing');
  expect(told.sentence).toEqual(
    typeof sentence === 'string' ? sentence : expect.stringMatching(sentence),
  );
  expect(told.step).toMatch(step);
  expect(told.step).not.toContain('longer than an hour');
});

test('under enforce the step says the way out', () => {
  const { step } = describeFailure('certificate-expired', NAMES, 'enforce');
  expect(step).toMatch(
    /longer than an hour: set mode: testing in the policy file and change the id/,
  );
});

test('a report without host and reason has a whole sentence, and a stranger’s text is one line', () => {
  const bare = { ...NAMES, mxHost: null, reason: null };
  expect(describeFailure('validation-failure', bare, null).sentence).toBe(
    'TLS with a mail server of example.com failed.',
  );
  expect(describeFailure('certificate-expired', bare, null).sentence).toBe(
    'The certificate of a mail server of example.com has expired.',
  );
  expect(describeFailure('starttls-not-supported', bare, null).sentence).toMatch(/^A mail server/);
  const odd = { ...NAMES, reason: `a\n\u202eb${'c'.repeat(500)}` };
  expect(describeFailure('validation-failure', odd, null).sentence).toMatch(/: a \ufffdbc+….$/);
});

describe('the effect', () => {
  test.each<[string | null, TlsMode | null, string]>([
    ['sts', 'enforce', 'not_delivered'],
    ['tlsa', null, 'not_delivered'],
    ['sts', 'testing', 'testing'],
    ['sts', 'none', 'withdrawn'],
    ['sts', null, 'perhaps_unencrypted'],
    ['no-policy-found', null, 'perhaps_unencrypted'],
    ['of-tomorrow', null, 'perhaps_unencrypted'],
    [null, null, 'perhaps_unencrypted'],
  ])('of %s in mode %s is %s', (policyType, mode, effect) => {
    expect(toEffect({ policyType, mode })).toBe(effect);
  });
});
