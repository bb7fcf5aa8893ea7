import type { Express, RequestHandler } from 'express';
import { toClientAddress } from './domain/client-address.ts';

/** Whether a proxy with this address is believed. */
export type Trust = (address: string) => boolean;

/** As the app's `trust proxy` says. */
export function trustOf(app: Express): Trust {
  const trust = app.get('trust proxy fn') as (address: string, distance: number) => boolean;
  return (address) => trust(address, 0);
}

/**
 * Fixes `req.ip` for everything that counts or records addresses. Express would take the last untrusted entry
 * of `X-Forwarded-For` as it stands, and would work it out again each time it is asked.
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
