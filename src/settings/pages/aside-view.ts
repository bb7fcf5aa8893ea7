import { html } from 'hono/html';
import { DAYS_SILENT } from '../../domain/reports/authentication.ts';
import { pluralize } from '../../domain/text.ts';
import type { WorkItem } from '../../judging/work.ts';
import type { Html } from '../frame/text.ts';

type Believed = Pick<WorkItem, 'reporters' | 'aside'>;

/** Whether reports count for want of an established reporter. Files are the operator's own word. */
export function isUnproven({ reporters, aside }: Believed): boolean {
  return reporters === 'all' && aside.unproven > 0;
}

/** What is set aside, with a link to the list of reports. */
export function renderAside(
  { reporters, aside: { reports, messages } }: Believed,
  list: string,
): Html | '' {
  if (reports === 0) return '';
  const isOne = reports === 1;
  const what = `${pluralize(reports, reporters === 'all' ? 'disputed report' : 'report')} with ${pluralize(messages, 'message')}`;
  const does = isOne
    ? 'is set aside and changes nothing here'
    : 'are set aside and change nothing here';
  // Where all reporters count, disputed reports alone do not.
  const why =
    reporters === 'all'
      ? ''
      : `: ${isOne ? 'its reporter is' : 'their reporters are'} not authenticated or not established yet`;
  return html`<p class="muted">${what} ${does}${why}. <a href="${list}">See the reports</a></p>`;
}

/** `of`: the domains, where a page has several. */
export function describeUnproven(of = ''): string {
  return `No established reporter${of} has sent reports in ${DAYS_SILENT} days, so all reports count${of === '' ? '' : ' there'} but disputed ones.`;
}

export function renderBelieved(believed: Believed, list: string): Html {
  return html`${isUnproven(believed) ? html`<p class="muted">${describeUnproven()}</p>` : ''}${renderAside(believed, list)}`;
}
