import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { SMTP_LIMITS } from '../../../src/intake/doors/smtp/limits.ts';
import { Message } from '../../../src/intake/doors/smtp/message.ts';
import { Receiving } from '../../../src/intake/doors/smtp/receiving.ts';

function aReceiving() {
  const limits = { ...SMTP_LIMITS, maxReceiving: 8, maxReceivingPerAddress: 4, waitMs: 50 };
  const clock = { nowMs: 0 };
  const receiving = new Receiving(limits, () => clock.nowMs);
  const ended: string[] = [];
  const begin = (address: string, { name = address, isTrusted = false } = {}) => {
    const stream = new PassThrough();
    const message = new Message(stream as never, { maxBytes: 100, nowMs: clock.nowMs });
    const added = receiving.add(message, {
      address,
      isTrusted,
      disconnect: () => ended.push(name),
    });
    return { stream, message, added };
  };
  const add = async (address: string, name = address) => {
    const { stream, added } = begin(address, { name });
    await added;
    return stream;
  };
  return { receiving, begin, add, ended, clock };
}

describe('when all places for messages are taken', () => {
  test('the address that has most of them loses its oldest to one that has none', async () => {
    const { add, ended } = aReceiving();
    for (const address of ['a', 'b'])
      for (let i = 1; i <= 4; i += 1) await add(address, `${address}${i}`);
    for (const address of ['c', 'd', 'e']) await add(address);
    expect(ended).toEqual(['a1', 'b1', 'a2']);
  });

  test('nobody loses a place to an address that has as many, before it is slow', async () => {
    const { add, ended, clock } = aReceiving();
    for (let i = 1; i <= 8; i += 1) await add(`a${i}`);
    await expect(add('b')).rejects.toThrow(/Too many messages/);
    clock.nowMs = SMTP_LIMITS.slowMs;
    await add('b');
    expect(ended).toEqual(['a1']);
  });

  test('a message that is complete and being stored keeps its place', async () => {
    const { add, ended } = aReceiving();
    const complete = await add('a', 'complete');
    for (let i = 1; i <= 3; i += 1) await add('a', `a${i}`);
    for (let i = 1; i <= 4; i += 1) await add(`b${i}`);
    complete.end();
    await complete.toArray();
    await add('c');
    expect(ended).toEqual(['a1']);
  });
});

test('an address has no more than its places', async () => {
  const { add } = aReceiving();
  for (let i = 0; i < 4; i += 1) await add('a');
  await expect(add('a')).rejects.toThrow(/Too many messages/);
});

test('a burst is not put off: a message waits for the place of one that ends, the longest first', async () => {
  const { begin, receiving } = aReceiving();
  const burst = Array.from({ length: 6 }, () => begin('a'));
  const begun: number[] = [];
  for (const [i, { added }] of burst.entries()) void added.then(() => begun.push(i));
  await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
  for (const { message } of burst.slice(0, 2)) receiving.delete(message);
  await expect.poll(() => begun).toEqual([0, 1, 2, 3, 4, 5]);
});

test('a trusted address has all places, and loses none to others', async () => {
  const { begin, add, ended } = aReceiving();
  for (let i = 0; i < 8; i += 1) await begin('relay', { isTrusted: true }).added;
  await expect(add('a')).rejects.toThrow(/Too many messages/);
  expect(ended).toEqual([]);
});
