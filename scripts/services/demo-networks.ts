/** Writes the networks of the demo: addresses and numbers for documentation (RFC 5737, 3849 and 5398). */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { anMmdb } from '../mmdb.ts';

const toRecord = (asn: number, name: string, country: string) => ({
  ...{ autonomous_system_number: asn, autonomous_system_organization: name },
  country_code: country,
});

const OWN = toRecord(64496, 'Quarry Hosting', 'DE');
const OFFICE = toRecord(64500, 'Millbrook Telecom', 'GB');
const SENDERS = toRecord(64497, 'Meadow Mail Networks', 'IE');
const MAILBOXES = toRecord(64498, 'Lantern Mail', 'FR');
const RENTED = toRecord(64499, 'Rent-a-Rack', 'NL');

/** Networks of homes and offices, in which the botnet has its addresses. */
const BOTNET = Array.from({ length: 16 }, (_, i) => [
  `2001:db8:1${i.toString(16)}00::/40`,
  toRecord(65536 + i, `Access Provider ${i + 1}`, i % 2 === 0 ? 'BR' : 'IN'),
]);

const FILE = fileURLToPath(new URL('../../src/demo/networks/networks.mmdb', import.meta.url));

export const toNetworks = () =>
  anMmdb({
    networks: {
      '192.0.2.0/25': OWN,
      '192.0.2.128/25': OFFICE,
      '2001:db8:10::/48': OWN,
      '198.51.100.0/24': SENDERS,
      '203.0.113.0/26': MAILBOXES,
      '203.0.113.64/26': RENTED,
      '203.0.113.128/25': RENTED,
      ...Object.fromEntries(BOTNET),
    },
  });

if (import.meta.main) writeFileSync(FILE, toNetworks());
