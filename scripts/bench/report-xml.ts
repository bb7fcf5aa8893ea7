/** A report of any size, about 600 bytes of XML for each record, as a large reporter sends it. */
export function renderReport({ number, records }: { number: number; records: number }): string {
  const begin = 1_700_000_000 + (number % 365) * 86_400;
  const rows = Array.from({ length: records }, (_, i) => renderRecord(number * 31 + i));
  return `<?xml version="1.0" encoding="UTF-8"?>
<feedback>
  <report_metadata>
    <org_name>Reporter ${number % 10}</org_name>
    <email>dmarc-reports@reporter.example</email>
    <report_id>${number}.${begin}</report_id>
    <date_range><begin>${begin}</begin><end>${begin + 86_399}</end></date_range>
  </report_metadata>
  <policy_published>
    <domain>example.com</domain><adkim>r</adkim><aspf>r</aspf><p>none</p><sp>none</sp><pct>100</pct>
  </policy_published>
${rows.join('\n')}
</feedback>
`;
}

function renderRecord(n: number): string {
  const ip = `192.0.2.${n % 256}`;
  const result = n % 7 === 0 ? 'fail' : 'pass';
  return `  <record>
    <row>
      <source_ip>${ip}</source_ip>
      <count>${1 + (n % 50)}</count>
      <policy_evaluated>
        <disposition>none</disposition>
        <dkim>${result}</dkim>
        <spf>fail</spf>
      </policy_evaluated>
    </row>
    <identifiers>
      <header_from>example.com</header_from>
    </identifiers>
    <auth_results>
      <dkim>
        <domain>example.com</domain>
        <selector>selector1</selector>
        <result>${result}</result>
      </dkim>
      <spf>
        <domain>bounce.mailer.example</domain>
        <scope>mfrom</scope>
        <result>pass</result>
      </spf>
    </auth_results>
  </record>`;
}
