import { isAbsolute } from 'node:path';
import { parseDomainName } from '../domain/domain-name.ts';
import { choice, list, parsed } from './variable.ts';

/* The settings of how reports come in, but for those of the mail doors. */

const ADDRESS = /^[^\s@,]{1,64}@[^\s@,]{1,253}$/;

export const INBOX_VARIABLES = {
  PLUMBLINE_SMTP_NAME: parsed(
    (text) => parseDomainName(text),
    'must be the name of this mail server, like dmarc.example.com',
  ),
  PLUMBLINE_REPORT_ADDRESS: parsed(
    (text) => (ADDRESS.test(text) ? text : undefined),
    'must be an e-mail address',
  ),
  PLUMBLINE_WATCH: list(isAbsolute, 'absolute paths of folders or mailbox files'),
  PLUMBLINE_WATCH_DONE: choice(['move', 'leave'], 'move'),
};

/** How reports come in. */
export interface InboxConfig {
  /** The domain of the accounts' own addresses: the name of our mail server. */
  readonly mailHost?: string | undefined;
  /** The address for the reports of all domains, when there is one. */
  readonly reportAddress?: string | undefined;
  /** Further addresses that the SMTP door accepts. */
  readonly smtpRecipients: readonly string[];
  /** Folders and mailbox files. */
  readonly watched: readonly string[];
  readonly watchDone: 'move' | 'leave';
}
