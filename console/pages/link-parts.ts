/** The form of a payment link, and what its pages have in common. */
import type { ParsedData } from '../../src/contract/endpoint.js';
import type { links } from '../../src/contract/links.js';
import { amount } from '../format.js';
import { texts } from '../messages/links.js';
import { tag } from '../ui/details.js';
import type { Field } from '../ui/field.js';
import { addDays, dayOf, shopZone, startOfDay } from '../zone.js';

export type Link = ParsedData<typeof links.retrieve>;
type Values = Readonly<Record<string, string>>;

const tones = { open: 'plain', part_paid: 'caution', paid: 'good', overdue: 'bad' } as const;

export const stateOf = ({ isActive, expiresAt, invoiceStatus }: Link) => {
  if (invoiceStatus && (isActive || invoiceStatus === 'paid')) {
    return tag(texts.invoice[invoiceStatus], tones[invoiceStatus]);
  }
  if (!isActive) return tag(texts.off);
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? tag(texts.over) : tag(texts.on, 'good');
};

export const priceOf = (one: Link): string =>
  one.amount === null ? texts.chosen : amount(one.amount, one.baseCurrency);

const known = ['email', 'name', 'note'] as const;
const isKnown = (name: string) => known.some((one) => one === name);

const text = (value: number | string | null | undefined) =>
  value === null || value === undefined ? '' : String(value);

const dayShown = (time: string | null | undefined) => (time ? dayOf(Date.parse(time)) : '');

/** The last moment of a day of the shop. */
const endOf = (day: string | undefined) =>
  day === undefined ? undefined : new Date(startOfDay(addDays(day, 1)) - 1).toISOString();

/** A time that the API gave stays exact while its day does: undefined then. Null: none any more. */
export function changedEnd(chosen: string | undefined, before: string | null): string | null | undefined {
  if (chosen === undefined) return null;
  return before !== null && dayShown(chosen) === dayShown(before) ? undefined : chosen;
}

/** @param link to change; a new one if it is undefined */
export function linkFields(link?: Link): readonly Field[] {
  const asks = (name: (typeof known)[number]): Field => {
    const field = link?.fields.find((one) => one.name === name);
    return {
      name: `ask-${name}`,
      label: texts[name],
      value: field ? (field.isRequired ? 'required' : 'asked') : '',
      options: [
        ['', texts.notAsked],
        ['asked', texts.asked],
        ['required', texts.required],
      ],
    };
  };
  const own = link?.fields.filter(({ name }) => !isKnown(name)) ?? [];
  const price: Field = { name: 'amount', label: texts.price, type: 'number', hint: texts.priceHint };
  const redirect = { name: 'redirectUrl', label: texts.redirect, hint: texts.redirectHint };
  return [
    { name: 'title', label: texts.title, isRequired: true, value: text(link?.title) },
    { name: 'text', label: texts.text, isLong: true, value: text(link?.text) },
    { ...price, value: link && link.lines.length > 0 ? '' : text(link?.amount) },
    ...(link ? [] : [{ name: 'baseCurrency', label: texts.currency, value: 'USD', isRequired: true }]),
    { name: 'minAmount', label: texts.least, type: 'number', value: text(link?.minAmount) },
    { name: 'maxAmount', label: texts.most, type: 'number', value: text(link?.maxAmount) },
    { name: 'presets', label: texts.presets, hint: texts.presetsHint, value: text(link?.presets.join(', ')) },
    { name: 'maxQuantity', label: texts.quantity, type: 'number', value: text(link?.maxQuantity ?? 1) },
    { name: 'stock', label: texts.stock, type: 'number', hint: texts.stockHint, value: text(link?.stock) },
    {
      name: 'uses',
      label: texts.uses,
      value: link?.uses ?? 'many',
      options: [
        ['many', texts.many],
        ['single', texts.single],
      ],
    },
    {
      name: 'lines',
      label: texts.lines,
      hint: texts.linesHint,
      isLong: true,
      value: (link?.lines ?? []).map((one) => `${one.name}; ${one.quantity}; ${one.amount}`).join('\n'),
    },
    {
      name: 'dueAt',
      label: texts.due,
      hint: texts.endHint(shopZone()),
      type: 'date',
      value: dayShown(link?.dueAt),
    },
    { name: 'customerEmail', label: texts.customer, type: 'email', hint: texts.customerHint },
    ...known.map(asks),
    {
      name: 'own',
      label: texts.own,
      hint: texts.ownHint,
      isLong: true,
      value: own.map(({ label, isRequired }) => label + (isRequired ? ' *' : '')).join('\n'),
    },
    {
      name: 'expiresAt',
      label: texts.end,
      hint: texts.endHint(shopZone()),
      type: 'date',
      value: dayShown(link?.expiresAt),
    },
    { name: 'successText', label: texts.successText, isLong: true, value: text(link?.successText) },
    { ...redirect, type: 'url', value: text(link?.redirectUrl) },
  ];
}

/** The settings as they were filled in. @param before own fields keep their names */
export function settingsOf(values: Values, before: readonly Link['fields'][number][] = []) {
  const given = (name: string) => values[name] ?? '';
  const optional = (name: string) => given(name) || undefined;
  const asked: Link['fields'] = known.flatMap((name) => {
    const how = given(`ask-${name}`);
    return how === '' ? [] : [{ name, label: '', isRequired: how === 'required' }];
  });
  const own = linesOf(given('own')).map((line, index) => {
    const label = line.endsWith('*') ? line.slice(0, -1).trim() : line;
    const previous = before.find((field) => field.label === label);
    return { name: previous?.name ?? nameOf(label, index), label, isRequired: line.endsWith('*') };
  });
  const lines = linesOf(given('lines')).map((line) => {
    const [name = '', quantity = '', amount = ''] = line.split(';').map((part) => part.trim());
    return { name, quantity, amount };
  });
  return {
    title: given('title'),
    text: given('text'),
    amount: optional('amount'),
    minAmount: optional('minAmount'),
    maxAmount: optional('maxAmount'),
    presets: given('presets')
      .split(/[\s,;]+/)
      .filter((one) => one !== ''),
    maxQuantity: optional('maxQuantity'),
    stock: optional('stock'),
    // An invoice is paid once, whatever was chosen.
    uses: lines.length > 0 ? undefined : given('uses') === 'single' ? ('single' as const) : ('many' as const),
    lines,
    dueAt: endOf(optional('dueAt')),
    customerEmail: optional('customerEmail'),
    fields: [...asked, ...own],
    expiresAt: endOf(optional('expiresAt')),
    successText: given('successText'),
    redirectUrl: given('redirectUrl'),
  };
}

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The name under which the answers are in the metadata: of the label's letters, where it has some. */
function nameOf(label: string, index: number): string {
  const letters = label
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, ' ')
    .trim()
    .split(/ +/)
    .join('_')
    .slice(0, 40);
  return /^[a-z]/.test(letters) && !isKnown(letters) ? letters : `field_${index + 1}`;
}
