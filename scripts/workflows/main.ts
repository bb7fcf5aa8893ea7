/**
 * Runs the workflows of openapi/workflows.arazzo.yaml as they stand, against a live server: `npm run workflows`.
 *
 * The server is the demo's, on a database that another process can write to. While the last workflow waits for its
 * alert to resolve, the report that ends the alert's reason is ingested by the command that operators use; whether
 * and when the alert resolves is for the alert engine to say.
 */
import { renderGoodDay } from '../demo/reports.ts';
import { runPlumbline, servePlumbline } from '../served-plumbline.ts';
import { runRespect } from './respect.ts';

const DAY_MS = 86_400_000;
/** What respect says while a workflow waits. */
const WAITING = /Retrying step/;

process.exitCode = await followWorkflows();

/** Runs them all, and answers with the status that respect ended with. */
async function followWorkflows(): Promise<number> {
  const demo = await servePlumbline(['demo']);
  const demoDatabase = { PLUMBLINE_DATABASE: demo.database as string };
  try {
    // As a new domain is: it waits for its first report, and has an empty list.
    await runPlumbline(['domain', 'add', demo.account_id, 'waiting.example'], demoDatabase);
    let mended: Promise<void> | undefined;
    const onOutput = (text: string) => {
      process.stdout.write(text);
      if (!WAITING.test(text)) return;
      mended ??= runPlumbline(['ingest', '-'], demoDatabase, aGoodDay());
      // That it failed is told when respect has ended, and the demo can be stopped.
      mended.catch(() => undefined);
    };
    const { status } = await runRespect({ ...demo, onOutput });
    await mended;
    return status ?? 1;
  } finally {
    await demo.stop();
  }
}

/** A report about today, on which nobody's signatures are broken any more. */
function aGoodDay(): Uint8Array {
  const day = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS);
  return renderGoodDay('shop.example', { day, ip: '2001:db8:10::25' });
}
