/** Sends the transfers of an export from a wallet in this browser, and stores its answers. */
import { html, nothing } from 'lit';
import type { Wallet } from '../../src/browser-wallets/provider.js';
import { payoutExports } from '../../src/contract/console-payouts.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { texts } from '../messages/exports.js';
import type { View } from '../page.js';

export type Export = ParsedData<typeof payoutExports.list>['exports'][number];

export type File = ParsedData<typeof payoutExports.create>;

/** Reports transfers that were left out of a file, and those that must not be paid now. */
export async function tellLeftOut(
  { leftOut, held }: Pick<File, 'leftOut' | 'held'>,
  view: View,
): Promise<void> {
  if (leftOut.length === 0 && held.length === 0) return;
  const part = (text: string, lines: readonly string[]) =>
    lines.length === 0
      ? nothing
      : html`<p>${text}</p>
          <ul>
            ${lines.map((line) => html`<li>${line}</li>`)}
          </ul>`;
  await view.ask({
    title: texts.leftOut,
    text: html`${part(
      texts.leftOutText,
      leftOut.map(({ id, paidBy }) => texts.paidBy(id, paidBy.join(', '))),
    )}${part(
      texts.heldText,
      held.map(({ id, reason }) => texts.heldOne(id, reason)),
    )}`,
  });
}

/** Number of times that an answer is sent to a server that does not accept it. */
const keepTimes = 5;

export async function sendFromWallet(one: Export, view: View): Promise<void> {
  if (!one.chain) return;
  const { rpcUrl, ...known } = one.chain;
  const chain = { ...known, ...(rpcUrl !== null && { rpcUrl }) };
  const free = one.transfers.filter(({ handedAt }) => handedAt === null);
  const { findWallets, sendCalls, UnsureSending } = await import('../send-calls.js');
  const wallet = await choose(await findWallets(), free, view);
  if (!wallet) return;
  const params = { export_id: one.id };
  const written = await view.act(() => view.api(payoutExports.write, { params }));
  if (!written) return;
  await tellLeftOut(written.data, view);
  const calls = written.data.transfers;
  if (calls.length === 0) return;
  const idsOf = (positions: readonly number[]) => positions.flatMap((position) => calls[position]?.id ?? []);
  /** The server has shown the reason on the page. */
  const notHanded = new Error('The transfers were not handed over');
  const sending = {
    chain,
    calls,
    async beforeAsked(positions: readonly number[], from: string) {
      const body = { transfers: idsOf(positions), from };
      const handed = await view.act(() => view.api(payoutExports.handOver, { params, body }));
      if (!handed) throw notHanded;
    },
    async onAnswer(positions: readonly number[], answer: string | null) {
      const body = { transfers: idsOf(positions), answer };
      await view.act(() => keepAnswer(view, { params, body }));
      if (answer !== null) view.say(texts.sent(positions.length));
    },
    // With several transactions, nobody knows which paid what: the batch id stays stored.
    async onMined(positions: readonly number[], _batch: string, hashes: readonly string[]) {
      const [answer] = hashes;
      if (answer !== undefined && hashes.length === 1) await this.onAnswer(positions, answer);
    },
  };
  try {
    await sendCalls(wallet.provider, sending, view.signal);
  } catch (error) {
    if (error === notHanded || view.signal.aborted) return;
    view.say(error instanceof UnsureSending ? texts.unknown : texts.refused);
  }
}

async function choose(
  found: readonly Wallet[],
  free: Export['transfers'],
  view: View,
): Promise<Wallet | undefined> {
  if (found.length === 0) {
    view.say(texts.noWallet);
    return undefined;
  }
  const values = await view.ask({
    title: texts.sendTitle(free.length),
    text: html`<p>${texts.sendText}</p>
      <ul>
        ${free.map(
          ({ amount, currency, address }) =>
            html`<li>${amount} ${currency}: <code class="address">${address}</code></li>`,
        )}
      </ul>`,
    fields: [
      {
        name: 'wallet',
        label: texts.whichWallet,
        options: found.map(({ id, name }) => [id, name || texts.unnamed] as const),
      },
    ],
    action: texts.sendAction,
    isFinal: true,
  });
  return values && found.find(({ id }) => id === values['wallet']);
}

/** The wallet has acted: a brief connection failure must not lose its answer. */
async function keepAnswer(
  view: View,
  input: Parameters<typeof view.api<typeof payoutExports.keepAnswer>>[1],
): Promise<void> {
  for (let time = 1; ; time += 1) {
    try {
      await view.api(payoutExports.keepAnswer, input);
      return;
    } catch (error) {
      if (time === keepTimes) throw error;
      await new Promise((resolve) => setTimeout(resolve, time * 1000));
    }
  }
}
