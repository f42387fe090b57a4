/**
 * The shop's balances, where the coins are, and transfers.
 *
 * @place {"order": 50, "label": "Money", "permission": "balances.list"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { balances } from '../../src/contract/balances.js';
import { bankPayouts } from '../../src/contract/console-banks.js';
import { currencies } from '../../src/contract/currencies.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { payouts } from '../../src/contract/payouts.js';
import { transfers } from '../../src/contract/transfers.js';
import type { Mode } from '../api.js';
import { amount, time } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/money.js';
import { guarded, page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { blocks, short } from '../ui/copy.js';
import { details, section, tag } from '../ui/details.js';
import { sumOfDecimals } from '../sum.js';
import { emptyHint } from '../ui/empty.js';
import { choice, listOf, type Rows } from '../ui/list.js';
import { table } from '../ui/table.js';
import { sumOf, tones, type Transfer } from './transfer-parts.js';

type Balance = ParsedData<typeof balances.list>[number];
type Payout = ParsedData<typeof payouts.list>[number];

interface Data {
  readonly balances: readonly Balance[];
  /** The sums that banks pay out, or have paid out, by currency: their coins stay on the networks. */
  readonly banks: ReadonlyMap<string, number>;
  readonly transfers: Rows<Transfer>;
  readonly payouts: Rows<Payout>;
}

/** The names of the networks, by mode. They are read once: a name does not change. */
const known = new Map<Mode, ReadonlyMap<string, string>>();

async function readNames({ api, mode, signal }: View): Promise<void> {
  if (known.has(mode)) return;
  const { data } = await api(currencies.list, {}, signal);
  known.set(mode, new Map(data.flatMap(({ networks }) => networks.map(({ code, name }) => [code, name]))));
}

/** The name of a network, or its code if it is no longer offered. */
const nameOf = (network: string, { mode }: View) => known.get(mode)?.get(network) ?? network;

