/**
 * Moving payers' coins from their addresses to the treasury: planned, written as files, or sent from a wallet in this
 * browser.
 *
 * @place {"order": 80, "parent": "money", "permission": "sweeps.list"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { WalletRefusal, type Wallet } from '../../src/browser-wallets/provider.js';
import { sweeps } from '../../src/contract/console-sweeps.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { amount, time } from '../format.js';
import { texts } from '../messages/sweeps.js';
import { page, type View } from '../page.js';
import { findWallets, readBatch, sendCalls, UnsureSending } from '../send-calls.js';
import { button } from '../ui/button.js';
import { copyable } from '../ui/copy.js';
import { saveCsv } from '../ui/csv.js';
import { section, tag } from '../ui/details.js';
import { saveFile } from '../ui/files.js';
import { table } from '../ui/table.js';

type Data = ParsedData<typeof sweeps.list>;
type Plan = ParsedData<typeof sweeps.plan>;
type Group = Plan['groups'][number];

interface Progress {
  state: keyof typeof texts.states;
  /** The wallet's answer: the hash of a transaction, the id of a batch, or the hashes of its transactions. */
  answer?: string;
}

/** The page's own state, until another address is opened. */
interface Kept {
  readonly plan: Plan;
  /** Per transaction, once the wallet was opened. */
  progress: Progress[];
}
const kept = new WeakMap<View, Kept>();

async function load(view: View): Promise<Data> {
  const { data } = await view.api(sweeps.list, {}, view.signal);
  void askWallets(data, view);
  return data;
}

/** Views whose wallets are being queried. */
const asking = new WeakSet<View>();

/**
 * Asks the wallets of this browser about batches whose page was closed too early. They report what they sent, without a
 * prompt. The page shows it at the next read.
 */
async function askWallets({ sent }: Data, view: View): Promise<void> {
  const open = sent.filter(({ isBooked }) => !isBooked);
  if (open.length === 0 || asking.has(view) || view.isBusy || !view.can('sweeps.keepAnswer')) return;
  asking.add(view);
  try {
    for (const { provider } of await findWallets()) {
      for (const { network, answer } of open) {
        const { hashes, status } = await readBatch(provider, answer);
        if (hashes.length === 0 && status !== 400) continue;
        await view.api(sweeps.keepAnswer, { body: { network, answer, hashes: [...hashes] } }, view.signal);
      }
    }
  } catch {
    // It is queried again at the next read of the page.
  } finally {
    asking.delete(view);
  }
}

function render({ networks, sent }: Data, view: View): TemplateResult {
  const planned = kept.get(view);
  return html`<div class="panels">
    ${section(
      texts.networks,
      html`<p>${texts.text}</p>
        ${table<Data['networks'][number]>({
          label: texts.networks,
          rows: networks,
          view,
          columns: [
            { label: texts.network, cell: ({ name }) => name },
            {
              label: texts.actions,
              kind: 'actions',
              cell: ({ network }) =>
                button(view, {
                  text: texts.plan,
                  permission: 'sweeps.plan',
                  kind: 'main small',
                  run: () => makePlan(network, view),
                }),
            },
          ],
          empty: texts.noNetworks,
        })}`,
    )}
    ${planned ? planSection(planned, view) : nothing}
    ${planned && planned.progress.length > 0 ? progressSection(planned, view) : nothing}
    ${sent.length > 0 ? sentSection(sent, view) : nothing}
  </div>`;
}

async function makePlan(network: string, view: View): Promise<void> {
  const made = await view.act(() => view.api(sweeps.plan, { body: { network } }, view.signal));
  if (made) kept.set(view, { plan: made.data, progress: [] });
  view.redraw();
}

const inBase = ({ baseCurrency }: Plan, value: string | null) =>
  value === null ? texts.unknown : amount(value, baseCurrency);

function planSection({ plan, progress }: Kept, view: View): TemplateResult {
  const { groups, transactions } = plan;
  const isWorth = transactions.length > 0;
  return section(
    texts.planOf(plan.name),
    html`${table<Group>({
      label: texts.planOf(plan.name),
      rows: groups,
      view,
      columns: [
        { label: texts.amount, kind: 'money', cell: (one) => `${one.amount} ${one.currency}` },
        { label: texts.addresses, kind: 'money', cell: (one) => one.addresses },
        { label: texts.worth, kind: 'money', cell: ({ worth }) => inBase(plan, worth) },
        { label: texts.cost, kind: 'money', cell: ({ cost }) => inBase(plan, cost) },
        {
          label: texts.result,
          kind: 'status',
          cell: ({ skipped }) =>
            skipped === null ? tag(texts.swept, 'good') : tag(texts.skipped[skipped], 'caution'),
        },
        { label: texts.treasury, kind: 'hash', cell: ({ treasury }) => copyable(treasury, view) },
      ],
      empty: texts.nothing,
    })}
    ${isWorth ? html`<p><small>${texts.anyAccount}</small></p>` : html`<p>${texts.nothingWorth}</p>`}`,
    // Sending it a second time would only cost gas: the rest is planned again.
    isWorth && !progress.some(({ state }) => state !== 'waiting' && state !== 'rejected')
      ? html`${button(view, {
          text: texts.send,
          permission: 'sweeps.keepAnswer',
          kind: 'main',
          run: () => send(view),
        })}
        ${files(plan, view)}`
      : nothing,
  );
}

