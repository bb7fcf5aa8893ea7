import { describe, expect, test } from 'vitest';
import {
  isMuchForwarded,
  type Standing,
  sumByStanding,
  toOwnCounts,
  toStanding,
} from '../../src/domain/own-mail.ts';
import { addUp, type Counts } from '../../src/domain/pass-rate.ts';
import type { Verdict } from '../../src/domain/senders/sender.ts';
import type { Mark } from '../../src/domain/sources/source.ts';

const sender = (verdict: Verdict, messages = 600) => ({
  ...{ verdict, messages, isScattered: false },
  mark: undefined as Mark | undefined,
});

const FAILING = { messages: 600, aligned: 100 };

describe('whose messages are', () => {
  test.each<[string, Parameters<typeof toStanding>[0], Counts, Standing]>([
    ['all pass', sender('forged'), { messages: 9, aligned: 9 }, 'passing'],
    ['of the owner’s', sender('yours'), FAILING, 'own'],
    ['of a service that is not set up', sender('needs_setup'), FAILING, 'own'],
    ['of a forwarder', sender('passed_on'), FAILING, 'forwarded'],
    ['of a botnet', sender('forged'), FAILING, 'stranger'],
    ['marked as unknown', { ...sender('forged'), mark: 'unknown' }, FAILING, 'foreign'],
    ['of nobody who is known', sender('not_recognised'), FAILING, 'undecided'],
    [
      'of scattered addresses',
      { ...sender('not_recognised'), isScattered: true },
      FAILING,
      'stranger',
    ],
    ['a few of nobody who is known', sender('not_recognised', 9), FAILING, 'stranger'],
    ['ten of nobody who is known', sender('not_recognised', 10), FAILING, 'undecided'],
  ])('%s', (_, who, counts, wanted) => {
    expect(toStanding(who, counts)).toBe(wanted);
  });
});

const part = (standing: Standing, messages: number, aligned = 0) => ({
  standing,
  messages,
  aligned,
});

test('messages of no address that is kept pass, or have the standing that is given', () => {
  const parts = [part('passing', 10_000, 10_000), part('own', 100, 40)];
  const all = { messages: 11_000, aligned: 10_240 };
  const mail = sumByStanding(parts, all, 'stranger');
  expect(mail.passing).toEqual({ messages: 10_200, aligned: 10_200, sources: 1 });
  expect(mail.own).toEqual({ messages: 100, aligned: 40, sources: 1 });
  expect(mail.stranger).toEqual({ messages: 700, aligned: 0, sources: 0 });
  expect(sumByStanding(parts, all).undecided.messages).toBe(700);
});

test('what failed of others is not the owner’s, and what passed of them is', () => {
  const parts = [
    part('foreign', 50, 30),
    part('forwarded', 20),
    part('stranger', 5),
    part('own', 25, 20),
  ];
  const all = addUp(parts);
  expect(toOwnCounts(all, sumByStanding(parts, all))).toEqual({ messages: 55, aligned: 50 });
});

test('a twentieth of the mail of the owner’s senders is not much, whatever strangers send', () => {
  const of = (forwarded: number) => {
    const parts = [
      part('passing', 9_500, 9_500),
      part('forwarded', forwarded),
      part('stranger', 90_000),
      part('passing', 500_000, 500_000),
    ];
    return isMuchForwarded(sumByStanding(parts, addUp(parts)), { messages: 9_500, aligned: 9_500 });
  };
  expect([of(500), of(501)]).toEqual([false, true]);
});
