/**
 * Payouts to bank accounts: recorded, and marked as sent or failed once the bank has dealt with them.
 *
 * @place {"order": 65, "parent": "money", "permission": "bankPayouts.list"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { balances } from '../../src/contract/balances.js';
import { bankAccounts } from '../../src/contract/bank-accounts.js';
import { bankPayouts, mostBankPayouts } from '../../src/contract/console-banks.js';
import { parseDecimal } from '../../src/contract/decimal.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { amount, time } from '../format.js';
import { texts } from '../messages/banks.js';
import { common } from '../messages/common.js';
import { guarded, page, type View } from '../page.js';
import { sumOfDecimals } from '../sum.js';
import { button } from '../ui/button.js';
import { copyable } from '../ui/copy.js';
import { details, section, tag } from '../ui/details.js';
import { emptyHint } from '../ui/empty.js';
import { listOf, pager, type Rows } from '../ui/list.js';
import { rowActions } from '../ui/more.js';
import { table } from '../ui/table.js';
import { tones } from './transfer-parts.js';

type Payouts = ParsedData<typeof bankPayouts.list>;
type Payout = Payouts['waiting'][number];
type Account = ParsedData<typeof bankAccounts.list>[number];

interface Data extends Payouts {
  readonly accounts: Rows<Account>;
  /** The query of the view that read them. */
  readonly query: URLSearchParams;
}

const accountList = listOf(bankAccounts.list, {
  label: texts.accounts,
  pageName: 'accountsPage',
  columns: (view) => [
    { label: texts.holder, cell: ({ accountName }) => accountName },
    { label: texts.bank, cell: ({ bankName }) => bankName },
    { label: texts.number, kind: 'hash', cell: ({ accountNumber }) => copyable(accountNumber, view) },
    { label: texts.accountCurrency, cell: ({ currency, country }) => `${currency}, ${country}` },
  ],
});

async function load(view: View): Promise<Data> {
  const [paid, accounts] = await Promise.all([
    view.api(bankPayouts.list, {}, view.signal),
    accountList.load(view),
  ]);
  return { ...paid.data, accounts, query: view.query };
}

/** Those of all pages: a payout may go to any of them. */
async function allAccounts({ api, signal }: View): Promise<readonly Account[]> {
  const found: Account[] = [];
  for (let number = 1; ; number += 1) {
    const { data, pagination } = await api(bankAccounts.list, { query: { page: number, skip: 100 } }, signal);
    found.push(...data);
    if (data.length === 0 || found.length >= (pagination?.total ?? 0)) return found;
  }
}

const sumOf = (one: Pick<Payout, 'amount' | 'currency'>) => amount(one.amount, one.currency);
const nameOf = ({ bankName, accountNumber }: Pick<Account, 'bankName' | 'accountNumber'>) =>
  `${bankName} ${accountNumber}`;

/** The time that it has waited. */
function ageOf({ createdAt }: Payout, view: View): string {
  const hours = Math.max(0, Math.floor((view.now() - Date.parse(createdAt)) / 3_600_000));
  return texts.ageOf(Math.floor(hours / 24), hours);
}

/** Sums by currency. */
function sums(rows: readonly Payout[]): string {
  const currencies = [...new Set(rows.map(({ currency }) => currency))];
  const totalIn = (currency: string) =>
    sumOfDecimals(rows.filter((one) => one.currency === currency).map((one) => one.amount));
  return currencies.map((currency) => amount(totalIn(currency), currency)).join(', ');
}

/** The rest of a balance, never less than nothing; undefined for an amount that the server will refuse. */
function remainsOf(available: number, taken: string): string | undefined {
  const decimal = parseDecimal(taken);
  if (decimal === undefined) return undefined;
  const rest = sumOfDecimals([available, `-${decimal}`]);
  return rest.startsWith('-') ? '0' : rest;
}

const rowsPerPage = 25;

/** The rows of a page, the last one at most: the API returns those of all pages together. */
function pageOf(all: readonly Payout[], query: URLSearchParams, pageName: string): Rows<Payout> {
  const last = Math.max(1, Math.ceil(all.length / rowsPerPage));
  const asked = Number(query.get(pageName) ?? 1);
  const page = Number.isSafeInteger(asked) ? Math.min(last, Math.max(1, asked)) : 1;
  const start = (page - 1) * rowsPerPage;
  const rows = all.slice(start, start + rowsPerPage);
  const pagination = { total: all.length, count: rows.length, from: start + 1, to: start + rows.length };
  return { rows, pagination, query };
}

