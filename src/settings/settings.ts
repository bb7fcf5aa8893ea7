import { type RequestHandler, Router } from 'express';
import helmet from 'helmet';
import { Failure } from '../domain/failure.ts';
import type { PageHandler, SettingsDeps } from './deps.ts';
import { answerErrors } from './errors.ts';
import { refuseForeignForms, requireFormToken } from './forgery.ts';
import { serveAssets } from './frame/assets.ts';
import { createLimits, type LimitName, type Limits } from './limits.ts';
import { showAccount } from './pages/account.ts';
import {
  askToDeleteAccount,
  exportData,
  requestDeletion,
  withdrawDeletion,
} from './pages/account-data.ts';
import { exportAlerts, showAlerts } from './pages/alerts.ts';
import {
  askToDelete,
  createApiKey,
  disableApiKey,
  enableApiKey,
  removeApiKey,
  showApiKeys,
} from './pages/api-keys.ts';
import { showAudit } from './pages/audit.ts';
import { exportAudit } from './pages/audit-export.ts';
import { showDomain } from './pages/domain.ts';
import { checkRoute } from './pages/domain-route.ts';
import { chooseMail, confirmMail, leaveOut, showMail, takeIn } from './pages/mail.ts';
import { showOverview } from './pages/overview.ts';
import {
  disablePerson,
  enablePerson,
  invite,
  renewLink,
  requireFactor,
  showPeople,
  signOutPerson,
  withdraw,
} from './pages/people.ts';
import { addProposed, ignoreProposed } from './pages/proposals.ts';
import { sendOriginal } from './pages/reports/original.ts';
import { showReport } from './pages/reports/report.ts';
import { exportReports } from './pages/reports/report-export.ts';
import { showReports } from './pages/reports/report-list.ts';
import { sendReportAsJson, sendReportAsXml } from './pages/reports/whole-report.ts';
import {
  confirmSetUp,
  renewCodes,
  showSecondFactor,
  startSetUp,
  turnOff,
} from './pages/second-factor.ts';
import { changePassword, endOtherSessions, endSession, showSecurity } from './pages/security.ts';
import { markSource, showSource } from './pages/sources/source.ts';
import { exportSources } from './pages/sources/source-export.ts';
import { showSources } from './pages/sources/sources.ts';
import {
  askToDeleteWebhook,
  disableWebhook,
  enableWebhook,
  removeWebhook,
  renewSecret,
  resendEvent,
  showWebhook,
  testWebhook,
} from './pages/webhooks/webhook.ts';
import { createWebhook, showWebhooks } from './pages/webhooks/webhooks.ts';
import { parseForm } from './request.ts';
import { createKeptSenders } from './senders.ts';
import { checkCode, requirePending, showCode } from './sign-in/code.ts';
import { sendLink, showForgotten } from './sign-in/forgotten.ts';
import { showSignIn, signIn, signOut } from './sign-in/sign-in.ts';
import { createSingleSignOn } from './sign-in/single-sign-on.ts';
import { showUnsubscribe, unsubscribe } from './sign-in/unsubscribe.ts';
import { choosePassword, showWelcome } from './sign-in/welcome.ts';
import {
  recogniseVisitor,
  requireOwnerRole,
  requireSecondFactor,
  requireVisitor,
} from './visitor.ts';

type Route = readonly [
  method: 'get' | 'post',
  path: string,
  handler: PageHandler,
  ...limits: readonly LimitName[],
];

/** For people who are not signed in. */
const SIGN_IN: readonly Route[] = [
  ['get', '/sign-in', showSignIn],
  [
    'post',
    '/sign-in',
    signIn,
    ...(['failed-by-address-password', 'failed-by-email'] as const),
    ...(['signed-in-by-address', 'signed-in-by-email'] as const),
  ],
  ['get', '/sign-in/code', showCode],
  ['post', '/sign-in/code', checkCode, 'failed-by-address-code', 'failed-codes'],
  ['post', '/sign-out', signOut],
  ['get', '/forgotten', showForgotten],
  ['post', '/forgotten', sendLink, 'links-by-address', 'links-by-email'],
  ['get', '/unsubscribe', showUnsubscribe, 'unsubscribed'],
  ['get', '/welcome', showWelcome],
  ['post', '/welcome', choosePassword],
];

/** About a person's own sign-in. */
const SECURITY: readonly Route[] = [
  ['get', '/security', showSecurity],
  ['post', '/security/password', changePassword, 'failed-by-visitor'],
  ['post', '/security/sessions/others', endOtherSessions],
  ['post', '/security/sessions/:id', endSession],
  ['get', '/second-factor', showSecondFactor],
  ['post', '/second-factor/start', startSetUp],
  ['post', '/second-factor/confirm', confirmSetUp, 'failed-by-visitor'],
  ['post', '/second-factor/codes', renewCodes, 'failed-by-visitor', 'failed-codes'],
  ['post', '/second-factor/off', turnOff, 'failed-by-visitor', 'failed-codes'],
];

