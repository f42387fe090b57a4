/** The form of a payment link's page: what it shows, and how what a payer sends is read. */
import { parseDecimal } from 'crypto-checkout/contract';
import type { Currency } from '../../core/money/currency-list.js';
import { formatUnits } from '../../core/money/units.js';
import { html, type Html } from '../../core/site/html.js';
import type { PageLocale, PageTexts } from '../../core/site/page-texts.js';
import type { LinkRow } from './tables.js';

type Texts = PageTexts['link'];

/** Values that a payer sends, by the names of the form's fields. */
export type Sent = Readonly<Record<string, string>>;

/** The form's fields for answers begin with this, so that none is taken for another field. */
export const answerName = (name: string): string => `field_${name}`;

/** Longer answers do not fit into the metadata. */
const longest: Readonly<Record<string, number>> = { email: 254, name: 255 };
const longestAnswer = 500;
const lengthOf = (name: string): number => longest[name] ?? longestAnswer;

/** A price in the payer's language, in Latin digits. */
export function createPriceOf({ tag }: Pick<PageLocale, 'tag'>, currency: Currency) {
  const { code, payableDecimals: decimals } = currency;
  const plain = new Intl.NumberFormat(tag, {
    numberingSystem: 'latn',
    minimumFractionDigits: Math.min(2, decimals),
    maximumFractionDigits: Math.min(20, currency.decimals),
  });
  return (units: bigint): string => {
    const amount = Number(formatUnits(units, currency));
    // Coins have codes of more than three letters, which are not currencies to Intl.
    if (!/^[A-Z]{3}$/.test(code) || decimals > 3) return `${plain.format(amount)} ${code}`;
    return new Intl.NumberFormat(tag, {
      style: 'currency',
      currency: code,
      numberingSystem: 'latn',
      ...(amount % 1 === 0 && { minimumFractionDigits: 0 }),
    }).format(amount);
  };
}

/** Mistakes of a payer, by the names of the form's fields. */
export type Wrong = Readonly<
  Record<string, 'required' | 'wrong' | 'wrongEmail' | 'wrongAmount' | 'tooSmall'>
>;

export interface Order {
  /** A plain decimal, if the payer chooses the amount. */
  readonly amount: string | undefined;
  readonly quantity: number;
  readonly answers: Readonly<Record<string, string>>;
}

/** Reads the form. The bounds of amounts and quantities are the rules' to check. */
export function readForm(link: LinkRow, sent: Sent): { readonly order: Order; readonly wrong: Wrong } {
  const wrong: Record<string, Wrong[string]> = {};
  const given = (name: string) => (sent[name] ?? '').trim();
  let amount: string | undefined;
  if (link.amount === null) {
    // Many write a comma.
    const typed = given('amount').replace(/^(\d{1,15}),(\d{1,8})$/, '$1.$2');
    amount = parseDecimal(typed === '' ? given('preset') : typed);
    if (amount === undefined || !/[1-9]/.test(amount)) wrong['amount'] = 'wrongAmount';
  }
  const quantity = /^\d{1,4}$/.test(given('quantity')) ? Number(given('quantity')) : 1;
  if (quantity < 1 || quantity > link.max_quantity) wrong['quantity'] = 'wrong';
  const answers: Record<string, string> = {};
  for (const { name, isRequired } of link.fields) {
    const field = answerName(name);
    const value = given(field);
    if (value === '') {
      if (isRequired) wrong[field] = 'required';
      continue;
    }
    if (value.length > lengthOf(name) || value.includes('\0')) wrong[field] = 'wrong';
    else if (name === 'email' && !isEmail(value)) wrong[field] = 'wrongEmail';
    else answers[name] = value;
  }
  return { order: { amount, quantity, answers }, wrong };
}

/** About as strict as browsers are: one @ between parts without spaces, and a dot after it. */
const isEmail = (text: string): boolean => /^[^\s@]{1,64}@[^\s@.]{1,63}(\.[^\s@.]{1,63}){1,8}$/.test(text);

export interface FormOptions {
  readonly link: LinkRow;
  readonly currency: Currency;
  readonly locale: PageLocale;
  /** The address that it is sent to. */
  readonly action: string;
  /** Differs from form to form: one that is sent twice makes one payment. */
  readonly token: string;
  readonly left: number | undefined;
  readonly sent: Sent;
  readonly wrong: Wrong;
}

