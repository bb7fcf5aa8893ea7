/** NODE_OPTIONS of a server as `npm start` runs it, and the systemd units of docs/operate.md. */
export const SERVER_NODE_OPTIONS = '--max-semi-space-size=8';
