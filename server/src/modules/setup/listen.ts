/** `webhooks listen`: shows test events as they come, and hands them on to a server that is being written. */
import { setTimeout as sleep } from 'node:timers/promises';
import { command } from '../../core/commands/command.js';
import * as option from '../../core/commands/options.js';
import { requireEndpoint } from '../../core/webhooks/endpoints.js';

const everyMs = 500;
/** More than come between two looks of a shop in test mode. */
const atOnce = 100;

export const listen = command({
  summary: 'Shows the test events of a merchant as they come, until Ctrl+C.',
  details:
    'Prints the body of each event, one JSON value a line; on stderr its type, and what the webhook URL answered. The events are those of the webhook URL for test mode, which may be on this machine: without one, none are made.',
  options: {
    merchant: option.merchant('the merchant whose events they are').required(),
    for: option.integer('SECONDS', 'how long to listen (default: until Ctrl+C)', { min: 1, max: 86_400 }),
    type: option.text('TYPE', 'only events of this type, such as payment.success'),
  },
  async run(context, { merchant: merchantId, for: seconds, type }) {
    const { database, webhooks, print, progress } = context;
    const scope = { merchantId, mode: 'test' } as const;
    const { url } = await requireEndpoint(database.reader, scope);
    const recent = () => webhooks.list(database.reader, { merchantId, limit: atOnce });
    const seen = new Set((await recent()).map(({ id }) => id));
    const waiting = new Set<string>();
    const until = seconds === undefined ? Infinity : performance.now() + seconds * 1000;
    progress(`Listening to test events, which go to ${url}`);
    let count = 0;
    while (performance.now() < until) {
      for (const event of (await recent()).reverse()) {
        if (event.mode !== 'test' || (type !== undefined && event.type !== type)) continue;
        const { id, tries } = event;
        if (!seen.has(id)) {
          seen.add(id);
          waiting.add(id);
          count += 1;
          const { body } = await webhooks.retrieve(database.reader, scope, id);
          progress(`${event.createdAt}  ${event.type}  ${id}`);
          await print(`${body}\n`);
        }
        const last = tries.at(-1);
        if (!waiting.has(id) || !last) continue;
        waiting.delete(id);
        progress(`${last.error ?? `HTTP ${last.responseStatus ?? ''}`} in ${last.durationMs} ms  ${id}`);
      }
      await sleep(Math.min(everyMs, Math.max(0, until - performance.now())));
    }
    progress(`${count} events`);
    return { json: { events: count }, text: '', isPrinted: true };
  },
});
