const MIB = 1024 * 1024;

/** The limits of the SMTP door. Every one of them is per process. */
export const SMTP_LIMITS = {
  /** Announced as SIZE. Mail providers allow 25 to 50 MB; the largest honest report has 1 MB. */
  maxMessageBytes: 25 * MIB,
  /** A client that goes on sending after its message was too large is cut off at this many times the size. */
  maxDrainedMessages: 2,
  /** Messages that are being received at the same time. Each may hold two parts of 256 KiB in memory. */
  maxReceiving: 40,
  /** The part of one address (or IPv6 /64): as many as Postfix sends by default, so that they share a commit. */
  maxReceivingPerAddress: 20,
  /** How long a message waits for a place before it is put off: mail servers come back after minutes. */
  waitMs: 15_000,
  /** When all places are taken and no address has more than others, the oldest message loses its place after this. */
  slowMs: 30_000,
  maxConnections: 200,
  /** Postfix opens 20 to one server by default, and one more before it has closed one that it kept. */
  maxConnectionsPerAddress: 40,
  /** New connections of one address in a minute. */
  maxConnectionRate: 600,
  /** Messages in one connection. */
  maxMessages: 100,
  /** RFC 5321, section 4.5.3.1.8 asks for at least 100. */
  maxRecipients: 100,
  /** Recipients that are refused in one connection: guessing addresses ends here. */
  maxUnknownRecipients: 20,
  /** Commands in one connection since its last stored message. 100 recipients are 102 commands. */
  maxCommands: 250,
  maxCommandBytes: 2_048,
  /** Silence in a connection. */
  idleMs: 60_000,
  /** A connection as a whole, also when it is never silent. A message that is being stored is not cut off. */
  sessionMs: 600_000,
  /** How long connections may take to end when the process stops. */
  stopMs: 5_000,
} as const;

export type SmtpLimits = { readonly [Name in keyof typeof SMTP_LIMITS]: number };
