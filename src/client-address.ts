import type { Express, RequestHandler } from 'express';
import { toClientAddress } from './domain/client-address.ts';

/** Whether Express believes what a proxy with this address says. */
type Trust = (address: string, distance: number) => boolean;

/**
 * Fixes `req.ip` for everything that counts or records addresses. Express would take the last untrusted entry
 * of `X-Forwarded-For` as it stands, and would work it out again each time it is asked.
 */
export function fixAddress(app: Express): RequestHandler {
  const trust = app.get('trust proxy fn') as Trust;
  const isTrusted = (address: string) => trust(address, 0);
  return (req, _res, next) => {
    const peer = req.socket.remoteAddress ?? '';
    const header = req.headers['x-forwarded-for'];
    const forwardedFor = Array.isArray(header) ? header.join(',') : header;
    const value = toClientAddress({ peer, forwardedFor, isTrusted });
    Object.defineProperty(req, 'ip', { value });
    next();
  };
}
