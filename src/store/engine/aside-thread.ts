import { parentPort, workerData } from 'node:worker_threads';
import { Failure } from '../../domain/failure.ts';
import { type AsideReply, type AsideRequest, ENDED } from './aside.ts';
import { openReader } from './open.ts';
import type { Reader } from './reader.ts';

/* The thread of aside.ts: answers each request by a message. */

const database = workerData as string;
let password: string | undefined;
let reader: Promise<Reader> | undefined;
const generators = new Map<number, AsyncGenerator>();

parentPort?.on('message', async (request: AsideRequest) => {
  const { id } = request;
  try {
    password = request.password;
    parentPort?.postMessage({ id, result: await answer(request) } satisfies AsideReply);
  } catch (error) {
    parentPort?.postMessage({ id, ...toReply(error) } satisfies AsideReply);
  }
});

async function answer({ id, kind, module, name, query }: AsideRequest): Promise<unknown> {
  if (kind === 'next') return await findGenerator(id).next();
  if (kind === 'stop') {
    await generators.get(id)?.return(undefined);
    generators.delete(id);
    return undefined;
  }
  reader ??= openReader(database, () => password ?? '');
  const { [name]: read } = await import(module);
  if (kind === 'run') return await read(await reader, query);
  generators.set(id, read(await reader, query));
  return await findGenerator(id).next();
}

/** There is none when the thread that had it has ended. */
function findGenerator(id: number): AsyncGenerator {
  const generator = generators.get(id);
  if (generator === undefined) throw new Error(ENDED);
  return generator;
}

function toReply(error: unknown) {
  if (error instanceof Failure) return { failure: { code: error.code, message: error.message } };
  const { message, stack, code } = error as NodeJS.ErrnoException;
  return { error: Object.assign(new Error(message), { stack }), code };
}