/** The API does not say whether it left some out: a full list may be all of them. */
const isFull = (rows: readonly Payout[]) => rows.length >= mostBankPayouts;
const limitOf = (rows: readonly Payout[], text: (most: number) => string) =>
  isFull(rows) ? html`<p><small>${text(mostBankPayouts)}</small></p>` : nothing;

/** The amounts that wait. Those of payouts that were left out are not known here. */
function takenOf(rows: readonly Payout[]): TemplateResult | typeof nothing {
  if (rows.length === 0) return nothing;
  const text = isFull(rows) ? texts.takenByShown : texts.taken;
  return html`<p>${text(sums(rows))}</p>`;
}

const to = ({ account }: Payout): unknown =>
  account
    ? html`${account.bankName} <small>${account.accountName}, ${account.accountNumber}</small>`
    : texts.archived;

const render = (data: Data, view: View): TemplateResult =>
  html`<div class="panels">
    ${section(
      texts.waiting,
      html`${takenOf(data.waiting)}
      ${data.waiting.some(({ isOwn }) => !isOwn) ? html`<p><small>${texts.operator}</small></p>` : nothing}
      ${limitOf(data.waiting, texts.mostWaiting)} ${waitingTable(data, view)}`,
      button(view, {
        text: texts.create,
        permission: 'bankPayouts.create',
        isGuarded: true,
        kind: 'main',
        run: () => create(view),
      }),
    )}
    ${section(texts.ended, html`${limitOf(data.ended, texts.mostEnded)} ${endedTable(data, view)}`)}
    ${section(
      texts.accounts,
      accountList.table(
        data.accounts,
        view,
        emptyHint(view, texts.noAccounts, {
          text: texts.addAccount,
          page: 'banks',
          query: { do: 'account' },
          permission: 'bankAccounts.create',
        }),
      ),
      button(view, {
        text: texts.addAccount,
        permission: 'bankAccounts.create',
        isGuarded: true,
        run: () => addAccount(view),
      }),
    )}
  </div>`;

const waitingTable = ({ waiting, query }: Data, view: View) => {
  const page = pageOf(waiting, query, 'waitingPage');
  return html`${table<Payout>({
    label: texts.waiting,
    rows: page.rows,
    filters: ['waitingPage'],
    view,
    columns: [
      { label: texts.account, kind: 'prose', cell: to },
      { label: texts.amount, kind: 'money', cell: sumOf },
      {
        label: texts.reference,
        kind: 'prose',
        cell: ({ reference, isOwn }) =>
          html`${copyable(reference, view)} ${isOwn ? nothing : html`<small>${texts.commandLine}</small>`}`,
      },
      { label: texts.age, kind: 'time', cell: (one) => ageOf(one, view) },
      {
        label: common.actions,
        kind: 'actions',
        cell: (one) =>
          one.isOwn
            ? rowActions(one.id, [
                button(view, {
                  text: texts.settle,
                  permission: 'bankPayouts.settle',
                  isGuarded: true,
                  kind: 'main small',
                  run: () => settle(one, view),
                }),
                button(view, {
                  text: texts.fail,
                  permission: 'bankPayouts.fail',
                  isGuarded: true,
                  kind: 'small',
                  run: () => fail(one, view),
                }),
              ])
            : nothing,
      },
    ],
    empty: emptyHint(view, texts.noWaiting, {
      text: texts.create,
      page: 'banks',
      query: { do: 'create' },
      permission: 'bankPayouts.create',
    }),
  })}
  ${pager(page, view, texts.waiting, 'waitingPage', common.older, common.newer)}`;
};

const endedTable = ({ ended, query }: Data, view: View) => {
  const page = pageOf(ended, query, 'endedPage');
  return html`${table<Payout>({
    label: texts.ended,
    rows: page.rows,
    filters: ['endedPage'],
    view,
    columns: [
      { label: texts.account, kind: 'prose', cell: to },
      { label: texts.amount, kind: 'money', cell: sumOf },
      {
        label: texts.status,
        kind: 'status',
        cell: ({ status }) => tag(texts.statuses[status], tones[status]),
      },
      {
        label: texts.reference,
        kind: 'prose',
        cell: ({ reference, bankReference, failureReason }) =>
          html`${reference} <small>${[bankReference, failureReason].filter(Boolean).join(', ')}</small>`,
      },
      { label: texts.changed, kind: 'time', cell: ({ updatedAt }) => time(updatedAt) },
    ],
    empty: emptyHint(view, texts.noEnded, { text: texts.toBalances, page: 'money' }),
  })}
  ${pager(page, view, texts.ended, 'endedPage')}`;
};