function files({ network, safe, transactions }: Plan, view: View): unknown {
  const file = (text: string, save: () => void) =>
    button(view, { text, permission: 'sweeps.plan', run: () => Promise.resolve(save()) });
  return html`${file(texts.saveSafe, () =>
    saveFile(`sweep-${network}.json`, JSON.stringify(safe, null, 2), 'application/json'),
  )}
  ${file(texts.saveCsv, () =>
    saveCsv(
      `sweep-${network}.csv`,
      transactions.map(({ to, value, data, balances }) => ({ network, balances, to, value, data })),
    ),
  )}`;
}

function progressSection({ plan, progress }: Kept, view: View): TemplateResult {
  const tones = {
    sent: 'good',
    together: 'good',
    rejected: 'bad',
    unsure: 'caution',
    unkept: 'caution',
  } as const;
  const toneOf = (state: Progress['state']) =>
    state === 'waiting' || state === 'asked' ? 'plain' : tones[state];
  return section(
    texts.progress,
    html`<div aria-live="polite">
      ${table<Progress & { readonly number: number }>({
        label: texts.progress,
        rows: progress.map((one, index) => ({ ...one, number: index + 1 })),
        view,
        columns: [
          { label: texts.number, cell: ({ number }) => texts.call(number) },
          {
            label: texts.addresses,
            cell: ({ number }) => texts.balances(plan.transactions[number - 1]?.balances ?? 0),
          },
          {
            label: texts.state,
            kind: 'status',
            cell: ({ state }) => tag(texts.states[state], toneOf(state)),
          },
          {
            label: texts.transaction,
            kind: 'hash',
            cell: ({ answer }) => (answer === undefined ? nothing : copyable(answer, view)),
          },
        ],
        empty: '',
      })}
    </div>`,
  );
}

const sentSection = (sent: Data['sent'], view: View) =>
  section(
    texts.under,
    table<Data['sent'][number]>({
      label: texts.under,
      rows: sent,
      view,
      columns: [
        { label: texts.transaction, kind: 'hash', cell: ({ answer }) => copyable(answer, view) },
        { label: texts.network, cell: ({ network }) => network },
        { label: texts.time, kind: 'time', cell: ({ sentAt }) => time(sentAt) },
        { label: texts.by, cell: ({ sentBy }) => sentBy },
        {
          label: texts.state,
          kind: 'status',
          cell: ({ isBooked }) => (isBooked ? tag(texts.booked, 'good') : tag(texts.underWay, 'caution')),
        },
      ],
      empty: '',
    }),
  );

async function send(view: View): Promise<void> {
  const planned = kept.get(view);
  if (!planned) return;
  const { plan } = planned;
  const wallets = await findWallets();
  if (wallets.length === 0) {
    await view.ask({ title: texts.notSentTitle, text: texts.noWallet });
    return;
  }
  const values = await view.ask({
    title: texts.sendTitle(plan.transactions.length),
    text: texts.sendText(plan.name, inBase(plan, plan.cost)),
    fields: [
      {
        name: 'wallet',
        label: texts.wallet,
        options: wallets.map(({ id, name }) => [id, name || texts.unnamed]),
      },
    ],
    action: texts.sendAction,
  });
  const wallet = wallets.find(({ id }) => id === values?.['wallet']);
  if (!wallet) return;
  planned.progress = plan.transactions.map(() => ({ state: 'waiting' }));
  let problem: string | undefined;
  const isOver = await view.act(async () => {
    problem = await sendFrom(wallet, planned, view);
    return true;
  });
  // The shell has shown the reason.
  if (!isOver) return;
  if (problem === undefined) view.say(texts.allSent);
  else await view.ask({ title: texts.notSentTitle, text: problem });
}

/** @returns the remedy if not everything was sent */
async function sendFrom(wallet: Wallet, { plan, progress }: Kept, view: View): Promise<string | undefined> {
  const { network, name, chainId, coin, rpcUrl } = plan;
  const show = (positions: readonly number[], one: Progress) => {
    for (const position of positions) progress[position] = one;
    view.redraw();
  };
  const sending = {
    chain: { chainId, name, coin, ...(rpcUrl !== null && { rpcUrl }) },
    calls: plan.transactions,
    beforeAsked(positions: readonly number[]) {
      show(positions, { state: 'asked' });
      return Promise.resolve();
    },
    async onAnswer(positions: readonly number[], answer: string | null) {
      if (answer === null) {
        show(positions, { state: 'rejected' });
        return;
      }
      // Shown before it is stored: if storing fails, the person still has it.
      show(positions, { state: 'unkept', answer });
      await view.api(sweeps.keepAnswer, { body: { network, answer } });
      show(positions, { state: positions.length > 1 ? 'together' : 'sent', answer });
    },
    async onMined(positions: readonly number[], batch: string, hashes: readonly string[]) {
      show(positions, { state: 'together', answer: hashes.join(', ') });
      await view.api(sweeps.keepAnswer, { body: { network, answer: batch, hashes: [...hashes] } });
    },
  };
  try {
    await sendCalls(wallet.provider, sending, view.signal);
    return undefined;
  } catch (error) {
    if (error instanceof UnsureSending) {
      const asked = progress.flatMap(({ state }, index) => (state === 'asked' ? index : []));
      show(asked, { state: 'unsure' });
      return texts.unsure;
    }
    if (error instanceof WalletRefusal) return refusalText(error, plan);
    throw error;
  }
}

function refusalText({ reason }: WalletRefusal, { name, chainId }: Plan): string {
  const { refusals } = texts;
  if (reason === 'walletChain') return refusals.walletChain(name);
  if (reason === 'walletUnknownChain') return refusals.walletUnknownChain(name, chainId);
  return reason in refusals ? refusals[reason as 'walletFailed'] : refusals.walletFailed;
}

export default page<Data>({ title: () => texts.title, load, render, everyMs: 15_000 });
