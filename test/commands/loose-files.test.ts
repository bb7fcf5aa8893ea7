import { chmodSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findLooseMode } from '../../src/commands/loose-files.ts';
import { aDatabasePath } from '../support/store.ts';

describe('findLooseMode', () => {
  test.each([
    [0o600, 0o755, undefined],
    [0o644, 0o755, '0644'],
    [0o660, 0o750, '0660'],
    [0o644, 0o700, undefined],
  ])('of a file of mode %o in a folder of mode %o', (mode, folderMode, loose) => {
    const path = aDatabasePath();
    writeFileSync(path, '');
    chmodSync(path, mode);
    chmodSync(dirname(path), folderMode);
    expect(findLooseMode(path)).toBe(loose);
  });

  test.each([
    [0o640, undefined],
    [0o660, '0660'],
    [0o644, '0644'],
  ])('of a file of mode %o that its group may read', (mode, loose) => {
    const path = aDatabasePath();
    writeFileSync(path, '');
    chmodSync(path, mode);
    chmodSync(dirname(path), 0o755);
    expect(findLooseMode(path, true)).toBe(loose);
  });
});
