/**
 * What bin/plumbline.js sets for a server, of which it can't start again: its parent talks to it, or it was started as src/cli.ts.
 * Node takes no `--heap-growing-percent` from variables.
 */
export const SERVER_ENV = {
  NODE_OPTIONS: '--max-semi-space-size=8',
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '65536',
};
