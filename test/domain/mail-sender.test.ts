import { describe, expect, test } from 'vitest';
import { toMailNetwork } from '../../src/domain/mail-sender.ts';

const mail = (...fields: readonly string[]) =>
  Buffer.from(`${fields.join('\r\n')}\r\n\r\nReceived: from x ([192.0.2.99]) by y\r\n`);

describe('the network that a mail came from', () => {
  test('is the client’s when it brought the mail itself', () => {
    const bytes = mail('Received: from x ([192.0.2.1]) by y');
    expect(toMailNetwork('::ffff:203.0.113.5', bytes)).toBe('203.0.113');
    expect(toMailNetwork('2001:db8:1:2::3', bytes)).toBe('2001:db8:1::/48');
  });

  test.each([
    [
      'Postfix',
      'Received: from a.example (b.example [198.51.100.7])\r\n\tby mx.example.com',
      '198.51.100',
    ],
    ['Exim', 'Received: from b.example ([198.51.100.7])\r\n by mx.example.com', '198.51.100'],
    ['Exchange', 'Received: from b.example (2001:db8:5:6::7) by mx.example.com', '2001:db8:5::/48'],
    [
      'IPv6 of RFC 5321',
      'Received: from b ([IPv6:2001:db8:5::7]) by mx.example.com',
      '2001:db8:5::/48',
    ],
    [
      'a claim before it',
      'Received: from [192.0.2.1] (b.example [198.51.100.7]) by mx',
      '198.51.100',
    ],
    ['a server’s own address', 'Received: from b.example by mx.example.com ([192.0.2.1])', ''],
    ['no address', 'Subject: [198.51.100.7]', ''],
  ])('is in the field of %s', (_server, field, network) => {
    expect(toMailNetwork(undefined, mail('Subject: x', field))).toBe(network);
  });

  test('is in the topmost field with a public address', () => {
    const bytes = mail(
      'Received: by 2001:db8::1 with SMTP id 7; now',
      'Received: from in.example.com (in.example.com [10.1.2.3]) by lmtp.example.com',
      'Received: from b.example (b.example [198.51.100.7]) by mx.example.com',
      'Received: from forged (forged [192.0.2.1]) by forged',
    );
    expect(toMailNetwork(undefined, bytes)).toBe('198.51.100');
  });

  test('is not known of bytes that are no mail, and is found at no great cost', () => {
    expect(toMailNetwork(undefined, Buffer.alloc(0))).toBe('');
    expect(toMailNetwork(undefined, Buffer.from('Received: from '.repeat(1e6)))).toBe('');
    expect(toMailNetwork(undefined, Buffer.from('Received: ((((\n '.repeat(1e6)))).toBe('');
  });
});
