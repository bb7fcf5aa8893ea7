import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { insertAccount } from '../../src/store/accounts.ts';
import { openStore } from '../../src/store/open.ts';
import { NOW } from '../support/builders.ts';
import { aDatabasePath } from '../support/store.ts';

describe('a write while another process writes', () => {
  test('waits for its turn, and holds up nothing else meanwhile', async () => {
    const path = aDatabasePath();
    const store = await openStore(path);
    const other = new Database(path);
    other.exec('begin immediate');
    let isWritten = false;
    const write = insertAccount(store.db, { name: 'A', plan: 'pro', now: NOW }).then(() => {
      isWritten = true;
    });
    let turns = 0;
    for (; turns < 20; turns++) await new Promise((resolve) => setTimeout(resolve, 5));
    expect({ turns, isWritten }).toEqual({ turns: 20, isWritten: false });
    other.exec('commit');
    other.close();
    await write;
    expect(isWritten).toBe(true);
    await store.close();
  }, 5_000);
});
