import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { MailboxOptions } from '../../src/intake/doors/imap/options.ts';

export interface ImapCommand {
  readonly tag: string;
  /** With `UID` before it: `UID FETCH`. */
  readonly name: string;
  readonly args: string;
}

/** What a test changes about the server. */
interface Script {
  readonly capabilities?: string;
  /** Whether a client has to ask for capabilities. */
  readonly hidesCapabilities?: boolean;
  readonly namespace?: string;
  /**
   * Called with each command before it is answered, and with GREETING first. Returns the rest of the answer's last line
   * instead of OK.
   */
  readonly on?: (command: ImapCommand, socket: Socket) => string | undefined;
  /** Mails whose text is NIL. */
  readonly withoutText?: readonly number[];
  /** Commands on a connection, after which it is closed. */
  readonly commands?: number;
}

/** An IMAP server with one mailbox, which does what its script says, and is wrong where the script is. */
export class ScriptedImap {
  readonly script: Script;
  /** The texts of mails by their UIDs. */
  readonly mails = new Map<number, string>();
  readonly seen = new Set<number>();
  readonly folders = new Map<string, string[]>();
  readonly commands: ImapCommand[] = [];
  readonly sockets = new Set<Socket>();
  port = 0;

  constructor(script: Script) {
    this.script = script;
  }

  add(count: number, kind = 'report'): void {
    for (let i = 0; i < count; i += 1) {
      const uid = Math.max(0, ...this.mails.keys()) + 1;
      this.mails.set(uid, `Subject: ${kind} ${uid}\r\n\r\ntext\r\n`);
    }
  }

  async accept(socket: Socket): Promise<void> {
    this.sockets.add(socket);
    socket.on('error', () => {}).once('close', () => this.sockets.delete(socket));
    const { capabilities: all = 'ID IDLE NAMESPACE MOVE', commands: max = 1e9 } = this.script;
    const capabilities = `CAPABILITY IMAP4rev1 ${all}`;
    this.script.on?.({ tag: '*', name: 'GREETING', args: '' }, socket);
    socket.write(`* OK ${this.script.hidesCapabilities ? '' : `[${capabilities}] `}ready\r\n`);
    let count = 0;
    for await (const line of createInterface({ input: socket })) {
      const [, tag = '', name = '', args = ''] =
        /^(\S+) ((?:UID )?\S+) ?(.*)$/.exec(line === 'DONE' ? '' : line) ?? [];
      if (tag === '') continue;
      count += 1;
      this.#answer({ tag, name, args }, socket, capabilities);
      if (count === max) socket.end();
    }
  }

  #answer(command: ImapCommand, socket: Socket, capabilities: string): void {
    this.commands.push(command);
    const refusal = this.script.on?.(command, socket);
    if (socket.destroyed) return;
    const lines = refusal === undefined ? this.#do(command, capabilities) : [];
    for (const line of lines) socket.write(`${line}\r\n`, 'latin1');
    if (command.name !== 'IDLE') socket.write(`${command.tag} ${refusal ?? 'OK done'}\r\n`);
    else socket.once('data', () => socket.write(`${command.tag} OK done\r\n`));
  }

  #do({ name, args }: ImapCommand, capabilities: string): string[] {
    const exists = `* ${this.mails.size} EXISTS`;
    const answers: Readonly<Record<string, () => string[]>> = {
      CAPABILITY: () => [`* ${capabilities}`],
      ID: () => ['* ID ("name" "scripted" "version" "1")'],
      NAMESPACE: () => [`* NAMESPACE ${this.script.namespace ?? '(("" "/")) NIL NIL'}`],
      IDLE: () => ['+ idling'],
      NOOP: () => [exists],
      SELECT: () => [exists, '* OK [UIDVALIDITY 7] ok'],
      EXAMINE: () => [exists, '* OK [UIDVALIDITY 7] ok'],
      'UID FETCH': () => this.#fetch(args, this.#toUids(args)),
      FETCH: () => this.#fetch(args, this.#uids.slice(Number.parseInt(args, 10) - 1).slice(0, 1)),
      'UID MOVE': () => this.#move(args),
      'UID STORE': () => this.#store(args),
    };
    return answers[name]?.() ?? [];
  }

  get #uids(): number[] {
    return [...this.mails.keys()];
  }

  #toUids(args: string): number[] {
    const last = Math.max(0, ...this.mails.keys());
    const ranges = (args.split(' ')[0] ?? '').split(',').map((range) => {
      const ends = range.split(':').map((end) => (end === '*' ? last : Number(end)));
      return [Math.min(...ends), Math.max(...ends)] as const;
    });
    const isIn = (uid: number) => ranges.some(([from, to]) => from <= uid && uid <= to);
    return this.#uids.filter(isIn);
  }

  #move(args: string): string[] {
    const folder = (args.split(' ')[1] ?? '').replaceAll('"', '');
    for (const uid of this.#toUids(args)) {
      this.folders.set(folder, [...(this.folders.get(folder) ?? []), this.mails.get(uid) ?? '']);
      this.mails.delete(uid);
    }
    return [];
  }

  #store(args: string): string[] {
    for (const uid of this.#toUids(args)) this.seen.add(uid);
    return [];
  }

  #fetch(args: string, uids: readonly number[]): string[] {
    return uids.map((uid) => {
      const text = this.mails.get(uid) ?? '';
      const isNil = this.script.withoutText?.includes(uid);
      const body = `BODY[]<0> ${isNil ? 'NIL' : `{${text.length}}\r\n${text}`}`;
      const more = args.includes('BODY') ? body : `RFC822.SIZE ${text.length}`;
      return `* ${this.#uids.indexOf(uid) + 1} FETCH (UID ${uid} ${more})`;
    });
  }
}

/** A server until the end of the test. */
export async function aScriptedImap(script: Script = {}): Promise<ScriptedImap> {
  const imap = new ScriptedImap(script);
  const server = createServer((socket) => void imap.accept(socket).catch(() => {})).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of imap.sockets) socket.destroy();
  });
  imap.port = (server.address() as AddressInfo).port;
  return imap;
}

/** How a door reads the server's mailbox. */
export function optionsOfScripted(
  { port }: ScriptedImap,
  given: Partial<MailboxOptions> = {},
): MailboxOptions {
  return {
    ...{ door: 'imap', host: '127.0.0.1', port, user: 'reports', mailbox: 'INBOX' },
    ...{ security: 'none', done: 'move', ...given },
  };
}

/** Says the same line as fast as it is taken, until the connection is closed. */
export function flood(socket: Socket, line: string): void {
  const lines = line.repeat(Math.ceil(65_536 / line.length));
  const more = () => {
    while (!socket.destroyed && socket.write(lines, 'latin1'));
  };
  socket.on('drain', more);
  more();
}
