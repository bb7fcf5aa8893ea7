/** What happens in an account that people and programs can be told of. */
export type EventType =
  | 'alert.fired'
  | 'alert.resolved'
  /** Reports came to a list: they came in, or were corrected, or their domain was added or resumed. */
  | 'report.received'
  | 'report.removed'
  /** The same of TLS reports. Clients that follow the feed are told of those that were removed. */
  | 'tls_report.received'
  | 'domain.listed'
  | 'domain.unlisted'
  | 'domain.removed'
  /** A person or an operator asked for it. */
  | 'webhook.test'
  /** Plumbline has turned an endpoint off. Only people are told, as of all that follow. */
  | 'webhook.disabled'
  /** An alert that people are told of has fired, or has resolved (store/alerts/alerts.ts). */
  | 'mail.alert_fired'
  | 'mail.alert_resolved'
  | 'key.created'
  /** A reporter that nobody knows has sent its first report about a domain of the account. */
  | 'reporter.new'
  /** An owner asked for the deletion of the account, or took it back. */
  | 'account.deletion'
  /** A person's own sign-in: only that person is told. */
  | 'person.changed'
  /** It is Monday. */
  | 'summary.due';

/** A change of an account that no report, no alert and no domain carries (store/lists/changes.ts). */
export type ChangeType =
  | 'report.removed'
  | 'tls_report.removed'
  | 'domain.unlisted'
  | 'domain.removed';

/** How a receiver is told. */
export type ChannelName = 'webhook' | 'mail';

/** Events and what became of them are kept so long. */
export const EVENT_DAYS = 30;
