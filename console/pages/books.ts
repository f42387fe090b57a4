/**
 * The books: the changes of the balances in a period, and the period as a file for the accountant.
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
import { daysFrom } from '../days.js';
import { amount, time } from '../format.js';
import { texts } from '../messages/books.js';
import { page, type View } from '../page.js';
import { chosenPeriod, daysOf } from '../period.js';
import { button } from '../ui/button.js';
import { section } from '../ui/details.js';
import { saveParts } from '../ui/files.js';
import { emptyHint, type NextStep } from '../ui/empty.js';
import { filterBar } from '../ui/filter-bar.js';
import { periodFields } from '../ui/period.js';
import { table } from '../ui/table.js';
import { addDays, dayOf, monthOf, shopZone } from '../zone.js';

type Data = ParsedData<typeof books.list>;
interface Balance {
  readonly asset: string;
  readonly begin: string;
  readonly end: string;
}

interface Asked {
  readonly from: string;
  readonly to: string;
  readonly zone: string;
}

/** The default is the last closed month. Links to a month, which were made before there were periods, still open it. */
function askedPeriod(view: View): Asked {
  const { query } = view;
  const zone = query.get('zone') || shopZone();
  const month = query.get('month');
  if (month) return { ...spanOf(`${month}-01`), zone };
  const chosen = chosenPeriod(view) ?? 'last-month';
  const { first, last } = daysOf(chosen === 'custom' ? 'last-month' : chosen, dayOf(view.now(), zone));
  const own = (name: 'from' | 'to') => (chosen === 'custom' ? query.get(name) : undefined);
  return { from: own('from') || first, to: own('to') || last, zone };
}

const spanOf = (first: string) => ({ from: first, to: addDays(monthOf(first, 1), -1) });

/** `2026-11` for a whole month, or both days. */
function nameOf({ from, to }: Asked): string {
  const isMonth = from === monthOf(from) && to === spanOf(from).to;
  return isMonth ? from.slice(0, 7) : `${from}_${to}`;
}

async function load(view: View): Promise<Data> {
  const { api, query, signal } = view;
  const { from, to, zone } = askedPeriod(view);
  if (query.has('month')) view.replace(view.link('books', undefined, { from, to, zone }));
  const cursor = query.get('cursor') ?? undefined;
  return (await api(books.list, { query: { ...askedPeriod(view), limit: 25, cursor } }, signal)).data;
}

/** The days that were read, and the zone in which they begin. */
const periodText = ({ from, to, zone }: Data) =>
  texts.period(daysFrom(dayOf(Date.parse(from), zone), dayOf(Date.parse(to) - 1, zone)), zone);

function render(data: Data, view: View): TemplateResult {
  const { bookings, begin, end, isFinal, next } = data;
  const { zone } = askedPeriod(view);
  const assets = [...new Set([...begin, ...end].map(({ asset }) => asset))];
  const totalOf = (of: Data['begin'], name: string) => of.find(({ asset }) => asset === name)?.total ?? '0';
  return html`<div class="bar">
      ${filterBar(view, [{ name: 'zone', label: texts.zone, value: zone }], periodFields(view, 'last-month'))}
      <div class="actions">
        ${button(view, { text: texts.save, permission: 'books.list', kind: 'main', run: () => save(data, view) })}
      </div>
    </div>
    <p>${periodText(data)}${isFinal ? nothing : html`<br /><small>${texts.open}</small>`}</p>
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
    ${bookings.length === 0 ? html`<div class="empty">${emptyHint(view, texts.nothing, nextStep(view))}</div>` : list(bookings, view)}
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

/** The last month comes first, for those who close it: a new shop has its bookings in this one. */
const nextStep = (view: View): NextStep =>
  chosenPeriod(view) === undefined
    ? { text: texts.toThisMonth, page: 'books', query: { days: 'month' } }
    : { text: texts.toPayments, page: 'payments' };

const list = (bookings: readonly Booking[], view: View) =>
  table<Booking>({
    label: texts.bookings,
    rows: bookings,
    view,
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

async function save(data: Data, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.saveTitle,
    text: html`<p><b>${periodText(data)}</b></p>
      <p>${texts.saveText}</p>`,
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
  const asked = askedPeriod(view);
  const datev = profile === 'datev' ? await askDatev(view, asked.from) : undefined;
  if (profile === 'datev' && !datev) return;
  await view.act(async () => {
    const first = await read(view, asked);
    const period = { firstDay: asked.from, lastDay: asked.to, currency: first.currency };
    const file = profile ? bookFile(profile, period, datev) : wholeBookFile;
    const name = `${profile === 'datev' ? 'EXTF_' : ''}books-${view.mode}-${nameOf(asked)}.${file.extension}`;
    await saveParts(name, 'text/csv', parts(view, asked, first, file));
    return true;
  });
}

/** Downloads the file, page by page, however many there are; its problems are reported at the end. */
async function* parts(view: View, asked: Asked, first: Data, file: BookFile): AsyncGenerator<BlobPart> {
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

const read = async ({ api, signal }: View, asked: Asked, cursor?: string): Promise<Data> =>
  (await api(books.list, { query: { ...asked, limit: 1000, cursor } }, signal)).data;

/** All text already fits the encoding, since it is Latin-1. */
const encoded = (text: string, { encoding }: BookFile): BlobPart =>
  encoding === 'utf-8' ? text : Uint8Array.from(text, (letter) => letter.charCodeAt(0));

async function askDatev(view: View, from: string): Promise<DatevSettings | undefined> {
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
        value: `${from.slice(0, 4)}-01-01`,
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

export default page<Data>({ title: () => texts.title, load, render });
