import { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import { ChunkedStream, parseChunk } from './chunked-stream.ts';
import type { Reply } from './reply.ts';

/** smtp-server knows more, of which nobody needs any to deliver a mail. */
const COMMANDS = /^(?:HELO|EHLO|STARTTLS|MAIL|RCPT|DATA|BDAT|RSET|NOOP|VRFY|QUIT)$/;
const SEND_MESSAGE = 354;

/** A connection that takes messages in chunks (CHUNKING, RFC 3030), and no command that the door does not need. */
class DoorConnection extends SMTPConnection {
  override _getHandler(command: string) {
    return COMMANDS.test(command) ? super._getHandler(command) : undefined;
  }

  override send(...[code, data, context]: Parameters<SMTPConnection['send']>): void {
    if (code === SEND_MESSAGE && this.#parser?.isChunked) return;
    const isOffer = code === 250 && Array.isArray(data);
    super.send(code, isOffer ? [...data, 'CHUNKING'] : data, context);
  }

  /** Nobody is told which addresses there are (RFC 5321, 3.5.3). */
  override handler_VRFY(_command: Buffer, callback: () => void): void {
    this.send(252, 'Not verified; a message to an address that exists is accepted');
    callback();
  }

  /** Called by smtp-server, which has one method for each command. */
  handler_BDAT(command: Buffer, callback: () => void): void {
    const chunk = parseChunk(command.toString('latin1'));
    const isTaken = this.session.envelope.rcptTo.length > 0;
    const maxBytes = isTaken ? Number.POSITIVE_INFINITY : Number(this._server.options.size);
    // Bytes that are left unread would be taken for commands.
    if (chunk === undefined || chunk.left > maxBytes) {
      this.send(421, 'No such chunk');
      return;
    }
    this.#parser?.startChunk(chunk);
    if (isTaken) this.handler_DATA(command, callback);
    else callback();
  }

  get #parser(): ChunkedStream | undefined {
    return this._parser instanceof ChunkedStream ? this._parser : undefined;
  }

  override _createParser() {
    const parser = new ChunkedStream(
      { maxCommandLength: this._server.options.maxCommandLength },
      {
        onChunk: () => this.send(250, 'OK: chunk received'),
        onDiscarded: () => this.send(503, 'Error: need RCPT command'),
        onFault: (text) => this.send(421, text),
      },
    );
    parser.oncommand = (command, callback) => this._onCommand(command, callback);
    parser.on('error', ({ message }) => this.send(421, `Error: ${message}`));
    return parser;
  }

  /** Does not wait for the client to close its side, too. */
  override _refuse(...args: Parameters<SMTPConnection['_refuse']>): void {
    super._refuse(...args);
    this._socket.destroySoon();
  }
}

export class DoorServer extends SMTPServer {
  override connect(...[socket, options]: Parameters<SMTPServer['connect']>): void {
    const connection = new DoorConnection(this, socket, options);
    this.connections.add(connection);
    connection.on('error', (error) => this.emit('error', error));
    connection.init();
  }

  disconnect(id: string, { responseCode, message }: Reply): void {
    this.#find(id)?.send(responseCode, message);
  }

  /** The place is free at once: a client that does not close its side would keep it for seconds. */
  refuse(id: string, reply: Reply): void {
    this.#find(id)?._refuse(reply);
  }

  #find(id: string): SMTPConnection | undefined {
    return this.connections.values().find((connection) => connection.id === id);
  }
}
