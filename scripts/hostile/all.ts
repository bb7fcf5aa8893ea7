import { HOSTILE_CONTAINERS } from './containers.ts';
import { HOSTILE_COSTS } from './costly.ts';
import { HOSTILE_MAILS } from './mail.ts';
import { HOSTILE_ARCHIVES } from './many.ts';
import { HOSTILE_VALUES } from './values.ts';
import { HOSTILE_XML } from './xml.ts';

/** Every hostile input, by kind. */
export const HOSTILE = {
  containers: HOSTILE_CONTAINERS,
  mails: HOSTILE_MAILS,
  XML: HOSTILE_XML,
  values: HOSTILE_VALUES,
  archives: HOSTILE_ARCHIVES,
  costs: HOSTILE_COSTS,
} as const;
