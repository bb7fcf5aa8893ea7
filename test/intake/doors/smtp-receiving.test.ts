import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { SMTP_LIMITS } from '../../../src/intake/doors/smtp/limits.ts';
import { Message } from '../../../src/intake/doors/smtp/message.ts';
import { Receiving } from '../../../src/intake/doors/smtp/receiving.ts';

function aReceiving() {
  const limits = { ...SMTP_LIMITS, maxReceiving: 8, maxReceivingPerAddress: 4 };
  const clock = { nowMs: 0 };
  const receiving = new Receiving(limits, () => clock.nowMs);
  const ended: string[] = [];
  const add = (address: string, name = address) => {
    const stream = new PassThrough();
    const message = new Message(stream as never, { maxBytes: 100, nowMs: clock.nowMs });
    receiving.add(message, { address, disconnect: () => ended.push(name) });
    return stream;
  };
  return { add, ended, clock };
}

describe('when all places for messages are taken', () => {
  test('the address that has most of them loses its oldest to one that has none', () => {
    const { add, ended } = aReceiving();
    for (const address of ['a', 'b'])
      for (let i = 1; i <= 4; i += 1) add(address, `${address}${i}`);
    for (const address of ['c', 'd', 'e']) add(address);
    expect(ended).toEqual(['a1', 'b1', 'a2']);
  });

  test('nobody loses a place to an address that has as many, before it is slow', () => {
    const { add, ended, clock } = aReceiving();
    for (let i = 1; i <= 8; i += 1) add(`a${i}`);
    expect(() => add('b')).toThrow(/Too many messages/);
    clock.nowMs = SMTP_LIMITS.slowMs;
    add('b');
    expect(ended).toEqual(['a1']);
  });

  test('a message that is complete and being stored keeps its place', async () => {
    const { add, ended } = aReceiving();
    const complete = add('a', 'complete');
    for (let i = 1; i <= 3; i += 1) add('a', `a${i}`);
    for (let i = 1; i <= 4; i += 1) add(`b${i}`);
    complete.end();
    await complete.toArray();
    add('c');
    expect(ended).toEqual(['a1']);
  });
});

test('an address has no more than its places', () => {
  const { add } = aReceiving();
  for (let i = 0; i < 4; i += 1) add('a');
  expect(() => add('a')).toThrow(/Too many messages/);
});
