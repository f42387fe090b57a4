/** The settings of a payment link, which are checked as a whole, and stored in units. */
import { knownFields, type Api, type Input } from 'crypto-checkout/contract';
import { parseAmount } from '../../core/money/amounts.js';
import type { Currency } from '../../core/money/currency-list.js';
import { checkRedirect } from '../../core/payments/validate.js';
import { invalidField } from '../../core/shared/problem.js';
import type { Actor } from '../../core/shared/scope.js';
import type { LinkRow } from './tables.js';

/** Changes of a link. An undefined field stays as it is, and null empties it. */
export type LinkChanges = Input<Api['links']['update']>['body'];

export type Settings = Omit<
  LinkRow,
  | ('id' | 'merchant_id' | 'mode' | 'slug' | 'base_currency' | 'presses' | 'created_at' | 'updated_at')
  | ('customer_id' | 'due_told' | 'overdue_told')
>;

export const noSettings: Settings = {
  title: '',
  text: '',
  amount: null,
  min_amount: null,
  max_amount: null,
  presets: [],
  max_quantity: 1,
  stock: null,
  is_single: false,
  fields: [],
  lines: [],
  due_at: null,
  expires_at: null,
  success_text: '',
  redirect_url: '',
  metadata: {},
  is_active: true,
};

const mostOwnFields = 5;
/** The most keys of a payment's metadata, which has the link's and the payer's answers. */
const mostKeys = 20;

const isKnown = (name: string) => knownFields.some((known) => known === name);

/** Answers that are in the payment's metadata. Its customer has the others. */
export const isInMetadata = (name: string): boolean => name !== 'email' && name !== 'name';

/** The settings after a change. Problem: `validation_error`. */
export function changeSettings(before: Settings, changes: LinkChanges, currency: Currency): Settings {
  const unitsOf = (name: 'amount' | 'minAmount' | 'maxAmount', previous: bigint | null) => {
    const given = changes[name];
    if (given === undefined) return previous;
    return given === null ? null : parseAmount(given, currency, name);
  };
  const { presets, uses, fields, metadata, expiresAt, stock, dueAt } = changes;
  const lines =
    changes.lines?.map(({ amount, ...line }, index) => ({
      ...line,
      amount: parseAmount(amount, currency, `lines.${index}.amount`),
    })) ?? before.lines;
  const isInvoice = lines.length > 0;
  if (isInvoice) checkInvoice(changes);
  const after: Settings = {
    title: changes.title ?? before.title,
    text: changes.text ?? before.text,
    amount: isInvoice ? totalOf(lines) : unitsOf('amount', before.lines.length > 0 ? null : before.amount),
    min_amount: unitsOf('minAmount', before.min_amount),
    max_amount: unitsOf('maxAmount', before.max_amount),
    presets:
      presets?.map((preset, index) => parseAmount(preset, currency, `presets.${index}`)) ?? before.presets,
    max_quantity: changes.maxQuantity ?? before.max_quantity,
    stock: stock === undefined ? before.stock : stock,
    is_single: isInvoice || (uses ?? (before.is_single ? 'single' : 'many')) === 'single',
    lines,
    due_at: dueAt === undefined ? before.due_at : dueAt,
    fields: fields ?? before.fields,
    expires_at: expiresAt === undefined ? before.expires_at : expiresAt,
    success_text: changes.successText ?? before.success_text,
    redirect_url: changes.redirectUrl ?? before.redirect_url,
    metadata: metadata ?? before.metadata,
    is_active: changes.isActive ?? before.is_active,
  };
  checkAmounts(after);
  checkFields(after);
  return after;
}

export const totalOf = (lines: Settings['lines']): bigint =>
  lines.reduce((sum, { quantity, amount }) => sum + BigInt(quantity) * amount, 0n);

/** The lines of an invoice say what it costs, and it is paid once. */
function checkInvoice({ amount, uses }: LinkChanges): void {
  if (amount !== undefined && amount !== null) {
    throw invalidField('amount', 'Is the sum of the lines: leave it out');
  }
  if (uses === 'many') throw invalidField('uses', 'Must be "single" with lines: an invoice is paid once');
}

function checkAmounts({ amount, min_amount: least, max_amount: most, presets, ...link }: Settings): void {
  if (link.due_at !== null && link.lines.length === 0) {
    throw invalidField('dueAt', 'Is for an invoice, which has lines');
  }
  if (link.lines.length > 0 && link.max_quantity > 1) {
    throw invalidField('maxQuantity', 'Must be 1 with lines: they have quantities of their own');
  }
  if (amount !== null) {
    const bound = least !== null ? 'minAmount' : most !== null ? 'maxAmount' : undefined;
    const name = bound ?? (presets.length > 0 ? 'presets' : undefined);
    if (name) throw invalidField(name, 'Is for an amount that the payer chooses: leave out "amount" then');
    return;
  }
  if (link.max_quantity > 1) {
    throw invalidField('maxQuantity', 'Must be 1 if the payer chooses the amount');
  }
  if (least !== null && most !== null && least > most) {
    throw invalidField('maxAmount', 'Must not be less than minAmount');
  }
  presets.forEach((preset, index) => {
    if (!isWithinBounds(preset, { min_amount: least, max_amount: most })) {
      throw invalidField(`presets.${index}`, 'Must be from minAmount to maxAmount');
    }
    if (presets.indexOf(preset) < index) throw invalidField(`presets.${index}`, 'Is there twice');
  });
}

export function isWithinBounds(
  units: bigint,
  { min_amount: least, max_amount: most }: Pick<Settings, 'min_amount' | 'max_amount'>,
): boolean {
  return (least === null || units >= least) && (most === null || units <= most);
}

function checkFields({ fields, metadata }: Settings): void {
  const names = fields.map(({ name }) => name);
  fields.forEach(({ name, label }, index) => {
    if (names.indexOf(name) < index) throw invalidField(`fields.${index}.name`, 'Is there twice');
    if (label === '' && !isKnown(name)) {
      throw invalidField(`fields.${index}.label`, 'Is required for a field of your own');
    }
    if (Object.hasOwn(metadata, name))
      throw invalidField(`fields.${index}.name`, 'Is a key of the metadata too');
  });
  if (names.filter((name) => !isKnown(name)).length > mostOwnFields) {
    throw invalidField('fields', `Must have at most ${mostOwnFields} fields of your own`);
  }
  if (Object.keys(metadata).length + names.filter(isInMetadata).length > mostKeys) {
    throw invalidField('metadata', `Must have at most ${mostKeys} keys, together with the fields`);
  }
}

/**
 * The URL as browsers open it. A page goes there automatically, so a person may only set one that the merchant allows: a stolen
 * session must not lead payers elsewhere. Problem: `validation_error`.
 */
export function checkLinkRedirect(url: string, actor: Actor, origins: readonly string[] | null): string {
  const checked = checkRedirect(url, actor, origins);
  if (checked.url === '' || checked.isTrusted) return checked.url;
  throw invalidField(
    'redirectUrl',
    'In the console, it must be on one of the redirect origins, which "merchants update --redirect-origins" sets',
  );
}
