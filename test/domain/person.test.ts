import { describe, expect, test } from 'vitest';
import { toEmailKey } from '../../src/domain/access/person.ts';

describe('the form in which e-mail addresses are compared', () => {
  test.each([
    ['Ada@Example.COM', 'ada@example.com'],
    [' ada@example.com ', 'ada@example.com'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada@XN--BCHER-KVA.example', 'ada@xn--bcher-kva.example'],
    ['e\u0301ve@example.com', '\u00e9ve@example.com'],
    ['\u00c9ve@example.com', '\u00e9ve@example.com'],
    ['ada@[192.0.2.1]', 'ada@[192.0.2.1]'],
    ['Nobody', 'nobody'],
  ])('%s is stored as %s', (email, key) => {
    expect(toEmailKey(email)).toBe(key);
  });

  test.each(['\uff41lice@example.com', 'ﬁona@example.com', 'x\u00b2@example.com'])(
    '%s is not the person whose address looks alike: NFKC would make both the same',
    (email) => {
      expect(toEmailKey(email)).not.toBe(toEmailKey(email.normalize('NFKC')));
    },
  );
});
