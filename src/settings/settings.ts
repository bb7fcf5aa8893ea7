import { type RequestHandler, Router } from 'express';
import helmet from 'helmet';
import { Failure } from '../domain/failure.ts';
import type { PageHandler, SettingsDeps } from './deps.ts';
import { answerPageErrors } from './errors.ts';
import { refuseForeignForms, requireFormToken } from './forgery.ts';
import { serveAssets } from './frame/assets.ts';
import { createLimits, type LimitName, type Limits } from './limits.ts';
import * as account from './pages/account.ts';
import * as accountData from './pages/account-data.ts';
import { showAlert } from './pages/alert.ts';
import * as alerts from './pages/alerts.ts';
import * as apiKeys from './pages/api-keys.ts';
import * as audit from './pages/audit.ts';
import * as domain from './pages/domain.ts';
import * as domainRoute from './pages/domain-route.ts';
import * as mail from './pages/mail.ts';
import * as overview from './pages/overview.ts';
import * as people from './pages/people.ts';
import * as proposals from './pages/proposals.ts';
import * as report from './pages/reports/report.ts';
import * as reportList from './pages/reports/report-list.ts';
import * as wholeReport from './pages/reports/whole-report.ts';
import * as secondFactor from './pages/second-factor.ts';
import * as security from './pages/security.ts';
import { changeSendsNoMail } from './pages/sends-no-mail.ts';
import * as marks from './pages/sources/marks.ts';
import * as source from './pages/sources/source.ts';
import * as sources from './pages/sources/sources.ts';
import { createUpload, showUpload } from './pages/upload.ts';
import * as webhook from './pages/webhooks/webhook.ts';
import * as webhooks from './pages/webhooks/webhooks.ts';
import { showChanges } from './pages/what-changed.ts';
import { parseForm } from './request.ts';
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

/** Served to people who are not signed in. */
const SIGN_IN: readonly Route[] = [
  ['get', '/sign-in', showSignIn],
  [
    'post',
    '/sign-in',
    signIn,
    'failed-by-address-password',
    'failed-by-email',
    'signed-in-by-address',
    'signed-in-by-email',
  ],
  ['get', '/sign-in/code', showCode],
  ['post', '/sign-in/code', checkCode, 'failed-by-address-code', 'failed-codes'],
  ['post', '/sign-out', signOut],
  ['get', '/forgotten', showForgotten],
  ['post', '/forgotten', sendLink, 'links-by-address'],
  ['get', '/unsubscribe', showUnsubscribe, 'unsubscribed'],
  ['get', '/welcome', showWelcome],
  ['post', '/welcome', choosePassword],
];

const SECURITY: readonly Route[] = [
  ['get', '/security', security.showSecurity],
  ['post', '/security/password', security.changePassword, 'failed-by-visitor'],
  ['post', '/security/sessions/others', security.endOtherSessions],
  ['post', '/security/sessions/:id', security.endSession],
  ['get', '/second-factor', secondFactor.showSecondFactor],
  ['post', '/second-factor/start', secondFactor.startSetUp],
  ['post', '/second-factor/confirm', secondFactor.confirmSetUp, 'failed-by-visitor'],
  ['post', '/second-factor/codes', secondFactor.renewCodes, 'failed-by-visitor', 'failed-codes'],
  ['post', '/second-factor/off', secondFactor.turnOff, 'failed-by-visitor', 'failed-codes'],
];

