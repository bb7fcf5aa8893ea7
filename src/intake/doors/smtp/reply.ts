/** A refusal that the client is told. smtp-server completes its code with the enhanced code (RFC 3463). */
export class Reply extends Error {
  readonly responseCode: number;

  constructor(responseCode: number, message: string) {
    super(message);
    this.name = 'Reply';
    this.responseCode = responseCode;
  }
}

/** The client tries again later. Nothing of the cause is told. */
export const notStored = (): Reply => new Reply(451, 'The message could not be stored, try again');

export const noRoom = (): Reply =>
  new Reply(452, 'Too many messages are being received, try again later');
