import { chromium } from 'playwright-core';

/** Debian's path; CHROMIUM names another one. */
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** Chromium in a profile of its own, without requests of the browser itself. */
export const launchChromium = () =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
