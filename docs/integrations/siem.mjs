/**
 * A record of a DMARC report as an event of OCSF 1.8.0 and of ECS 9.4.0, for a SIEM. Both are pure functions of what the API
 * answers: `domain`, of the list of domains; `report`, of a list or the feed; `record`, of the report's records; and
 * `index`, the record's place among them, which makes the event's id. README.md beside this file explains the choices.
 */

/** What the receiver did. Another value of `disposition` is unknown. */
const ACTIONS = {
  none: { action_id: 1, action: 'Allowed', disposition_id: 1, disposition: 'Allowed' },
  quarantine: { action_id: 2, action: 'Denied', disposition_id: 3, disposition: 'Quarantined' },
  reject: { action_id: 2, action: 'Denied', disposition_id: 2, disposition: 'Blocked' },
};
const UNKNOWN = { action_id: 0, action: 'Unknown', disposition_id: 0, disposition: 'Unknown' };

/** A domain that OCSF takes in an address; reporters may send anything. */
const NAME = /^[a-z0-9-]+\.[a-z0-9.-]+$/i;

/** OCSF: class Email Activity (4009), activity Receive, profile security_control. */
export function toOcsf({ domain, report, record, index }) {
  const facts = toFacts({ domain, report, record, index });
  const { dkim, spf, evaluated } = facts;
  return {
    category_uid: 4,
    category_name: 'Network Activity',
    class_uid: 4009,
    class_name: 'Email Activity',
    activity_id: 2,
    activity_name: 'Receive',
    type_uid: 400902,
    type_name: 'Email Activity: Receive',
    severity_id: 1,
    severity: 'Informational',
    status_id: facts.passes ? 1 : 2,
    status: facts.passes ? 'Success' : 'Failure',
    ...(ACTIONS[evaluated.disposition] ?? UNKNOWN),
    direction_id: 1,
    direction: 'Inbound',
    time: Date.parse(facts.end),
    start_time: Date.parse(facts.start),
    end_time: Date.parse(facts.end),
    count: record.count,
    message: facts.message,
    metadata: {
      version: '1.8.0',
      profiles: ['security_control'],
      product: { name: 'Plumbline', vendor_name: 'Plumbline' },
      uid: facts.id,
      correlation_uid: report.id,
      ...(facts.reporter && { reporter: { name: facts.reporter } }),
    },
    ...(record.source_ip && {
      src_endpoint: { ip: record.source_ip },
      observables: [
        { name: 'src_endpoint.ip', type_id: 2, type: 'IP Address', value: record.source_ip },
      ],
    }),
    // A report has no addresses, and OCSF wants one: the asterisk stands for everybody at the domain.
    email: {
      from: `*@${NAME.test(facts.from) ? facts.from : domain.domain}`,
      ...(NAME.test(facts.envelope) && { smtp_from: `*@${facts.envelope}` }),
    },
    email_auth: withoutNulls({
      dmarc: facts.passes ? 'pass' : 'fail',
      dmarc_override: facts.overrides.join(', ') || null,
      dkim: dkim?.result,
      dkim_domain: dkim?.domain,
      spf: spf?.result,
    }),
    unmapped: { policy_evaluated: evaluated, auth_results: record.auth_results },
  };
}

/** ECS: an `email` event with the report's own figures in `dmarc`, a name that ECS leaves to others. */
export function toEcs({ domain, report, record, index }) {
  const facts = toFacts({ domain, report, record, index });
  const { dkim, spf, evaluated } = facts;
  return {
    '@timestamp': facts.end,
    ecs: { version: '9.4.0' },
    message: facts.message,
    event: {
      id: facts.id,
      kind: 'event',
      category: ['email'],
      type: ['info'],
      outcome: facts.passes ? 'success' : 'failure',
      action: 'dmarc-evaluated',
      module: 'plumbline',
      dataset: 'plumbline.records',
      start: facts.start,
      end: facts.end,
      ...(facts.reporter && { provider: facts.reporter }),
    },
    observer: { vendor: 'Plumbline', product: 'Plumbline', type: 'dmarc' },
    email: { direction: 'inbound' },
    ...(record.source_ip && { source: { ip: record.source_ip, address: record.source_ip } }),
    related: {
      ip: record.source_ip ? [record.source_ip] : [],
      hosts: [...new Set([facts.from, facts.envelope, dkim?.domain].filter(Boolean))],
    },
    dmarc: withoutNulls({
      domain: domain?.domain,
      report_id: report.id,
      result: facts.passes ? 'pass' : 'fail',
      message_count: record.count,
      header_from: facts.from,
      envelope_from: facts.envelope,
      disposition: evaluated.disposition,
      overrides: facts.overrides,
      dkim_aligned: evaluated.dkim === 'pass',
      spf_aligned: evaluated.spf === 'pass',
      dkim: dkim && withoutNulls(dkim),
      spf: spf && withoutNulls(spf),
    }),
  };
}

/** What both have. A record passes DMARC by what the receiver evaluated; raw results of DKIM and SPF decide nothing. */
function toFacts({ domain, report, record, index }) {
  const { policy_evaluated: evaluated, identifiers, auth_results: raw } = record;
  const passes = evaluated.dkim === 'pass' || evaluated.spf === 'pass';
  // A domain that is not listed has no name here.
  const from = identifiers.header_from ?? domain?.domain;
  const reporter = report.reporter_org ?? report.reporter_email;
  const [start, end] = [report.begin_date, report.end_date].sort();
  const verb = passes ? 'passed' : 'failed';
  return {
    id: `${report.id}:${index}`,
    passes,
    from,
    envelope: identifiers.envelope_from,
    reporter,
    start,
    end,
    evaluated,
    overrides: evaluated.reasons.map(({ type }) => type).filter(Boolean),
    dkim: raw.dkim.find(({ result }) => result === 'pass') ?? raw.dkim[0],
    spf: raw.spf[0],
    message: `${record.count} messages from ${record.source_ip ?? 'an unknown address'} as ${from} ${verb} DMARC`,
  };
}

const withoutNulls = (fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