export function form(options: FormOptions): Html {
  const { link, currency, locale, action, token, left, sent, wrong } = options;
  const texts = locale.texts.link;
  const priceOf = createPriceOf(locale, currency);
  const most = Math.min(link.max_quantity, left ?? link.max_quantity);
  return html`<form method="post" action="${action}">
    <input type="hidden" name="token" value="${token}" />
    ${link.amount === null ? chosen(options, priceOf) : fixed(link, link.amount, priceOf)}
    ${
      most > 1
        ? field('quantity', texts.quantity, texts, wrong, (attributes) => {
            const value = sent['quantity'] ?? '1';
            return html`<input
              ${attributes}
              type="number"
              min="1"
              max="${String(most)}"
              step="1"
              required
              value="${value}"
            />`;
          })
        : html``
    }
    ${left === undefined ? html`` : html`<p class="left">${texts.left.replace('{count}', String(left))}</p>`}
    ${link.fields.map((asked) => answer(asked, texts, sent, wrong))}
    <button type="submit">${texts.continue}</button>
  </form>`;
}

/** An invoice has its total above. */
const fixed = ({ lines }: LinkRow, amount: bigint, priceOf: (units: bigint) => string): Html =>
  html`${lines.length > 0 ? '' : html`<p class="price"><bdi dir="ltr">${priceOf(amount)}</bdi></p>`}
    <input type="hidden" name="price" value="${String(amount)}" />`;

function chosen(
  { link, currency, locale, sent, wrong }: FormOptions,
  priceOf: (units: bigint) => string,
): Html {
  const texts = locale.texts.link;
  const { min_amount: least, max_amount: most, presets } = link;
  const bounds = boundsOf(least, most, texts, priceOf);
  const value = sent['amount'] ?? '';
  const radios = presets.map((units, index) => {
    const decimal = formatUnits(units, currency);
    const isChosen =
      value === '' && (sent['preset'] === undefined ? index === 0 : sent['preset'] === decimal);
    return html`<label class="preset"
      ><input type="radio" name="preset" value="${decimal}" ${isChosen ? html`checked` : ''} />
      <bdi dir="ltr">${priceOf(units)}</bdi></label
    >`;
  });
  const label = `${presets.length > 0 ? texts.other : texts.amount} (${currency.code})`;
  return html`${
    presets.length > 0
      ? html`<fieldset>
          <legend>${texts.amount}</legend>
          <div class="presets">${radios}</div>
        </fieldset>`
      : ''
  }
  ${field('amount', label, texts, wrong, (attributes) => {
    const isRequired = presets.length === 0 ? html`required` : '';
    return html`<input
      ${attributes}
      inputmode="decimal"
      autocomplete="off"
      maxlength="24"
      ${isRequired}
      value="${value}"
    />`;
  })}
  ${bounds === '' ? html`` : html`<p class="bounds">${bounds}</p>`}`;
}

function boundsOf(
  least: bigint | null,
  most: bigint | null,
  texts: Texts,
  priceOf: (units: bigint) => string,
): string {
  const text = least === null ? texts.atMost : most === null ? texts.atLeast : texts.between;
  if (least === null && most === null) return '';
  // Isolated, because the text around it may run the other way.
  const shown = (units: bigint) => `\u2066${priceOf(units)}\u2069`;
  return text.replace('{least}', () => shown(least ?? 0n)).replace('{most}', () => shown(most ?? 0n));
}

function answer(
  { name, label, isRequired }: LinkRow['fields'][number],
  texts: Texts,
  sent: Sent,
  wrong: Wrong,
): Html {
  const value = sent[answerName(name)] ?? '';
  const shown = labelOf(name, label, texts);
  const text = isRequired ? shown : `${shown} (${texts.optional})`;
  return field(answerName(name), text, texts, wrong, (attributes) => {
    const more = html`${attributes} maxlength="${String(lengthOf(name))}" ${isRequired ? html`required` : ''}`;
    if (name === 'note') return html`<textarea ${more} rows="3">${value}</textarea>`;
    const [type, complete] =
      name === 'email' ? ['email', 'email'] : name === 'name' ? ['text', 'name'] : ['text', 'off'];
    return html`<input ${more} type="${type}" autocomplete="${complete}" value="${value}" />`;
  });
}

function labelOf(name: string, label: string, texts: Texts): string {
  if (label !== '') return label;
  return name === 'email' ? texts.email : name === 'name' ? texts.name : texts.note;
}

/** A field with its label, and what is wrong with it. @param control draws it with the attributes that all have */
function field(
  name: string,
  label: string,
  texts: Texts,
  wrong: Wrong,
  control: (attributes: Html) => Html,
): Html {
  const problem = wrong[name];
  const error = problem && html`<p class="error" id="${name}-error">${texts[problem]}</p>`;
  const attributes = html`id="${name}" name="${name}"
  ${problem ? html`aria-invalid="true" aria-describedby="${name}-error"` : ''}`;
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${control(attributes)} ${error ?? ''}
  </div>`;
}
