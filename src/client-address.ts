import type { Express, RequestHandler } from 'express';
import { toClientAddress } from './domain/client-address.ts';

/** Whether a proxy with this address is trusted. */
export type Trust = (address: string) => boolean;

/** The trust function of the app's `trust proxy` setting. */
export function trustOf(app: Express): Trust {
  const trust = app.get('trust proxy fn') as (address: string, distance: number) => boolean;
  return (address) => trust(address, 0);
}

/**
 * Sets `req.ip` for everything that counts or records addresses. Express would use the last untrusted entry
 * of `X-Forwarded-For` unchecked, and would compute it at each access.
 */
export function fixAddress(app: Express): RequestHandler {
  const isTrusted = trustOf(app);
  return (req, _res, next) => {
    const peer = req.socket.remoteAddress ?? '';
    const header = req.headers['x-forwarded-for'];
    const forwardedFor = Array.isArray(header) ? header.join(',') : header;
    const value = toClientAddress({ peer, forwardedFor, isTrusted });
    Object.defineProperty(req, 'ip', { value });
    next();
  };
}
