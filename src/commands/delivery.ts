import type { Command } from 'commander';
import { toInstant } from '../domain/instant.ts';
import { operator } from '../store/events/audit.ts';
import { type Delivery, listDeliveries, resend } from '../store/notify/deliveries.ts';
import { findWebhook } from '../store/notify/webhooks.ts';
import { parseId, parseWhole } from './arguments.ts';
import { hint, type OutputOptions, printList, printResult } from './output/output.ts';
import { withStore } from './with-store.ts';

export function define(delivery: Command): void {
  delivery
    .command('list')
    .argument('<webhook-id>', 'as listed', parseId)
    .description('List what an endpoint was sent in the last 30 days, latest first.')
    .option('--limit <n>', 'how many', parseWhole(10_000), 50)
    .action(async (id: string, options: OutputOptions & { readonly limit: number }) => {
      const { deliveries, enabled } = await withStore(async ({ db }) => {
        const { enabled } = await findWebhook(db, id);
        return { deliveries: await listDeliveries(db, id, options), enabled };
      });
      const none = 'The endpoint was sent nothing yet: plumbline webhook test <webhook-id>';
      printList(deliveries.map(toOutput(enabled)), { none, toColumns }, options);
      if (!enabled) hint('The endpoint is off: what is waiting waits until it is on.', options);
    });
  delivery
    .command('resend')
    .argument('<webhook-id>', 'as listed', parseId)
    .argument('<event-id>', 'as listed', parseId)
    .description('Send an event to an endpoint again.')
    .action(async (id: string, event: string, options: OutputOptions) => {
      await withStore(({ db }) => resend(db, id, event, operator()));
      printResult(
        { event },
        `The event ${event} is queued. A server or worker sends it again.`,
        options,
      );
    });
}

/** While the endpoint is off nothing is tried. */
const toOutput = (isOn: boolean) => (delivery: Delivery) => {
  const { id: event, type, at, state, tries, ...last } = delivery;
  const { tried_at, took_ms, status, answer, due_at_ms } = last;
  const next_try_at = isOn && due_at_ms !== null ? toInstant(new Date(due_at_ms)) : null;
  return { event, type, at, state, tries, tried_at, took_ms, status, answer, next_try_at };
};

type Output = ReturnType<ReturnType<typeof toOutput>>;

/** Without a status the answer is why there is none. */
function toColumns({ event, type, at, state, tries, status, answer }: Output) {
  return { event, type, at, state, tries, status: status ?? answer };
}