/** Asks for amount, account and text, shows what is left of the balance, and takes it only then. */
async function create(view: View): Promise<void> {
  const read = () => Promise.all([allAccounts(view), view.api(balances.list, {}, view.signal)]);
  const known = await view.act(read);
  if (!known) return;
  const [accounts, { data: all }] = known;
  const held = all.filter(({ availableBalance }) => availableBalance > 0);
  const [first] = accounts;
  if (!first) return addAccount(view);
  const values = await view.ask({
    title: texts.createTitle,
    text: texts.createText,
    fields: [
      {
        name: 'bankAccountId',
        label: texts.account,
        value: first.id,
        options: accounts.map((one) => [one.id, `${nameOf(one)}, ${one.accountName}`]),
      },
      {
        name: 'currency',
        label: texts.currency,
        options: held.map(({ currency, availableBalance }) => [
          currency,
          `${currency}: ${texts.available(amount(availableBalance, currency))}`,
        ]),
      },
      { name: 'amount', label: texts.amount, type: 'number', isRequired: true },
      { name: 'reference', label: texts.reference, isRequired: true },
    ],
    action: texts.next,
  });
  if (!values) return;
  const { bankAccountId = '', currency = '', amount: value = '', reference = '' } = values;
  const account = accounts.find(({ id }) => id === bankAccountId);
  const available = held.find((one) => one.currency === currency)?.availableBalance ?? 0;
  const remains = remainsOf(available, value);
  const sum = amount(value, currency);
  const isSure = await view.ask({
    title: texts.confirmTitle(sum),
    text: html`<p>${texts.confirmText}</p>
      ${details([
        [texts.holder, account?.accountName],
        [texts.bank, account?.bankName],
        [texts.number, account?.accountNumber],
        [texts.reference, reference],
        // For display only: the server decides.
        [texts.remains, remains === undefined ? undefined : amount(remains, currency)],
      ])}`,
    action: texts.confirmAction(sum),
    isFinal: true,
  });
  if (!isSure) return;
  const body = { bankAccountId, currency, amount: value, reference };
  await view.act(() => view.api(bankPayouts.create, { body }), texts.made);
}

const paramsOf = ({ id }: Payout) => ({ payout_id: id });

async function settle(one: Payout, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.settleTitle(sumOf(one)),
    text: html`<p>${texts.settleText}</p>
      ${details([
        [texts.holder, one.account?.accountName],
        [texts.bank, one.account?.bankName],
        [texts.number, one.account?.accountNumber],
        [texts.reference, one.reference],
      ])}`,
    fields: [{ name: 'bankReference', label: texts.bankReference, hint: texts.bankReferenceHint }],
    action: texts.settleAction,
    isFinal: true,
  });
  if (!values) return;
  const body = { bankReference: values['bankReference'] ?? '' };
  await view.act(() => view.api(bankPayouts.settle, { params: paramsOf(one), body }), texts.settled);
}

async function fail(one: Payout, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.failTitle(sumOf(one)),
    text: texts.failText,
    fields: [{ name: 'reason', label: texts.reason, isRequired: true }],
    action: texts.failAction,
    isFinal: true,
  });
  if (!values) return;
  const body = { reason: values['reason'] ?? '' };
  await view.act(() => view.api(bankPayouts.fail, { params: paramsOf(one), body }), texts.failed);
}

async function addAccount(view: View): Promise<void> {
  const values = await view.ask({
    title: texts.addAccountTitle,
    fields: [
      { name: 'accountName', label: texts.holder, isRequired: true },
      { name: 'accountNumber', label: texts.number, isRequired: true },
      { name: 'accountBank', label: texts.bank, isRequired: true, hint: texts.bankHint },
      { name: 'country', label: texts.country, isRequired: true, hint: texts.countryHint },
      { name: 'currency', label: texts.accountCurrency, isRequired: true },
    ],
    action: texts.save,
  });
  if (!values) return;
  const { accountName = '', accountNumber = '', accountBank = '', country = '', currency = '' } = values;
  const body = { accountName, accountNumber, accountBank, country, currency };
  const made = await view.act(() => view.api(bankAccounts.create, { body }), texts.saved);
  // The API lists the newest first: the first page has it.
  if (made && view.query.has('accountsPage')) view.filter({ accountsPage: undefined });
}

export default page<Data>({
  title: () => texts.title,
  load,
  render,
  actions: { create: guarded(create), account: guarded(addAccount) },
});
