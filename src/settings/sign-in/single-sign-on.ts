import type { Request, RequestHandler, Response } from 'express';
import type * as openid from 'openid-client';
import { Failure } from '../../domain/failure.ts';
import { toInstant } from '../../domain/instant.ts';
import { findSignedOn, type SignedOn } from '../../store/people/single-sign-on.ts';
import { readCookie, setCookie } from '../cookies.ts';
import type { SettingsDeps } from '../deps.ts';
import { addressOf, readQuery } from '../request.ts';
import { toOwnPage } from './own-page.ts';
import { askForCode, openSession } from './sign-in.ts';

type ProviderDeps = SettingsDeps & NonNullable<SettingsDeps['singleSignOn']>;

type Flow = ReturnType<typeof readFlow>;

const CALLBACK = '/settings/single-sign-on/callback';
const TIMEOUT_SECONDS = 10;

/** Signing in at an OpenID provider: authorization code, PKCE, state and nonce (OpenID Connect Core, 3.1). */
export function createSingleSignOn(deps: ProviderDeps) {
  const provider = createProvider(deps);
  return { leave: leaveFor(deps, provider), comeBack: comeBackFrom(deps, provider) };
}

type Provider = () => Promise<openid.Configuration>;

/** Loaded by the first sign-in with it: most servers have no provider. */
const loadOpenid = () => import('openid-client');

/** Loads the provider's metadata on first use, and again after a failure. */
function createProvider({ issuer, clientId, clientSecret }: ProviderDeps): Provider {
  let known: Promise<openid.Configuration> | undefined;
  const ask = async () => {
    const { allowInsecureRequests, discovery, enableNonRepudiationChecks } = await loadOpenid();
    // The configuration allows plain HTTP for a provider on this machine only.
    const insecure = issuer.startsWith('http:') ? [allowInsecureRequests] : [];
    return await discovery(new URL(issuer), clientId, clientSecret, undefined, {
      // By default, an ID token received over TLS is accepted without a signature (OpenID Connect Core, 3.1.3.7).
      execute: [enableNonRepudiationChecks, ...insecure],
      timeout: TIMEOUT_SECONDS,
    });
  };
  return () => {
    known ??= ask().catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    return known;
  };
}

function leaveFor(deps: ProviderDeps, provider: Provider): RequestHandler {
  return async (req, res) => {
    const openid = await loadOpenid();
    const flow: Flow = {
      state: openid.randomState(),
      nonce: openid.randomNonce(),
      verifier: openid.randomPKCECodeVerifier(),
      next: toOwnPage(readQuery(req, 'next')),
    };
    const url = openid.buildAuthorizationUrl(await orSignInFailure(deps, req, provider()), {
      redirect_uri: deps.baseUrl + CALLBACK,
      scope: 'openid email',
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    });
    setCookie(res, 'flow', Buffer.from(JSON.stringify(flow)).toString('base64url'));
    res.redirect(303, url.href);
  };
}

function comeBackFrom(deps: ProviderDeps, provider: Provider): RequestHandler {
  return async (req, res) => {
    const flow = readFlow(req);
    setCookie(res, 'flow', '');
    const url = toCallbackUrl(deps, req);
    const config = await orSignInFailure(deps, req, provider());
    const identity = await orSignInFailure(deps, req, identify(config, url, flow));
    const from = { now: toInstant(deps.now()), address: addressOf(req) };
    const person = identity && (await findSignedOn(deps.store.db, identity, from));
    if (identity === undefined || person === undefined)
      throw new Failure('unauthorized', NOT_KNOWN);
    await letIn(deps, res, { ...person, subject: identity.subject, next: flow.next });
  };
}

/** Single sign-on, too, asks for a second factor that is on; its code binds a person who is not bound yet. */
async function letIn(
  deps: SettingsDeps,
  res: Response,
  { personId, isBound, needsCode, subject, next }: SignedOn & { subject: string; next: string },
): Promise<void> {
  const proof = { single_sign_on: isBound ? subject : null };
  if (needsCode) {
    const unbound = isBound ? undefined : { subject };
    return await askForCode(deps, res, { personId, proof, ...unbound, next });
  }
  await openSession(deps, res, { personId, proof });
  res.redirect(303, next);
}

/** The callback URL. A request target may name another host, so only its query is used. */
function toCallbackUrl({ baseUrl }: ProviderDeps, { originalUrl }: Request): URL {
  const url = new URL(`${baseUrl}${CALLBACK}`);
  const query = originalUrl.indexOf('?');
  if (query !== -1) url.search = originalUrl.slice(query);
  return url;
}

/** The person according to the provider; undefined without an e-mail address that the provider has verified. */
async function identify(provider: openid.Configuration, url: URL, flow: Flow) {
  const { authorizationCodeGrant, fetchUserInfo } = await loadOpenid();
  const tokens = await authorizationCodeGrant(provider, url, {
    expectedState: flow.state,
    expectedNonce: flow.nonce,
    pkceCodeVerifier: flow.verifier,
    idTokenExpected: true,
  });
  const { iss, sub, ...claims } = tokens.claims() as openid.IDToken;
  const { email, email_verified: isVerified } =
    claims['email'] === undefined
      ? await fetchUserInfo(provider, tokens.access_token, sub)
      : claims;
  if (typeof email !== 'string' || isVerified !== true) return undefined;
  return { subject: `${iss} ${sub}`, email };
}

/** The values that the provider must return. They are kept in the browser's cookie meanwhile. */
function readFlow(req: Request) {
  const cookie = readCookie(req, 'flow') ?? '';
  try {
    const json = Buffer.from(cookie, 'base64url').toString();
    const { state, nonce, verifier, next } = JSON.parse(json);
    const parts = { state: String(state), nonce: String(nonce), verifier: String(verifier) };
    return { ...parts, next: toOwnPage(String(next)) };
  } catch {
    throw didNotWork();
  }
}

/** Errors of the provider are logged for the operator. The person sees only that sign-in failed. */
async function orSignInFailure<T>({ logError }: SettingsDeps, req: Request, work: Promise<T>) {
  try {
    return await work;
  } catch (error) {
    logError(error, req);
    throw didNotWork();
  }
}

function didNotWork(): Failure {
  return new Failure('unauthorized', 'Single sign-on did not work. Please try again.');
}

const NOT_KNOWN =
  'No account has a person with your verified e-mail address. The operator of this Plumbline can add you.';
