/** Variables of a server as `npm start` runs it, and the systemd units and the container of docs/operate/. */
export const SERVER_ENV = {
  NODE_OPTIONS: '--max-semi-space-size=8',
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '262144',
};
