import { setImmediate } from 'node:timers/promises';
import { DoorFault } from './fault.ts';

/** Without a pause, nothing else of the process runs as long as the server has more to say. */
const RESPONSES_AT_ONCE = 200;
/** A server may tell of changed flags meanwhile, in responses of the same kind (RFC 3501, section 7.4.2). */
const RESPONSES_PER_MAIL = 2;

/** The responses to a FETCH of so many mails. Throws a DoorFault when the server does not come to an end. */
export async function* toBounded<T>(responses: AsyncIterable<T>, mails: number): AsyncGenerator<T> {
  let count = 0;
  for await (const response of responses) {
    count += 1;
    if (count > RESPONSES_PER_MAIL * mails + 1)
      throw new DoorFault('The server answers with more mails than it was asked for.');
    if (count % RESPONSES_AT_ONCE === 0) await setImmediate();
    yield response;
  }
}
