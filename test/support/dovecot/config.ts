const NOBODY = 65_534;

/** Users have access tokens and no passwords. */
export interface Tokens {
  /** Who is asked whose a token is (RFC 7662); the token is in the header Authorization. */
  readonly url: string;
  /** Of those that IMAP servers offer for tokens: `xoauth2 oauthbearer` or one of them. */
  readonly mechanisms: string;
}

interface Given {
  readonly ports: { readonly imap: number; readonly imaps: number };
  /** Whether the folder has `cert.pem` and `key.pem`. */
  readonly hasTls: boolean;
  readonly tokens?: Tokens | undefined;
}

/** Dovecot refuses to open mailboxes as root; the server itself has to be started as root. */
export const MAIL_USER = { uid: NOBODY, gid: NOBODY };

/** The configuration of Dovecot 2.3 for one user with a Maildir, all of it in one folder. */
export function toConfig(folder: string, { ports, hasTls, tokens }: Given): string {
  return `
protocols = imap
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/dovecot.log
listen = 127.0.0.1
disable_plaintext_auth = no
auth_failure_delay = 0
mail_location = maildir:${folder}/mail
mail_max_userip_connections = 100
${hasTls ? toTls(folder) : 'ssl = no'}
${tokens === undefined ? toPasswords(folder) : toTokens(folder, tokens)}
userdb {
  driver = static
  args = uid=${NOBODY} gid=${NOBODY} home=${folder}/mail
}
service anvil {
  chroot =
  # Answers to wrong credentials do not become slower.
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${ports.imap}
  }
  inet_listener imaps {
    port = ${hasTls ? ports.imaps : 0}
    ssl = yes
  }
}
namespace inbox {
  inbox = yes
}
`;
}

const toTls = (folder: string): string => `
ssl = yes
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem`;

const toPasswords = (folder: string): string => `
auth_mechanisms = plain login
passdb {
  driver = passwd-file
  args = scheme=PLAIN ${folder}/passwd
}`;

const toTokens = (folder: string, { mechanisms }: Tokens): string => `
auth_mechanisms = ${mechanisms}
passdb {
  driver = oauth2
  mechanisms = ${mechanisms}
  args = ${folder}/oauth2.conf
}`;

/** How Dovecot asks, and which fields of the answer say that the token is valid and name the user. */
export const toTokenConfig = ({ url }: Tokens): string => `
introspection_mode = auth
introspection_url = ${url}
username_attribute = email
active_attribute = active
active_value = true
`;
