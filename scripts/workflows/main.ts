/**
 * Runs the workflows of openapi/workflows.arazzo.yaml unchanged against a live server: `npm run workflows`.
 *
 * The server is the demo's, with a database that another process can write to. While the last workflow waits
 * for its alert to resolve, the operator's command ingests the report that resolves it. The alert engine
 * decides whether and when.
 */
import { renderGoodDay } from '../good-day.ts';
import { runPlumbline, servePlumbline } from '../served-plumbline.ts';
import { runRespect } from './respect.ts';

const DAY_MS = 86_400_000;
/** respect's output while a workflow waits. */
const WAITING = /Retrying step/;

process.exitCode = await followWorkflows();

/** Runs them all, and returns the exit status of respect. */
async function followWorkflows(): Promise<number> {
  const demo = await servePlumbline(['demo']);
  const demoDatabase = { PLUMBLINE_DATABASE: demo.database as string };
  try {
    let ingested: Promise<void> | undefined;
    const onOutput = (text: string) => {
      process.stdout.write(text);
      if (!WAITING.test(text)) return;
      ingested ??= runPlumbline(['ingest', '-'], demoDatabase, aGoodDay());
      // An error is reported after respect has ended, so that the demo can be stopped.
      ingested.catch(() => undefined);
    };
    const { status } = await runRespect({ ...demo, onOutput });
    await ingested;
    return status ?? 1;
  } finally {
    await demo.stop();
  }
}

/** A report of today, on which all signatures are valid again. */
function aGoodDay(): Uint8Array {
  const day = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS);
  return renderGoodDay('shop.example', { day, ip: '2001:db8:10::25' });
}
