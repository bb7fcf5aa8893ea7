import { describe, expect, test } from 'vitest';
import { keep, keepFinding } from '../../src/judging/kept.ts';
import { openStore } from '../../src/store/engine/open.ts';
import type { Reader } from '../../src/store/engine/reader.ts';
import { aDatabasePath, IS_POSTGRES, openTestStore } from '../support/store.ts';

interface Value {
  readonly name: string;
  readonly megabytes: number;
}

const toBytes = ({ megabytes }: Value) => megabytes * 2 ** 20;
const months = keep<Value>({ name: 'month', toBytes });
const others = keep<Value>({ name: 'other', toBytes });

describe('what is kept', () => {
  test('has one bound in bytes, whatever it is of, and what was used last stays', async () => {
    const { reader, close } = await openTestStore();
    months.set(reader, 'a', { name: 'a', megabytes: 10 });
    others.set(reader, 'a', { name: 'other a', megabytes: 10 });
    months.set(reader, 'b', { name: 'b', megabytes: 10 });
    expect(months.find(reader, 'a')?.name).toBe('a');
    others.set(reader, 'c', { name: 'c', megabytes: 10 });
    expect(others.find(reader, 'a')).toBeUndefined();
    expect(months.find(reader, 'a')?.name).toBe('a');
    expect(months.find(reader, 'b')?.name).toBe('b');
    await close();
  });

  test('is alone when it is larger than the bound, so that the pages of a flood are not counted one by one', async () => {
    const { reader, close } = await openTestStore();
    months.set(reader, 'a', { name: 'a', megabytes: 1 });
    months.set(reader, 'flood', { name: 'flood', megabytes: 1_000 });
    expect(months.find(reader, 'flood')?.name).toBe('flood');
    expect(months.find(reader, 'a')).toBeUndefined();
    months.set(reader, 'a', { name: 'a', megabytes: 1 });
    expect(months.find(reader, 'flood')).toBeUndefined();
    await close();
  });

  test.skipIf(IS_POSTGRES)('is found by the readers that one makes for requests', async () => {
    const { reader, close } = await openStore(aDatabasePath());
    const [first, second] = [reader.forRequest?.(), reader.forRequest?.()] as [Reader, Reader];
    expect(first).not.toBe(second);
    months.set(first, 'a', { name: 'a', megabytes: 1 });
    expect(months.find(second, 'a')?.name).toBe('a');
    expect(months.find(reader, 'a')?.name).toBe('a');
    await close();
  });

  test('is of one reader', async () => {
    const { reader, close } = await openTestStore();
    months.set(reader, 'a', { name: 'a', megabytes: 1 });
    expect(months.find({ ...reader }, 'a')).toBeUndefined();
    months.delete(reader, 'a');
    expect(months.find(reader, 'a')).toBeUndefined();
    await close();
  });
});

describe('what is looked for', () => {
  const keepMonth = keepFinding<Value>({ name: 'found', toBytes });
  const month = (name: string) => ({ name, megabytes: 1 });

  test('is found once for all who ask for it meanwhile', async () => {
    const { reader, close } = await openTestStore();
    const first = Promise.withResolvers<Value>();
    const ask = (version: string, find: () => Promise<Value>) =>
      keepMonth(reader, { key: 'once', version }, find);
    const never = () => Promise.reject(new Error('It is looked for again.'));
    const asked = [ask('1', () => first.promise), ask('1', never), ask('1', never)];
    first.resolve(month('one'));
    expect(new Set(await Promise.all(asked)).size).toBe(1);
    expect(await ask('1', never)).toEqual(month('one'));
    await close();
  });

  test('is not replaced by an older one that is found later', async () => {
    const { reader, close } = await openTestStore();
    const [older, newer] = [Promise.withResolvers<Value>(), Promise.withResolvers<Value>()];
    const ask = (version: string, find: () => Promise<Value>) =>
      keepMonth(reader, { key: 'later', version }, find);
    const asked = [ask('1', () => older.promise), ask('2', () => newer.promise)];
    newer.resolve(month('newer'));
    older.resolve(month('older'));
    expect(await Promise.all(asked)).toEqual([month('older'), month('newer')]);
    expect(await ask('2', async () => month('again'))).toEqual(month('newer'));
    await close();
  });

  test('is looked for again after an error, which all who asked are told', async () => {
    const { reader, close } = await openTestStore();
    const failing = Promise.withResolvers<Value>();
    const ask = (find: () => Promise<Value>) =>
      keepMonth(reader, { key: 'error', version: '1' }, find);
    const asked = [ask(() => failing.promise), ask(() => failing.promise)];
    failing.reject(new Error('away'));
    const told = await Promise.allSettled(asked);
    expect(told.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await ask(async () => month('one'))).toEqual(month('one'));
    await close();
  });
});