const PAGES: readonly Route[] = [
  ['get', '/overview', overview.showOverview],
  ['get', '/what-changed', showChanges, 'source-pages'],
  ['post', '/proposals/:name/add', proposals.addProposed],
  ['post', '/proposals/:name/ignore', proposals.ignoreProposed],
  ['get', '/domains/:id', domain.showDomain],
  ['post', '/domains/:id/check', domainRoute.checkRoute, 'dns-checks'],
  ['get', '/domains/:id/sources', sources.showSources, 'source-pages'],
  ['get', '/domains/:id/sources/csv', sources.exportSources, 'exports'],
  ['get', '/domains/:id/sources/:address', source.showSource, 'source-pages'],
  ['post', '/domains/:id/sources/mark', marks.markSource],
  ['post', '/domains/:id/sends-no-mail', changeSendsNoMail],
  ['get', '/domains/:id/reports', reportList.showReports],
  ['get', '/domains/:id/reports/csv', reportList.exportReports, 'exports'],
  ['get', '/domains/:id/reports/:report', report.showReport, 'report-readings'],
  ['get', '/domains/:id/reports/:report/original', report.sendOriginal, 'report-readings'],
  ['get', '/domains/:id/reports/:report/json', wholeReport.sendReportAsJson, 'report-readings'],
  ['get', '/domains/:id/reports/:report/xml', wholeReport.sendReportAsXml, 'report-readings'],
  ['get', '/account', account.showAccount],
  ['get', '/account/uploads/:id', showUpload],
  ['get', '/alerts', alerts.showAlerts],
  ['get', '/alerts/csv', alerts.exportAlerts, 'exports'],
  ['get', '/alerts/:id', showAlert],
  ['get', '/mail', mail.showMail],
  ['post', '/mail', mail.chooseMail],
  ['post', '/mail/confirm', mail.confirmMail],
  ['post', '/mail/left-out', mail.leaveOut],
  ['post', '/mail/left-out/:id/delete', mail.takeIn],
  ['get', '/audit', audit.showAudit],
  ['get', '/audit/csv', audit.exportAudit, 'exports'],
  ['get', '/integrations/api-keys', apiKeys.showApiKeys],
  ['post', '/integrations/api-keys', apiKeys.createApiKey],
  ['post', '/integrations/api-keys/:id/enable', apiKeys.enableApiKey],
  ['post', '/integrations/api-keys/:id/disable', apiKeys.disableApiKey],
  ['get', '/integrations/api-keys/:id/delete', apiKeys.askToDelete],
  ['post', '/integrations/api-keys/:id/delete', apiKeys.removeApiKey],
  ['get', '/integrations/webhooks', webhooks.showWebhooks],
  ['post', '/integrations/webhooks', webhooks.createWebhook],
  ['get', '/integrations/webhooks/:id', webhook.showWebhook],
  ['post', '/integrations/webhooks/:id/test', webhook.testWebhook],
  ['post', '/integrations/webhooks/:id/enable', webhook.enableWebhook],
  ['post', '/integrations/webhooks/:id/disable', webhook.disableWebhook],
  ['post', '/integrations/webhooks/:id/secret', webhook.renewSecret],
  ['get', '/integrations/webhooks/:id/delete', webhook.askToDeleteWebhook],
  ['post', '/integrations/webhooks/:id/delete', webhook.removeWebhook],
  ['post', '/integrations/webhooks/:id/events/:event', webhook.resendEvent],
];

/** Served to owners only. */
const FOR_OWNERS: readonly Route[] = [
  ['get', '/account/export', accountData.exportData, 'exports'],
  ['get', '/account/deletion', accountData.askToDeleteAccount],
  ['post', '/account/deletion', accountData.requestDeletion],
  ['post', '/account/deletion/withdraw', accountData.withdrawDeletion],
  ['get', '/people', people.showPeople],
  ['post', '/people', people.invite, 'invitations'],
  ['post', '/people/second-factor', people.requireFactor],
  ['post', '/people/:id/link', people.renewLink],
  ['post', '/people/:id/withdraw', people.withdraw],
  ['post', '/people/:id/enable', people.enablePerson],
  ['post', '/people/:id/disable', people.disablePerson],
  ['post', '/people/:id/sign-out', people.signOutPerson],
];

/** Everything under `/settings`: pages rendered on the server that work without JavaScript. */
export function createSettings(deps: SettingsDeps): Router {
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
  // This form precedes the check of origins: mailbox providers send it too.
  addRoutes([['post', '/unsubscribe', unsubscribe, 'unsubscribed']]);
  router.use(refuseForeignForms(deps.baseUrl), parseForm);
  router.use(recogniseVisitor(deps), requireFormToken);
  router.use('/sign-in/code', requirePending(deps));
  addRoutes(SIGN_IN);
  addSingleSignOn(router, deps, limits);
  router.use(requireVisitor, requireSecondFactor);
  // These precede the limit of changes: whoever has a person's session must not keep them from ending it.
  addRoutes(SECURITY);
  router.post('/{*page}', limits.changes);
  router.get('/', (_req, res) => res.redirect(303, '/settings/overview'));
  addRoutes(PAGES);
  if ((deps.uploads ?? 'off') !== 'off')
    addRoutes([['post', '/account/uploads', createUpload(deps), 'uploads', 'uploads-of-account']]);
  router.use(['/people', '/account/export', '/account/deletion'], requireOwnerRole);
  addRoutes(FOR_OWNERS);
  router.use(() => {
    throw new Failure('not_found', 'There is no such page.');
  });
  router.use(answerPageErrors(deps));
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
