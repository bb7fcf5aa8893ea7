/**
 * An OpenID provider in a process of its own, for single-sign-on.test.ts. It accepts any name. “unverified:…”
 * has an e-mail address that is not verified.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

const [redirectUri = ''] = process.argv.slice(2);
const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: 'plumbline', client_secret: 's3cret', redirect_uris: [redirectUri] }],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: (_context, login) => ({
      accountId: login,
      claims: async () => ({
        sub: login,
        email: login.replace(/^\w+:/, ''),
        email_verified: !login.startsWith('unverified:'),
      }),
    }),
  });
  server.on('request', provider.callback());
  process.stdout.write(`${issuer}\n`);
});
