import { type RequestHandler, Router } from 'express';
import helmet from 'helmet';
import { Failure } from '../domain/failure.ts';
import { answerErrors } from './errors.ts';
import { refuseForeignForms, requireFormToken } from './forgery.ts';
import { parseForm } from './form.ts';
import { serveAssets } from './frame/assets.ts';
import type { Given } from './given.ts';
import { showAccount } from './pages/account.ts';
import {
  askToDelete,
  createApiKey,
  removeApiKey,
  showApiKeys,
  switchApiKey,
} from './pages/api-keys.ts';
import { showAudit } from './pages/audit.ts';
import { showDomain } from './pages/domain.ts';
import { checkRoute } from './pages/domain-route.ts';
import { showOverview } from './pages/overview.ts';
import {
  invite,
  renewLink,
  requireFactor,
  showPeople,
  signOutPerson,
  switchPerson,
  withdraw,
} from './pages/people.ts';
import { sendOriginal } from './pages/reports/original.ts';
import { showReport } from './pages/reports/report.ts';
import { showReports } from './pages/reports/report-list.ts';
import {
  confirmSetUp,
  renewCodes,
  showSecondFactor,
  startSetUp,
  turnOff,
} from './pages/second-factor.ts';
import { changePassword, endOtherSessions, endSession, showSecurity } from './pages/security.ts';
import { markSource } from './pages/sources/mark.ts';
import { showSource } from './pages/sources/source.ts';
import { showSources } from './pages/sources/sources.ts';
import { checkCode, requirePending, showCode } from './sign-in/code.ts';
import { showSignIn, signIn, signOut } from './sign-in/sign-in.ts';
import { createSingleSignOn } from './sign-in/single-sign-on.ts';
import { choosePassword, showWelcome } from './sign-in/welcome.ts';
import {
  limitChanges,
  limitChecks,
  limitInvitations,
  limitReadings,
  limitSources,
  limitSuccesses,
  throttleAddress,
  throttleCodes,
  throttleEmail,
  throttleSingleSignOn,
  throttleVisitor,
} from './throttle.ts';
import {
  recogniseVisitor,
  requireOwnerRole,
  requireSecondFactor,
  requireVisitor,
} from './visitor.ts';

/** Everything under `/settings`: pages rendered on the server that work without JavaScript. */
export function createSettings(given: Given): Router {
  const router = createRouter();
  router.use(pageHeaders);
  router.use('/assets', serveAssets());
  router.use((_req, res, next) => {
    res.set('Cache-Control', 'no-store');
    next();
  });
  router.use(refuseForeignForms(given.baseUrl), parseForm, recogniseVisitor(given));
  router.use(requireFormToken);
  const codes = throttleCodes(given);
  addSignInRoutes(router, given, codes);
  router.use(requireVisitor, requireSecondFactor);
  // Before the limit of changes: whoever has a person's session must not keep them from ending it.
  addSecurity(router, given, codes);
  router.post('/{*page}', limitChanges(given));
  addPages(router, given);
  addApiKeys(router, given);
  addPeople(router, given);
  router.use(() => {
    throw new Failure('not_found', 'There is no such page.');
  });
  router.use(answerErrors(given));
  return router;
}

/** The routes for people who are not signed in. */
function addSignInRoutes(router: Router, given: Given, codes: RequestHandler): void {
  router.get('/sign-in', showSignIn(given));
  const guesses = [
    throttleAddress(given, 'password'),
    throttleEmail(given),
    ...limitSuccesses(given),
  ];
  router.post('/sign-in', guesses, signIn(given));
  router.use('/sign-in/code', requirePending(given));
  router.get('/sign-in/code', showCode);
  router.post('/sign-in/code', throttleAddress(given, 'code'), codes, checkCode(given));
  router.post('/sign-out', signOut(given));
  router.get('/welcome', showWelcome(given));
  router.post('/welcome', choosePassword(given));
  if (given.singleSignOn !== undefined) {
    const { leave, comeBack } = createSingleSignOn({ ...given, ...given.singleSignOn });
    router.use('/single-sign-on', throttleSingleSignOn(given), throttleAddress(given, 'provider'));
    router.get('/single-sign-on', leave);
    router.get('/single-sign-on/callback', comeBack);
  }
}

function addPages(router: Router, given: Given): void {
  router.get('/', (_req, res) => res.redirect(303, '/settings/overview'));
  router.get('/overview', showOverview(given));
  router.get('/domains/:id', showDomain(given));
  const sources = limitSources(given);
  router.get('/domains/:id/sources', sources, showSources(given));
  router.get('/domains/:id/sources/:address', sources, showSource(given));
  router.post('/domains/:id/sources/:address/mark', markSource(given));
  router.post('/domains/:id/check', limitChecks(given), checkRoute(given));
  addReports(router, given);
  router.get('/account', showAccount(given));
  router.get('/audit', showAudit(given));
}

function addSecurity(router: Router, given: Given, codes: RequestHandler): void {
  router.get('/security', showSecurity(given));
  const guesses = throttleVisitor(given);
  router.post('/security/password', guesses, changePassword(given));
  router.get('/second-factor', showSecondFactor(given));
  router.post('/second-factor/start', startSetUp(given));
  router.post('/second-factor/confirm', guesses, confirmSetUp(given));
  router.post('/second-factor/codes', guesses, codes, renewCodes(given));
  router.post('/second-factor/off', guesses, codes, turnOff(given));
  router.post('/security/sessions/others', endOtherSessions(given));
  router.post('/security/sessions/:id', endSession(given));
}

function addReports(router: Router, given: Given): void {
  const readings = limitReadings(given);
  router.get('/domains/:id/reports', showReports(given));
  router.get('/domains/:id/reports/:report', readings, showReport(given));
  router.get('/domains/:id/reports/:report/original', readings, sendOriginal(given));
}

function addApiKeys(router: Router, given: Given): void {
  const keys = createRouter();
  keys.get('/', showApiKeys(given));
  keys.post('/', createApiKey(given));
  keys.post('/:id/enable', switchApiKey(given, true));
  keys.post('/:id/disable', switchApiKey(given, false));
  keys.get('/:id/delete', askToDelete(given));
  keys.post('/:id/delete', removeApiKey(given));
  router.use('/integrations/api-keys', keys);
}

function addPeople(router: Router, given: Given): void {
  const people = createRouter();
  people.use(requireOwnerRole);
  people.get('/', showPeople(given));
  people.post('/', limitInvitations(given), invite(given));
  people.post('/second-factor', requireFactor(given));
  people.post('/:id/link', renewLink(given));
  people.post('/:id/withdraw', withdraw(given));
  people.post('/:id/enable', switchPerson(given, false));
  people.post('/:id/disable', switchPerson(given, true));
  people.post('/:id/sign-out', signOutPerson(given));
  router.use('/people', people);
}

function createRouter(): Router {
  return Router({ caseSensitive: true });
}

/** No inline code and no other origins. Pico's marks are `data:` images. */
const pageHeaders = helmet({
  // With `no-referrer` browsers would send `Origin: null` with our own forms (Fetch, 3.2).
  referrerPolicy: { policy: 'same-origin' },
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
});
