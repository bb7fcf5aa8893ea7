import type { AddressInfo } from 'node:net';
import type { SMTPServerOptions } from 'smtp-server';
import { createNetworks } from '../../../domain/network-address.ts';
import {
  type Certificate,
  type CertificateFiles,
  findExpiry,
  readCertificate,
  watchCertificate,
} from './certificate.ts';
import { DoorServer } from './connection.ts';
import { type SmtpDeps, SmtpHandlers } from './handlers.ts';
import { SMTP_LIMITS, type SmtpLimits } from './limits.ts';
import { Reply } from './reply.ts';
import { Sessions } from './sessions.ts';

export interface SmtpOptions {
  readonly port: number;
  /** All addresses of the machine when it is undefined. */
  readonly host: string | undefined;
  /** The host name that the server gives itself, and the host of the accounts' own addresses. */
  readonly name: string;
  /** The configured report addresses. */
  readonly recipients: readonly string[];
  /** Addresses and networks of own relays, for which the limits of an address do not hold. */
  readonly trusted?: readonly string[];
  /** Without it there is no STARTTLS. */
  readonly certificate?: CertificateFiles | undefined;
  readonly limits?: Partial<SmtpLimits>;
  readonly certificateLookMs?: number;
}

export interface RunningSmtp {
  readonly port: number;
  /** What keeps some senders from delivering although the door is open: the certificate has expired. */
  readonly findFault: () => string | undefined;
  /** Takes no more connections, waits for messages that are being stored, and ends. */
  readonly stop: () => Promise<void>;
}

/**
 * The mail exchanger for report addresses. It only receives: no authentication, no relaying, and it never sends a
 * mail. A message is accepted (250) after `deliver` stored it. Throws the error of listening, or of the certificate.
 */
export async function startSmtp(options: SmtpOptions, deps: SmtpDeps): Promise<RunningSmtp> {
  const limits = { ...SMTP_LIMITS, ...options.limits };
  let certificate = options.certificate && (await readCertificate(options.certificate));
  const disconnect = (id: string, reply: Reply) => server.disconnect(id, reply);
  const sessions = new Sessions(limits, {
    isTrusted: createNetworks(options.trusted ?? []),
    disconnect,
    refuse: (id, reply) => server.refuse(id, reply),
  });
  const handlers = new SmtpHandlers(options, { ...deps, limits, sessions, disconnect });
  const server = new DoorServer({
    ...toServerOptions(options, limits),
    ...certificate,
    ...handlers.toOptions(),
    logger: toCommandCounter(sessions),
  });
  // The net server drops more without an answer. Those above the limit are told so, or another connection ends.
  server.server.maxConnections = limits.maxConnections * 2;
  await listen(server, options);
  server.on('error', (error) => deps.log.debug({ err: error }, 'smtp: a connection failed'));
  const { certificate: files, certificateLookMs: lookMs } = options;
  let renewalFault: string | undefined;
  const use = (renewed: Certificate) => {
    certificate = renewed;
    renewalFault = undefined;
    server.updateSecureContext(renewed);
    deps.log.info('smtp: the certificate was renewed');
  };
  // Whoever notes the state of the door logs it.
  const fault = ({ message }: Error) => {
    renewalFault = `The former certificate is used: ${message}`;
  };
  const stopWatching = files && watchCertificate(files, { renewed: use, fault }, lookMs);
  return {
    port: (server.server.address() as AddressInfo).port,
    findFault: () =>
      renewalFault ?? (certificate && findExpiry(certificate, files?.certFile ?? '', deps.now())),
    stop: async () => {
      stopWatching?.();
      sessions.stop();
      sessions.endIdle(new Reply(421, 'The server stops'));
      await new Promise<void>((resolve) => server.close(resolve));
      await handlers.settle();
    },
  };
}

function toServerOptions({ name, certificate }: SmtpOptions, limits: SmtpLimits) {
  return {
    name,
    heloResponse: '%s',
    banner: 'Plumbline, for DMARC reports only',
    size: limits.maxMessageBytes,
    // The library answers 552 by itself, whatever the handler says.
    rejectOversized: true,
    disabledCommands: certificate === undefined ? ['AUTH', 'STARTTLS'] : ['AUTH'],
    authMethods: [],
    hideENHANCEDSTATUSCODES: false,
    // Reporters exist whose sender is not valid by RFC 5321; the sender decides nothing here.
    lenientAddressParsing: true,
    disableReverseLookup: true,
    maxRecipients: limits.maxRecipients,
    maxCommandLength: limits.maxCommandBytes,
    socketTimeout: limits.idleMs,
    closeTimeout: limits.stopMs,
    minVersion: 'TLSv1.2',
    secureOptions: NO_RENEGOTIATION,
  } satisfies SMTPServerOptions;
}

/** `SSL_OP_NO_RENEGOTIATION`, which node:crypto does not name in every build. */
const NO_RENEGOTIATION = 0x40000000;

/** smtp-server tells its logger of each command, with the connection's id, and has no limit of its own. */
function toCommandCounter(sessions: Sessions) {
  const ignore = () => {};
  const debug = ({ tnx, cid }: { tnx?: unknown; cid?: unknown } = {}) => {
    if (tnx === 'command' && typeof cid === 'string') sessions.countCommand(cid);
  };
  return { trace: ignore, debug, info: ignore, warn: ignore, error: ignore, fatal: ignore };
}

function listen(server: DoorServer, { port, host }: SmtpOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
