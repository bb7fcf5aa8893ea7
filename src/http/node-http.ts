/** An import of `node:http` lists all names, so Node loads WebSocket and HTTP/2: 14 MB, and a tenth of the start. */
export const { createServer, METHODS, STATUS_CODES } = process.getBuiltinModule('node:http');
