import { Router } from 'express';
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
import { sendOriginal } from './pages/reports/original.ts';
import { showReport } from './pages/reports/report.ts';
import { showReports } from './pages/reports/report-list.ts';
import { changePassword, endOtherSessions, endSession, showSecurity } from './pages/security.ts';
import { showSignIn, signIn, signOut } from './sign-in/sign-in.ts';
import { createSingleSignOn } from './sign-in/single-sign-on.ts';
import { choosePassword, showWelcome } from './sign-in/welcome.ts';
import {
  limitChecks,
  limitReadings,
  limitSuccesses,
  throttleAddress,
  throttleEmail,
  throttleSingleSignOn,
  throttleVisitor,
} from './throttle.ts';
import { recogniseVisitor, requireVisitor } from './visitor.ts';

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
  addSignInRoutes(router, given);
  router.use(requireVisitor);
  addPages(router, given);
  addApiKeys(router, given);
  router.use(() => {
    throw new Failure('not_found', 'There is no such page.');
  });
  router.use(answerErrors(given));
  return router;
}

/** The routes for people who are not signed in. */
function addSignInRoutes(router: Router, given: Given): void {
  router.get('/sign-in', showSignIn(given));
  const guesses = [
    throttleAddress(given, 'password'),
    throttleEmail(given),
    ...limitSuccesses(given),
  ];
  router.post('/sign-in', guesses, signIn(given));
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
  router.post('/domains/:id/check', limitChecks(given), checkRoute(given));
  addReports(router, given);
  router.get('/account', showAccount(given));
  router.get('/audit', showAudit(given));
  router.get('/security', showSecurity(given));
  router.post('/security/password', throttleVisitor(given), changePassword(given));
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
