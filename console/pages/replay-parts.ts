/** Sends many webhooks again, one after another, with their progress. */
import { html, nothing, type TemplateResult } from 'lit';
import type * as z from 'zod/mini';
import { webhooks } from '../../src/contract/webhook-deliveries.js';
import { CallFailure } from '../api.js';
import { texts } from '../messages/developers.js';
import type { View } from '../page.js';
import { button } from '../ui/button.js';

type Filter = z.input<(typeof webhooks.list)['query']>;

/** The most that are sent again at once. */
const mostReplayed = 500;

interface Progress {
  readonly total: number;
  readonly sent: number;
  /** Deleted meanwhile, or refused. */
  readonly refused: number;
}

/** The replay that runs on the page in view. It ends when the page is left. */
let running: (Progress & { readonly stop: () => void }) | undefined;

/** @param total of the events that the filter selects */
export function replayButton(filter: Filter, total: number, view: View): TemplateResult | typeof nothing {
  if (total === 0) return nothing;
  const count = Math.min(total, mostReplayed);
  const run = () => replay(filter, count, total, view);
  const isHeld = running !== undefined;
  return html`${button(view, { text: texts.replay(count), permission: 'webhooks.retry', run, isHeld })}`;
}

export const replayProgress = (): TemplateResult | typeof nothing =>
  running
    ? html`<div class="progress" role="status">
        <progress
          max=${running.total}
          value=${running.sent + running.refused}
          aria-label=${texts.replaying}
        ></progress>
        <span>${texts.replayed(running.sent + running.refused, running.total)}</span>
        <button class="small" @click=${running.stop}>${texts.replayStop}</button>
      </div>`
    : nothing;

async function replay(filter: Filter, count: number, total: number, view: View): Promise<void> {
  const asked = { title: texts.replayTitle(count), action: texts.replayAction };
  if (!(await view.ask({ ...asked, text: texts.replayText(count, total) }))) return;
  // The filter may select others once the first were sent.
  const listed = await view.act(() =>
    view.api(webhooks.list, { query: { ...filter, page: '1', skip: count } }),
  );
  if (!listed) return;
  const stopped = new AbortController();
  const signal = AbortSignal.any([view.signal, stopped.signal]);
  let progress: Progress = { total: listed.data.length, sent: 0, refused: 0 };
  const show = (next: Progress) => {
    progress = next;
    running = { ...next, stop: () => stopped.abort() };
    view.redraw();
  };
  show(progress);
  try {
    for (const { id } of listed.data) {
      const end = await sendAgain(id, view, signal);
      if (end === 'stopped') break;
      show({ ...progress, [end]: progress[end] + 1 });
    }
    if (!view.signal.aborted) await view.act(() => Promise.resolve(), texts.replayEnd(progress));
  } finally {
    running = undefined;
    view.redraw();
  }
}

/** Waits if the server asks for it. */
async function sendAgain(
  id: string,
  view: View,
  signal: AbortSignal,
): Promise<'sent' | 'refused' | 'stopped'> {
  while (!signal.aborted) {
    try {
      await view.api(webhooks.retry, { params: { webhook_id: id } }, signal);
      return 'sent';
    } catch (error) {
      // A call that was stopped fails with the signal's error.
      if (!(error instanceof CallFailure)) return 'stopped';
      if (error.waitSeconds === undefined) return 'refused';
      await pause(error.waitSeconds * 1000, signal);
    }
  }
  return 'stopped';
}

/** Ends at once when the person stops, or leaves the page. */
const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