const transferList = listOf(transfers.list, {
  label: texts.transfers,
  filters: [choice('status', texts.status, texts.statuses, (status) => ({ status }))],
  href: ({ id }, view) => view.link('transfer', id),
  columns: (view) => [
    { label: texts.amount, kind: 'money', cell: sumOf },
    {
      label: texts.status,
      kind: 'status',
      cell: ({ status }) => tag(texts.statuses[status], tones[status]),
    },
    {
      label: texts.to,
      kind: 'hash',
      cell: ({ walletAddress = '' }) => html`<code>${short(walletAddress)}</code>`,
    },
    {
      label: texts.network,
      cell: ({ walletNetwork }) => (walletNetwork ? nameOf(walletNetwork, view) : '–'),
    },
    { label: texts.created, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
  ],
});

const payoutList = listOf(payouts.list, {
  label: texts.payouts,
  pageName: 'payoutsPage',
  href: ({ transfer }, view) =>
    transfer === undefined ? view.link('banks') : view.link('transfer', transfer),
  columns: () => [
    { label: texts.amount, kind: 'money', cell: (one) => amount(one.amount, one.currency) },
    {
      label: texts.status,
      kind: 'status',
      cell: ({ status }) => tag(texts.statuses[status], tones[status]),
    },
    {
      label: texts.destination,
      kind: 'hash',
      cell: ({ destination }) => html`<code>${destination}</code>`,
    },
    { label: texts.way, cell: ({ transfer }) => (transfer === undefined ? texts.byBank : texts.byTransfer) },
    { label: texts.created, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
  ],
});

async function load(view: View): Promise<Data> {
  const { api, signal } = view;
  const [held, banks, sent, paid] = await Promise.all([
    api(balances.list, {}, signal),
    api(bankPayouts.listSums, {}, signal),
    transferList.load(view),
    payoutList.load(view, { skip: 10 }),
    readNames(view),
  ]);
  return {
    balances: held.data,
    banks: new Map(banks.data.map((one) => [one.currency, one.amount])),
    transfers: sent,
    payouts: paid,
  };
}

function render(data: Data, view: View): TemplateResult {
  return html`<div class="panels">
    ${balanceSection(data, view)} ${transferSection(data.transfers, view)}
    ${section(
      texts.payouts,
      html`<p><small>${texts.payoutsText}</small></p>
        ${payoutList.table(
          data.payouts,
          view,
          emptyHint(view, texts.noPayouts, { text: texts.bankPayouts, page: 'banks' }),
        )}`,
      view.can('bankPayouts.list')
        ? html`<a class="button" href=${view.link('banks')}>${texts.bankPayouts}</a>`
        : nothing,
    )}
  </div>`;
}

function balanceSection({ balances: all, banks }: Data, view: View): TemplateResult {
  const isHeld = ({ totalBalance, availableBalance, networks = [] }: Balance) =>
    totalBalance !== 0 || availableBalance !== 0 || networks.length > 0;
  const held = all.filter((one) => isHeld(one) || one.isSuspended);
  const others = all.filter((one) => !held.includes(one)).map(({ currency }) => currency);
  const sumIn =
    (name: 'reservedBalance' | 'unsettledBalance' | 'networkCharges') =>
    ({ currency, ...one }: Balance) =>
      amount(one[name] ?? 0, currency);
  const part = (text: string) => html`<div><small>${text}</small></div>`;
  const places = (balance: Balance) => {
    const { currency, networks = [] } = balance;
    const paid = banks.get(currency) ?? 0;
    const fees = feesOf(balance, paid);
    const most = Math.max(Number.MIN_VALUE, ...networks.map((one) => one.amount));
    return html`${networks.map(
      (one) =>
        html`<div class="place">
          ${nameOf(one.network, view)}: ${amount(one.amount, currency)}
          <progress max=${most} value=${Math.max(one.amount, 0)} aria-hidden="true"></progress>
        </div>`,
    )}${paid > 0 && networks.length > 0 ? part(texts.banks(amount(paid, currency))) : nothing}${hasFees(fees) ? part(texts.fees(amount(fees, currency))) : nothing}`;
  };
  return section(
    texts.balances,
    held.length === 0
      ? emptyHint(view, texts.nothing, { text: texts.toPayments, page: 'payments' })
      : html`${table<Balance>({
            label: texts.balances,
            rows: held,
            view,
            columns: [
              {
                label: texts.currency,
                cell: ({ currency, isSuspended }) =>
                  html`${currency} ${isSuspended ? tag(texts.suspended, 'bad') : nothing}`,
              },
              {
                label: texts.available,
                kind: 'money',
                cell: ({ availableBalance, currency }) => amount(availableBalance, currency),
              },
              { label: texts.reserved, kind: 'money', cell: sumIn('reservedBalance') },
              { label: texts.unsettled, kind: 'money', cell: sumIn('unsettledBalance') },
              ...(held.some(({ networkCharges = 0 }) => networkCharges !== 0)
                ? [{ label: texts.charges, kind: 'money' as const, cell: sumIn('networkCharges') }]
                : []),
              {
                label: texts.total,
                kind: 'money',
                cell: (one) => amount(totalOf(one), one.currency),
              },
              { label: texts.worth, kind: 'money', cell: worthOf },
              { label: texts.where, kind: 'prose', cell: places },
            ],
            empty: '',
          })}
          ${totalView(held)}
          <p>
            <small>${texts.sum} ${others.length > 0 ? texts.others(others.join(', ')) : nothing}</small>
          </p>`,
    html`${
        view.can('chainChecks.list')
          ? html`<a class="button" href=${view.link('checks')}>${texts.check}</a>`
          : nothing
      } <a class="button" href=${view.link('sweeps')}>${texts.sweeps}</a>`,
  );
}

/** The sum of the rows as they are shown: each is rounded down, so it may be less by their last digits. */
const totalOf = (one: Balance) =>
  sumOfDecimals([
    one.availableBalance,
    one.reservedBalance ?? 0,
    one.unsettledBalance ?? 0,
    one.networkCharges ?? 0,
  ]);

/**
 * The service fees among the coins that the networks hold, less the charges of networks that they have covered: what is
 * neither available nor unsettled, and was not paid out by a bank instead.
 */
const feesOf = ({ networks = [], availableBalance, unsettledBalance = 0 }: Balance, paidByBank: number) =>
  sumOfDecimals([...networks.map((one) => one.amount), -availableBalance, -unsettledBalance, -paidByBank]);

const hasFees = (fees: string) => fees !== '0' && !fees.startsWith('-');

const worthOf = ({ worth }: Balance) =>
  worth === undefined ? '–' : worth.amount === null ? texts.noRate : amount(worth.amount, worth.currency);

/** The worth of all balances, and the rates that it was computed at. */
function totalView(held: readonly Balance[]): TemplateResult | typeof nothing {
  const valued = held.flatMap(({ currency: coin, worth }) => (worth ? [{ coin, ...worth }] : []));
  const [first] = valued;
  if (!first) return nothing;
  const known = valued.flatMap(({ amount: value }) => (value === null ? [] : [value]));
  const without = valued.filter(({ amount: value }) => value === null).map(({ coin }) => coin);
  const rates = valued.flatMap(({ coin, currency, rate, rateAgeSeconds }) =>
    rate === null || rateAgeSeconds === null || coin === currency
      ? []
      : [texts.rateOf(coin, amount(rate, currency), common.age(rateAgeSeconds))],
  );
  return html`<p class="worth">
    <b
      >${known.length === 0 ? texts.noRates : texts.worthOfAll(amount(sumOfDecimals(known), first.currency))}</b
    >
    ${without.length > 0 ? html`<span>${texts.without(without.join(', '))}</span>` : nothing}
    ${rates.map((text) => html`<small>${text}</small>`)}
  </p>`;
}

function transferSection(rows: Rows<Transfer>, view: View): TemplateResult {
  const next = {
    text: texts.create,
    page: 'money',
    query: { do: 'create' },
    permission: 'transfers.create',
  };
  return section(
    texts.transfers,
    html`${transferList.fields(rows, view)}
    ${transferList.table(rows, view, emptyHint(view, texts.noTransfers, next))}`,
    html`<a class="button" href=${view.link('exports')}>${texts.toSign}</a> ${button(view, {
        text: texts.create,
        permission: 'transfers.create',
        isGuarded: true,
        kind: 'main',
        run: () => create(view),
      })}`,
  );
}

interface Place {
  readonly currency: string;
  readonly walletNetwork: string;
  readonly label: string;
}

/** Each coin on its own networks: those that hold some of it come first, with the amount that can be sent. */
function placesToSendFrom(
  all: ParsedData<typeof currencies.list>,
  held: readonly Balance[],
): readonly Place[] {
  const places = all.flatMap(({ code, type, networks }) => {
    if (type !== 'crypto') return [];
    const balance = held.find(({ currency }) => currency === code);
    return networks.map((network) => {
      const there = balance?.networks?.find((one) => one.network === network.code)?.amount ?? 0;
      const most = Math.min(there, balance?.availableBalance ?? 0);
      const label = texts.coinOn(code, network.name, most > 0 ? amount(most, code) : undefined);
      return { currency: code, walletNetwork: network.code, most, label };
    });
  });
  const isHeld = ({ most }: (typeof places)[number]) => most > 0;
  return [...places.filter(isHeld), ...places.filter((one) => !isHeld(one))];
}

/** Asks for amount and destination, shows the transfer with its fee, and creates it only then. */
async function create(view: View): Promise<void> {
  const read = () =>
    Promise.all([view.api(currencies.list, {}, view.signal), view.api(balances.list, {}, view.signal)]);
  const known = await view.act(read);
  if (!known) return;
  const [all, held] = known;
  const places = placesToSendFrom(all.data, held.data);
  const values = await view.ask({
    title: texts.createTitle,
    text: texts.createText,
    fields: [
      { name: 'amount', label: texts.amount, type: 'number', isRequired: true },
      {
        name: 'place',
        label: texts.coinAndNetwork,
        isRequired: true,
        options: places.map(({ label }, index) => [String(index), label]),
      },
      { name: 'walletAddress', label: texts.to, isRequired: true, hint: texts.addressHint, asks: 'key' },
    ],
    action: texts.next,
  });
  if (!values) return;
  const { amount: value = '', walletAddress = '' } = values;
  const { currency = '', walletNetwork = '' } = places[Number(values['place'])] ?? {};
  const body = { amount: value, currency, walletNetwork, walletAddress };
  const fee = await view.act(() => view.api(transfers.quoteFee, { body }, view.signal));
  if (!fee) return;
  const sum = amount(value, currency);
  const isSure = await view.ask({
    title: texts.confirmTitle(sum),
    text: html`<p>${texts.confirmText}</p>
      ${details([
        [texts.to, blocks(walletAddress)],
        [texts.network, nameOf(walletNetwork, view)],
        [texts.arrives, sum],
        [texts.fee, amount(fee.data.amount, fee.data.currency)],
        // The same currency, as the server charges it. For its fee, it has accepted the amount as a decimal.
        [
          texts.leaves,
          fee.data.currency === currency
            ? amount(sumOfDecimals([value, fee.data.amount]), currency)
            : undefined,
        ],
      ])}`,
    action: texts.confirmAction(sum),
    isFinal: true,
  });
  if (!isSure) return;
  const made = await view.act(() => view.api(transfers.create, { body }), texts.made);
  if (made) view.go(view.link('transfer', made.data.id));
}

export default page<Data>({
  title: () => texts.title,
  load,
  render,
  actions: { create: guarded(create) },
  everyMs: 15_000,
});
