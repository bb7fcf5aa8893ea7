import type { IncomingMessage } from 'node:http';
import type { Express } from 'express';
import { toClientAddress } from '../domain/client-address.ts';

/** Whether a proxy with this address is trusted. */
export type Trust = (address: string) => boolean;

/** The trust function of the app's `trust proxy` setting. */
export function trustOf(app: Express): Trust {
  const trust = app.get('trust proxy fn') as (address: string, distance: number) => boolean;
  return (address) => trust(address, 0);
}

/**
 * The address that a request counts and is recorded under. Express would use the last untrusted entry of
 * `X-Forwarded-For` unchecked.
 */
export function addressOf(app: Express): (req: IncomingMessage) => string {
  const isTrusted = trustOf(app);
  return ({ socket, headers }) => {
    const header = headers['x-forwarded-for'];
    const forwardedFor = Array.isArray(header) ? header.join(',') : header;
    return toClientAddress({ peer: socket.remoteAddress ?? '', forwardedFor, isTrusted });
  };
}
