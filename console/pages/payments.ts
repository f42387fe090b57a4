/**
 * All payments, newest first, and the results of the search field.
 *
 * @place {"order": 20, "label": "Payments", "permission": "transactions.list"}
 */
import { html, type TemplateResult } from 'lit';
import { csvLine } from '../../src/contract/csv.js';
import type { PaymentRecord } from '../../src/contract/payment-record.js';
import { payments } from '../../src/contract/payments.js';
import { transactions } from '../../src/contract/transactions.js';
import { CallFailure } from '../api.js';
import { amount, time } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/payments.js';
import { page, type View } from '../page.js';
import { filtersFor, looksLikeId, type Filter } from '../search.js';
import { saveParts } from '../ui/files.js';
import { choice, listOf, type Rows } from '../ui/list.js';
import { showLink } from '../ui/show-link.js';
import { findingTags, stateTag } from './payment-parts.js';
import { publicKeyOf, teachTag } from '../ui/teach-tag.js';

interface Data extends Rows<PaymentRecord> {
  /** The filters that found them. */
  readonly filter: Filter;
  /** For the tag, while there is no payment. */
  readonly publicKey?: string | undefined;
}

const list = listOf(transactions.list, {
  label: texts.list,
  filters: [
    choice('status', texts.statusLabel, texts.statuses, (status) => ({ status })),
    choice('review', texts.review, texts.reviews, (review) => ({ review })),
  ],
  hasPeriod: true,
  href: ({ id }, view) => view.link('payment', id),
  columns: () => [
    { label: texts.reference, cell: ({ txRef, id }) => txRef ?? id },
    { label: texts.price, kind: 'money', cell: (one) => amount(one.baseAmount, one.baseCurrency) },
    {
      label: texts.received,
      kind: 'money',
      cell: ({ amountReceived = 0, currency }) =>
        currency && amountReceived > 0 ? amount(amountReceived, currency) : '–',
    },
    { label: texts.status, kind: 'status', cell: (one) => html`${stateTag(one)} ${findingTags(one)}` },
    { label: texts.payer, cell: ({ customerDetails }) => customerDetails?.email ?? '–' },
    { label: texts.created, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
  ],
});

async function load(view: View): Promise<Data> {
  const text = view.query.get('q') ?? '';
  if (text !== '') return search(view, text);
  const found = await find(view, {});
  return found.rows.length > 0 ? found : { ...found, publicKey: await publicKeyOf(view) };
}

async function find(view: View, filter: Filter, skip = 25): Promise<Data> {
  const found = await list.load(view, { ...filter, skip });
  return { ...found, filter };
}

/** Opens the payment directly if there is only one. */
async function search(view: View, text: string): Promise<Data> {
  const found = (await findById(view, text)) ?? (await findByFilter(view, text));
  const [one] = found.rows;
  if (one && found.pagination?.total === 1) view.replace(view.link('payment', one.id));
  return found;
}

async function findById({ api, signal }: View, text: string): Promise<Data | undefined> {
  if (!looksLikeId(text)) return undefined;
  try {
    const params = { transaction_id: text.toUpperCase() };
    const { data } = await api(transactions.retrieve, { params }, signal);
    return { rows: [data], pagination: { total: 1, count: 1, from: 1, to: 1 }, filter: {} };
  } catch (error) {
    if (error instanceof CallFailure && error.code === 'not_found') return undefined;
    throw error;
  }
}

async function findByFilter(view: View, text: string): Promise<Data> {
  let found: Data = { rows: [], pagination: undefined, filter: {} };
  for (const filter of filtersFor(text)) {
    found = await find(view, filter);
    if (found.rows.length > 0) break;
  }
  return found;
}

function render(data: Data, view: View): TemplateResult {
  const { rows, filter, publicKey } = data;
  const text = view.query.get('q');
  const actions = html`<button
      ?disabled=${rows.length === 0 || view.isBusy}
      @click=${() => void exportCsv(view, filter)}
    >
      ${texts.csv}
    </button>
    ${
      view.can('payments.create')
        ? html`<button class="main" @click=${() => void create(view)}>${texts.create}</button>`
        : ''
    }`;
  return html`${list.bar(data, view, actions)}
  ${
    text && rows.length === 0
      ? html`<div class="empty">
          <p>${texts.notFound(text)}</p>
          <a class="button" href=${view.link('payments')}>${common.clearFilters}</a>
        </div>`
      : list.table(
          data,
          view,
          teachTag(view, publicKey, texts.empty),
          view.query.has('review') && texts.noneToReview,
        )
  }`;
}

async function create(view: View): Promise<void> {
  const values = await view.ask({
    title: texts.create,
    text: texts.createText,
    fields: [
      { name: 'amount', label: texts.amount, type: 'number', isRequired: true },
      { name: 'baseCurrency', label: texts.currency, value: 'USD', isRequired: true },
      { name: 'txRef', label: `${texts.reference} (${common.optional})`, hint: texts.orderHint },
      { name: 'email', label: `${texts.email} (${common.optional})`, type: 'email' },
    ],
    action: texts.createAction,
  });
  if (!values) return;
  const { amount: price = '', baseCurrency = '', txRef, email } = values;
  const body = {
    amount: price,
    baseCurrency: baseCurrency.toUpperCase(),
    txRef: txRef || undefined,
    customer: email ? { email } : undefined,
  };
  const made = await view.act(() => view.api(payments.create, { body }));
  if (made) await showLink(view, texts.createdTitle, made.data.url);
}

const exportRows = 100;

/** All payments that match the filters, however many there are. */
async function exportCsv(view: View, filter: Filter): Promise<void> {
  await view.act(async () => {
    await saveParts(`payments-${view.mode}.csv`, 'text/csv', csvParts(view, filter));
    return true;
  });
}

async function* csvParts(view: View, filter: Filter): AsyncGenerator<string> {
  const query = new URLSearchParams(view.query);
  let count = 0;
  for (let number = 1; ; number += 1) {
    query.set('page', String(number));
    const { rows, pagination } = await find({ ...view, query }, filter, exportRows);
    const [first] = rows;
    if (number === 1 && first) {
      // Excel reads names in the computer's own encoding without this mark.
      yield `\ufeff${csvLine(Object.keys(csvRow(first)))}`;
      // Payments that start in the meantime would push others to the next page. The newest one gives the time, not this
      // browser.
      if (!query.get('to')) query.set('to', first.createdAt);
    }
    yield rows.map((row) => csvLine(Object.values(csvRow(row)).map(String))).join('');
    count += rows.length;
    const total = pagination?.total ?? count;
    if (rows.length === 0 || count >= total) return;
    view.say(`${count} / ${total}`);
  }
}

const csvRow = (one: PaymentRecord) => ({
  id: one.id,
  reference: one.txRef ?? '',
  created: one.createdAt,
  state: one.state ?? one.status,
  price: one.baseAmount,
  priceCurrency: one.baseCurrency,
  currency: one.currency ?? '',
  network: one.currencyNetwork ?? '',
  due: one.amount ?? '',
  received: one.amountReceived ?? 0,
  credited: (one.credited ?? []).map(({ net, currency }) => `${net} ${currency}`).join('; '),
  refunded: one.refundedAmount ?? '',
  email: one.customerDetails?.email ?? '',
});

export default page<Data>({ title: () => texts.list, load, render, actions: { create }, everyMs: 15_000 });
