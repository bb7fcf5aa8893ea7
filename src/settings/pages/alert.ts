import { html } from 'hono/html';
import { findAlertText } from '../../domain/alerts/alert-texts.ts';
import { Failure } from '../../domain/failure.ts';
import { findAccountAlert } from '../../store/alerts/alerts.ts';
import { countTold, listTold } from '../../store/notify/told.ts';
import type { PageHandler } from '../deps.ts';
import { sendPage } from '../frame/page.ts';
import { idOf } from '../request.ts';
import { visitorOf } from '../visitor.ts';
import { renderAlert } from './alert-view.ts';
import { describeTold, isForgotten, renderTold, renderUntold } from './told-view.ts';

/** An alert, and who was told of it. */
export const showAlert: PageHandler = async (deps, req, res) => {
  const { db } = deps.store;
  const { accountId, role } = visitorOf(res);
  const found = await findAccountAlert(db, accountId, idOf(req));
  if (found === undefined) throw new Failure('not_found', 'There is no such page.');
  const [alert, now] = [{ ...found, context: JSON.parse(found.context) }, deps.now()];
  const counts = (await countTold(db, accountId, [alert])).get(alert.id);
  const told = role === 'owner' && counts ? await listTold(db, accountId, alert.id) : [];
  const { title } = findAlertText(alert.type);
  const main = html`<p class="trail"><a href="/settings/alerts">Alerts</a> / ${title}</p>
    <h1>${title}</h1>
    <section class="card" aria-label="Alert"><ul class="alerts">${renderAlert(alert, now)}</ul></section>
    <section class="card" aria-labelledby="told"><h2 id="told">Who was told</h2>
      <p>${describeTold(counts, alert, now)}.</p>
      ${counts || isForgotten(alert, now) ? '' : renderUntold(alert.context, deps)}
      ${told.length === 0 ? '' : renderTold(told, now)}
    </section>`;
  await sendPage(res, { title, current: 'alerts', main });
};
