const MESSAGES = 1_000;

/** A report of a day on which all of a domain's mail came from `ip` and passed. No other data has its reporter. */
export function renderGoodDay(domain: string, { day, ip }: { day: Date; ip: string }): Buffer {
  const begin = day.getTime() / 1000;
  return Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>
<feedback>
  <report_metadata>
    <org_name>Meadow Mail</org_name>
    <email>dmarc-reports@meadow-mail.example</email>
    <report_id>${begin}.${domain}</report_id>
    <date_range><begin>${begin}</begin><end>${begin + 86_399}</end></date_range>
  </report_metadata>
  <policy_published><domain>${domain}</domain><p>none</p></policy_published>
  <record>
    <row>
      <source_ip>${ip}</source_ip><count>${MESSAGES}</count>
      <policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>pass</spf></policy_evaluated>
    </row>
    <identifiers><header_from>${domain}</header_from></identifiers>
    <auth_results>
      <dkim><domain>${domain}</domain><selector>s1</selector><result>pass</result></dkim>
      <spf><domain>${domain}</domain><result>pass</result></spf>
    </auth_results>
  </record>
</feedback>
`);
}
