import { SMTPServer } from 'smtp-server';
import { SMTPConnection } from 'smtp-server/lib/smtp-connection.js';
import type { Reply } from './reply.ts';

/** smtp-server knows more, of which nobody needs any to deliver a mail. */
const COMMANDS = /^(?:HELO|EHLO|STARTTLS|MAIL|RCPT|DATA|RSET|NOOP|VRFY|QUIT)$/;

/** A connection that takes no command that the door does not need. */
class DoorConnection extends SMTPConnection {
  override _getHandler(command: string) {
    return COMMANDS.test(command) ? super._getHandler(command) : undefined;
  }

  /** Nobody is told which addresses there are (RFC 5321, 3.5.3). */
  override handler_VRFY(_command: Buffer, callback: () => void): void {
    this.send(252, 'Not verified; a message to an address that exists is accepted');
    callback();
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
