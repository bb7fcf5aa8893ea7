import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { ImapConfig, SmtpConfig } from '../config/mail.ts';
import { describeSystemError } from '../domain/system-error.ts';
import type { RunningSmtp } from '../intake/doors/smtp/smtp.ts';
import { findAccountByToken } from '../store/accounts/mail-address.ts';
import type { Store } from '../store/engine/open.ts';
import { findCheckpoint, noteDoor, updateCheckpoint } from '../store/inbox/doors.ts';
import type { Deliver, DoorName } from '../store/inbox/incoming.ts';
import { findResults } from '../store/inbox/results.ts';
import { createRoom } from '../store/inbox/room.ts';
import type { Leases } from '../store/work/leases.ts';
import { startAlone } from './alone.ts';
import { keepRunning, type Running } from './running.ts';

/** How soon a port that could not be listened on is tried again: another process may have it. */
const RETRY_MS = 30_000;
/** How often an open door says so. */
const NOTE_MS = 60_000;

interface Given {
  readonly store: Store;
  readonly log: Logger;
  /** Stores a mail, and wakes the worker of this process. */
  readonly deliver: Deliver;
  readonly leases: Leases;
  readonly noteMs?: number;
}

interface MailDoors extends Running {
  readonly names: readonly string[];
}

/**
 * Opens the mail doors that are configured. Every process that does so listens for SMTP, so each machine can be a mail
 * exchanger; the mailbox is read by one process at a time.
 */
export function startMailDoors(config: Config, given: Given): MailDoors {
  const { smtp, imap } = config;
  const { log } = given;
  const logError = (error: unknown) => log.error({ err: error }, 'the mailbox could not be read');
  const doors = {
    ...(smtp && { [`smtp ${smtp.name}:${smtp.port}`]: () => startSmtpDoor(smtp, given) }),
    ...(imap && {
      [`imap ${imap.user}@${imap.host}/${imap.mailbox}`]: () =>
        startAlone('imap', (signal) => readImapMailbox(imap, given, signal), {
          leases: given.leases,
          logError,
        }),
    }),
  };
  const running = Object.values(doors).map((start) => start());
  return {
    names: Object.keys(doors),
    stop: async () => {
      await Promise.all(running.map(({ stop }) => stop()));
    },
  };
}

/**
 * Opens the SMTP door. A port or certificate that cannot be used keeps nothing else from running: it is logged, shown
 * on the settings pages, and tried again. A port that is in use is only logged: another process of this machine has the
 * door then, and notes how it is.
 */
function startSmtpDoor(
  smtp: SmtpConfig,
  { store, log, deliver, noteMs = NOTE_MS }: Omit<Given, 'leases'>,
): Running {
  const { db } = store;
  const given = {
    deliver,
    findAccountByToken: (token: string) => findAccountByToken(db, token),
    hasRoom: createRoom(db),
    now: () => new Date(),
    log,
  };
  const note = (error?: string) => noteDoor(db, 'smtp', error).catch((e: unknown) => log.error(e));
  return keepRunning(async (signal) => {
    const { startSmtp } = await import('../intake/doors/smtp/smtp.ts');
    const door = await startSmtp(smtp, given).catch(async (error: NodeJS.ErrnoException) => {
      const text = toText(smtp, error);
      log.error({ door: 'smtp' }, `smtp: ${text}`);
      if (error.code !== 'EADDRINUSE') await note(text);
      return undefined;
    });
    if (door === undefined) return RETRY_MS;
    log.info({ door: 'smtp', port: door.port, name: smtp.name }, 'smtp: the door is open');
    const tell = createTelling(door, { log, note });
    await tell();
    const noting = setInterval(tell, noteMs);
    await untilAborted(signal);
    clearInterval(noting);
    await door.stop();
    return RETRY_MS;
  });
}

/** Why the door is not open. Errors of listening are the system's; any other error is of the certificate. */
function toText({ port }: SmtpConfig, error: NodeJS.ErrnoException): string {
  if (error.syscall === undefined) return `The door is closed. ${error.message}`;
  const cure = error.code === 'EACCES' ? ': ports below 1024 need a permission' : '';
  return `Port ${port} cannot be opened: ${describeSystemError(error)}${cure}.`;
}

/** Notes how an open door is. A fault is logged when it begins. */
function createTelling(
  door: RunningSmtp,
  { log, note }: { log: Logger; note: (error?: string) => Promise<void> },
): () => Promise<void> {
  let known: string | undefined;
  return async () => {
    const fault = door.findFault();
    if (fault !== undefined && fault !== known) log.warn({ door: 'smtp' }, `smtp: ${fault}`);
    known = fault;
    await note(fault);
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

async function readImapMailbox(
  imap: ImapConfig,
  { store: { db }, log, deliver }: Omit<Given, 'leases'>,
  signal: AbortSignal,
): Promise<void> {
  const { readMailbox } = await import('../intake/doors/imap/imap.ts');
  const given = {
    deliver,
    findResults: (keys: readonly string[]) => findResults(db, keys),
    noteDoor: (door: DoorName, error?: string) => noteDoor(db, door, error),
    findCheckpoint: (door: DoorName) => findCheckpoint(db, door),
    updateCheckpoint: (door: DoorName, text: string) => updateCheckpoint(db, door, text),
    now: () => new Date(),
    log,
  };
  await readMailbox(imap, given, signal);
}
