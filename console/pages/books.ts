/**
 * The books: the changes of the balances in a month, and the month as a file for the accountant.
 *
 * @place {"order": 90, "label": "Books", "permission": "books.list"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import {
  bookFile,
  bookProfiles,
  wholeBookFile,
  type BookFile,
  type DatevSettings,
} from '../../src/contract/book-files.js';
import { books, type Booking } from '../../src/contract/books.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { amount, time } from '../format.js';
import { texts } from '../messages/books.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { section } from '../ui/details.js';
import { saveParts } from '../ui/files.js';
import { filterBar } from '../ui/filter-bar.js';
import { table } from '../ui/table.js';

type Data = ParsedData<typeof books.list>;
interface Balance {
  readonly asset: string;
  readonly begin: string;
  readonly end: string;
}

/** The default is the last closed month: the one before this one, in the browser's zone. */
function askedPeriod({ query }: View): { readonly month: string; readonly zone: string } {
  const now = new Date();
  const before = new Date(Date.UTC(now.getFullYear(), now.getMonth() - 1)).toISOString().slice(0, 7);
  return {
    month: query.get('month') ?? before,
    zone: query.get('zone') ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

async function load(view: View): Promise<Data> {
  const { api, query, signal } = view;
  const cursor = query.get('cursor') ?? undefined;
  return (await api(books.list, { query: { ...askedPeriod(view), limit: 25, cursor } }, signal)).data;
}

function render({ bookings, begin, end, isFinal, next }: Data, view: View): TemplateResult {
  const { month, zone } = askedPeriod(view);
  const assets = [...new Set([...begin, ...end].map(({ asset }) => asset))];
  const totalOf = (of: Data['begin'], name: string) => of.find(({ asset }) => asset === name)?.total ?? '0';
  return html`<div class="bar">
      ${filterBar(view, [
        { name: 'month', label: texts.month, type: 'month', value: month },
        { name: 'zone', label: texts.zone, value: zone },
      ])}
      <div class="actions">
        ${button(view, { text: texts.save, permission: 'books.list', kind: 'main', run: () => save(view) })}
      </div>
    </div>
    ${isFinal ? nothing : html`<p>${texts.open}</p>`}
    ${
      assets.length === 0
        ? nothing
        : section(
            texts.balances,
            table<Balance>({
              label: texts.balances,
              view,
              rows: assets.map((asset) => ({
                asset,
                begin: totalOf(begin, asset),
                end: totalOf(end, asset),
              })),
              columns: [
                { label: texts.asset, cell: ({ asset }) => asset },
                { label: texts.begin, kind: 'money', cell: (one) => one.begin },
                { label: texts.end, kind: 'money', cell: (one) => one.end },
              ],
              empty: '',
            }),
          )
    }
    ${bookings.length === 0 ? html`<div class="empty"><p>${texts.nothing}</p></div>` : list(bookings, view)}
    <nav class="pages" aria-label=${texts.bookings}>
      ${
        view.query.has('cursor')
          ? html`<button @click=${() => view.filter({ cursor: undefined })}>${texts.first}</button>`
          : nothing
      }
      ${
        next === undefined
          ? nothing
          : html`<button @click=${() => view.filter({ cursor: next })}>${texts.more}</button>`
      }
    </nav>`;
}

const list = (bookings: readonly Booking[], view: View) =>
  table<Booking>({
    label: texts.bookings,
    ...{ rows: bookings, view },
    columns: [
      { label: texts.time, kind: 'time', cell: (one) => time(one.time) },
      { label: texts.kind, cell: ({ kind, note }) => html`${texts.kinds[kind]} <small>${note}</small>` },
      { label: texts.amount, kind: 'money', cell: (one) => `${one.amount} ${one.asset}` },
      { label: texts.balance, kind: 'money', cell: (one) => one.balance },
      {
        label: texts.value,
        kind: 'money',
        cell: ({ value, currency }) => (value === undefined ? '–' : amount(value, currency)),
      },
      {
        label: texts.about,
        cell: ({ payment, reference = '' }) =>
          payment === undefined ? reference : html`<a href=${view.link('payment', payment)}>${reference}</a>`,
      },
    ],
    empty: '',
  });

async function save(view: View): Promise<void> {
  const values = await view.ask({
    title: texts.saveTitle,
    text: texts.saveText,
    fields: [
      {
        name: 'profile',
        label: texts.columns,
        options: [['', texts.all], ...bookProfiles.map((name) => [name, texts.profiles[name]] as const)],
      },
    ],
    action: texts.saveAction,
  });
  if (!values) return;
  const profile = bookProfiles.find((one) => one === values['profile']);
  const { month, zone } = askedPeriod(view);
  const datev = profile === 'datev' ? await askDatev(view, month) : undefined;
  if (profile === 'datev' && !datev) return;
  await view.act(async () => {
    const first = await read(view, { month, zone });
    const period = { firstDay: `${month}-01`, lastDay: lastDayOf(month), currency: first.currency };
    const file = profile ? bookFile(profile, period, datev) : wholeBookFile;
    const name = `${profile === 'datev' ? 'EXTF_' : ''}books-${view.mode}-${month}.${file.extension}`;
    await saveParts(name, 'text/csv', parts(view, { month, zone }, first, file));
    return true;
  });
}

/** Downloads the file, page by page, however many there are; its problems are reported at the end. */
async function* parts(
  view: View,
  asked: { readonly month: string; readonly zone: string },
  first: Data,
  file: BookFile,
): AsyncGenerator<BlobPart> {
  yield encoded(file.head, file);
  let [count, leftOut] = [0, 0];
  for (let data = first; ;) {
    let text = '';
    for (const booking of data.bookings) {
      const line = file.line(booking);
      if ('text' in line) text += line.text;
      else if (line.leftOut !== 'nothing') leftOut += 1;
    }
    count += data.bookings.length;
    yield encoded(text, file);
    if (data.next === undefined) break;
    view.say(texts.progress(count));
    data = await read(view, asked, data.next);
  }
  view.say(leftOut > 0 ? texts.leftOut(leftOut, first.currency) : texts.saved(count));
}

const read = async (
  { api, signal }: View,
  asked: { readonly month: string; readonly zone: string },
  cursor?: string,
): Promise<Data> => (await api(books.list, { query: { ...asked, limit: 1000, cursor } }, signal)).data;

/** All text already fits the encoding, since it is Latin-1. */
const encoded = (text: string, { encoding }: BookFile): BlobPart =>
  encoding === 'utf-8' ? text : Uint8Array.from(text, (letter) => letter.charCodeAt(0));

async function askDatev(view: View, month: string): Promise<DatevSettings | undefined> {
  const values = await view.ask({
    title: texts.datevTitle,
    text: texts.datevText,
    fields: [
      { name: 'consultant', label: texts.consultant, type: 'number', isRequired: true },
      { name: 'client', label: texts.client, type: 'number', isRequired: true },
      { name: 'account', label: texts.account, isRequired: true },
      { name: 'contraAccount', label: texts.contraAccount, isRequired: true },
      {
        name: 'fiscalYear',
        label: texts.fiscalYear,
        type: 'date',
        value: `${month.slice(0, 4)}-01-01`,
        isRequired: true,
      },
    ],
    action: texts.saveAction,
  });
  if (!values) return undefined;
  const { consultant, client, account = '', contraAccount = '', fiscalYear = '' } = values;
  if (
    !/^\d{4,8}$/.test(account) ||
    !/^\d{4,8}$/.test(contraAccount) ||
    account.length !== contraAccount.length
  ) {
    view.say(texts.wrongAccounts);
    return undefined;
  }
  return { consultant: Number(consultant), client: Number(client), account, contraAccount, fiscalYear };
}

function lastDayOf(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
}

export default page<Data>({ title: () => texts.title, load, render });