const PAGES: readonly Route[] = [
  ['get', '/overview', showOverview],
  ['post', '/proposals/:name/add', addProposed],
  ['post', '/proposals/:name/ignore', ignoreProposed],
  ['get', '/domains/:id', showDomain],
  ['post', '/domains/:id/check', checkRoute, 'dns-checks'],
  ['get', '/domains/:id/sources', showSources, 'source-pages'],
  ['get', '/domains/:id/sources/csv', exportSources, 'exports'],
  ['get', '/domains/:id/sources/:address', showSource, 'source-pages'],
  ['post', '/domains/:id/sources/:address/mark', markSource],
  ['get', '/domains/:id/reports', showReports],
  ['get', '/domains/:id/reports/csv', exportReports, 'exports'],
  ['get', '/domains/:id/reports/:report', showReport, 'report-readings'],
  ['get', '/domains/:id/reports/:report/original', sendOriginal, 'report-readings'],
  ['get', '/domains/:id/reports/:report/json', sendReportAsJson, 'report-readings'],
  ['get', '/domains/:id/reports/:report/xml', sendReportAsXml, 'report-readings'],
  ['get', '/account', showAccount],
  ['get', '/alerts', showAlerts],
  ['get', '/alerts/csv', exportAlerts, 'exports'],
  ['get', '/mail', showMail],
  ['post', '/mail', chooseMail],
  ['post', '/mail/confirm', confirmMail],
  ['post', '/mail/left-out', leaveOut],
  ['post', '/mail/left-out/:id/delete', takeIn],
  ['get', '/audit', showAudit],
  ['get', '/audit/csv', exportAudit, 'exports'],
  ['get', '/integrations/api-keys', showApiKeys],
  ['post', '/integrations/api-keys', createApiKey],
  ['post', '/integrations/api-keys/:id/enable', enableApiKey],
  ['post', '/integrations/api-keys/:id/disable', disableApiKey],
  ['get', '/integrations/api-keys/:id/delete', askToDelete],
  ['post', '/integrations/api-keys/:id/delete', removeApiKey],
  ['get', '/integrations/webhooks', showWebhooks],
  ['post', '/integrations/webhooks', createWebhook],
  ['get', '/integrations/webhooks/:id', showWebhook],
  ['post', '/integrations/webhooks/:id/test', testWebhook],
  ['post', '/integrations/webhooks/:id/enable', enableWebhook],
  ['post', '/integrations/webhooks/:id/disable', disableWebhook],
  ['post', '/integrations/webhooks/:id/secret', renewSecret],
  ['get', '/integrations/webhooks/:id/delete', askToDeleteWebhook],
  ['post', '/integrations/webhooks/:id/delete', removeWebhook],
  ['post', '/integrations/webhooks/:id/events/:event', resendEvent],
];

/** For owners only. */
const OF_OWNERS: readonly Route[] = [
  ['get', '/account/export', exportData, 'exports'],
  ['get', '/account/deletion', askToDeleteAccount],
  ['post', '/account/deletion', requestDeletion],
  ['post', '/account/deletion/withdraw', withdrawDeletion],
  ['get', '/people', showPeople],
  ['post', '/people', invite, 'invitations'],
  ['post', '/people/second-factor', requireFactor],
  ['post', '/people/:id/link', renewLink],
  ['post', '/people/:id/withdraw', withdraw],
  ['post', '/people/:id/enable', enablePerson],
  ['post', '/people/:id/disable', disablePerson],
  ['post', '/people/:id/sign-out', signOutPerson],
];

/** Everything under `/settings`: pages rendered on the server that work without JavaScript. */
export function createSettings(given: SettingsDeps): Router {
  const deps = { ...given, keptSenders: createKeptSenders() };
  const router = Router({ caseSensitive: true });
  const limits = createLimits(deps);
  const addRoutes = (routes: readonly Route[]) => {
    for (const [method, path, handler, ...names] of routes) {
      const answer: RequestHandler = (req, res) => handler(deps, req, res);
      router[method](path, ...names.map((name) => limits[name]), answer);
    }
  };
  router.use(pageHeaders);
  router.use('/assets', serveAssets());
  router.use(forbidCaching);
  // Before the check of origins: mailbox providers send it too.
  addRoutes([['post', '/unsubscribe', unsubscribe, 'unsubscribed']]);
  router.use(refuseForeignForms(deps.baseUrl), parseForm);
  router.use(recogniseVisitor(deps), requireFormToken);
  router.use('/sign-in/code', requirePending(deps));
  addRoutes(SIGN_IN);
  addSingleSignOn(router, deps, limits);
  router.use(requireVisitor, requireSecondFactor);
  // Before the limit of changes: whoever has a person's session must not keep them from ending it.
  addRoutes(SECURITY);
  router.post('/{*page}', limits.changes);
  router.get('/', (_req, res) => res.redirect(303, '/settings/overview'));
  addRoutes(PAGES);
  router.use(['/people', '/account/export', '/account/deletion'], requireOwnerRole);
  addRoutes(OF_OWNERS);
  router.use(() => {
    throw new Failure('not_found', 'There is no such page.');
  });
  router.use(answerErrors(deps));
  return router;
}

function addSingleSignOn(router: Router, deps: SettingsDeps, limits: Limits): void {
  if (deps.singleSignOn === undefined) return;
  const { leave, comeBack } = createSingleSignOn({ ...deps, ...deps.singleSignOn });
  const path = '/single-sign-on';
  router.use(path, limits['single-sign-on'], limits['failed-by-address-provider']);
  router.get(path, leave);
  router.get(`${path}/callback`, comeBack);
}

const forbidCaching: RequestHandler = (_req, res, next) => {
  res.set('Cache-Control', 'no-store');
  next();
};

/** No inline code and no other origins. Pico's symbols are `data:` images. */
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
