/** Payment links: pages that sell without code. Each press of their button is an ordinary payment. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import {
  boolean,
  deadline,
  described,
  email,
  id,
  integer,
  listQuery,
  metadata,
  mode,
  positiveDecimal,
  requiredText,
  text,
  timestamp,
} from './fields.js';

/** `single`: one payment at most. */
const uses = z.enum(['single', 'many']);

/** The largest stock: held quantities are added up when somebody locks a payment. */
const mostStock = 100_000;
const mostQuantity = 1000;
const mostPresets = 6;
const mostFields = 8;
const mostLines = 30;

/** The fields whose label the page writes in the payer's language. */
export const knownFields = ['email', 'name', 'note'] as const;

const field = z.object({
  name: z.string(),
  /** Empty for `email`, `name` and `note`. */
  label: z.string(),
  isRequired: z.boolean(),
});

const line = z.object({ name: z.string(), quantity: z.number(), amount: z.number() });

/** `part_paid`: less came than is due, and its payment waits for the rest, or has ended. */
const invoiceStatus = z.enum(['open', 'part_paid', 'paid', 'overdue']);
export type InvoiceStatus = z.output<typeof invoiceStatus>;

const link = z.object({
  id: z.string(),
  mode,
  /** The page's address, which you give to payers. */
  url: z.string(),
  slug: z.string(),
  title: z.string(),
  text: z.string(),
  /** The price of one, in `baseCurrency`; null if the payer chooses it. */
  amount: z.nullable(z.number()),
  /** The bounds of an amount that the payer chooses; null if there are none. */
  minAmount: z.nullable(z.number()),
  maxAmount: z.nullable(z.number()),
  presets: z.array(z.number()),
  baseCurrency: z.string(),
  /** The most that a payer can buy at once. */
  maxQuantity: z.number(),
  /** The whole quantity, sold ones included; null without a limit. */
  stock: z.nullable(z.number()),
  /** The quantities that are paid, and that are held for payments that wait for their money. */
  sold: z.number(),
  reserved: z.number(),
  uses,
  /** The lines of an invoice, each with the price of one; empty if it is none. */
  lines: z.array(line),
  /** When an invoice is due; null without a date. It can be paid afterwards too. */
  dueAt: z.nullable(timestamp),
  /** Null if it is no invoice. */
  invoiceStatus: z.nullable(invoiceStatus),
  /** The customer that an invoice is for; null if you gave none. */
  customerId: z.nullable(z.string()),
  fields: z.array(field),
  expiresAt: z.nullable(timestamp),
  successText: z.string(),
  redirectUrl: z.string(),
  metadata: z.optional(z.record(z.string(), z.string())),
  isActive: z.boolean(),
  /** The number of payments that its page has started. */
  payments: z.number(),
  createdAt: timestamp,
  updatedAt: timestamp,
});
export type Link = z.output<typeof link>;

const askedField = z.object({
  name: described(
    z.string().check(z.regex(/^[a-z][a-z0-9_]{0,39}$/, { error: 'Must be like size or delivery_day' })),
    'One of `email`, `name` and `note`, or a name of your own, under which the answer is in the payment’s `metadata`.',
  ),
  label: described(
    z._default(text(100), ''),
    'Its name on the page. The page has names for `email`, `name` and `note`.',
  ),
  isRequired: described(z._default(boolean, false), 'True if the payer must fill it in.'),
});

const invoiceLine = z.object({
  name: described(requiredText(200), 'The item that is billed.'),
  quantity: described(z._default(integer(1, 100_000), 1), 'The quantity. Defaults to 1.'),
  amount: described(positiveDecimal, 'The price of one, in `baseCurrency`.'),
});

const shape = {
  title: described(
    requiredText(100),
    'The item or purpose that is paid for. The page shows it, and so does the tab.',
  ),
  text: described(text(2000), 'More about it, in plain text.'),
  amount: described(positiveDecimal, 'The price of one. Leave it out to let the payer choose.'),
  minAmount: described(positiveDecimal, 'The least that a payer can choose.'),
  maxAmount: described(positiveDecimal, 'The most that a payer can choose.'),
  presets: described(
    z.array(positiveDecimal).check(z.maxLength(mostPresets)),
    `Amounts to choose from, at most ${mostPresets}. The payer can still type another one.`,
  ),
  maxQuantity: described(integer(1, mostQuantity), 'The most that a payer can buy at once. Defaults to 1.'),
  stock: described(
    integer(0, mostStock),
    `The number in stock, at most ${mostStock}. One is held for a payment from its lock until it ends.`,
  ),
  uses: described(uses, 'Either `many` (default), or `single`: only one payment can be locked and paid.'),
  lines: described(
    z.array(invoiceLine).check(z.maxLength(mostLines)),
    `The lines of an invoice, at most ${mostLines}. Their sum is the price, and it is paid once: leave out \`amount\` and \`uses\`.`,
  ),
  dueAt: described(deadline, 'When an invoice is due: a date, to its end, or a time, in UTC.'),
  customerEmail: described(
    email,
    'The e-mail address of the customer that an invoice is for, who gets reminders if you chose them.',
  ),
  fields: described(
    z.array(askedField).check(z.maxLength(mostFields)),
    'The fields that the page asks the payer to fill in: `email`, `name`, `note` and up to five fields of your own.',
  ),
  expiresAt: described(deadline, 'When the page stops selling: a date, to its end, or a time, in UTC.'),
  successText: described(text(500), 'The text that the payer reads once it is paid.'),
  redirectUrl: described(
    text(2048),
    'The address to which the page goes once it is paid, with `txRef`, `paymentId` and `status`. https.',
  ),
  metadata: described(
    metadata,
    'Your own data, which each of its payments gets. With the fields, at most 20 keys.',
  ),
  isActive: described(boolean, 'True if the page sells.'),
};

const createBody = z.object({
  title: shape.title,
  text: z.optional(shape.text),
  amount: z.optional(shape.amount),
  minAmount: z.optional(shape.minAmount),
  maxAmount: z.optional(shape.maxAmount),
  presets: z.optional(shape.presets),
  baseCurrency: described(requiredText(20), 'Currency of the amounts: a code from the list of currencies.'),
  maxQuantity: z.optional(shape.maxQuantity),
  stock: z.optional(shape.stock),
  uses: z.optional(shape.uses),
  lines: z.optional(shape.lines),
  dueAt: z.optional(shape.dueAt),
  customerEmail: z.optional(shape.customerEmail),
  fields: z.optional(shape.fields),
  expiresAt: z.optional(shape.expiresAt),
  successText: z.optional(shape.successText),
  redirectUrl: z.optional(shape.redirectUrl),
  metadata: z.optional(shape.metadata),
  isActive: z.optional(shape.isActive),
});

/** A field that null empties. */
const emptied = <Field extends z.ZodMiniType>(field: Field) =>
  described(z.optional(z.nullable(field)), z.globalRegistry.get(field)?.description ?? '');

const updateBody = z.object({
  title: z.optional(shape.title),
  text: z.optional(shape.text),
  amount: emptied(shape.amount),
  minAmount: emptied(shape.minAmount),
  maxAmount: emptied(shape.maxAmount),
  presets: z.optional(shape.presets),
  maxQuantity: z.optional(shape.maxQuantity),
  stock: emptied(shape.stock),
  uses: z.optional(shape.uses),
  lines: z.optional(shape.lines),
  dueAt: emptied(shape.dueAt),
  customerEmail: emptied(shape.customerEmail),
  fields: z.optional(shape.fields),
  expiresAt: emptied(shape.expiresAt),
  successText: z.optional(shape.successText),
  redirectUrl: z.optional(shape.redirectUrl),
  metadata: z.optional(shape.metadata),
  isActive: z.optional(shape.isActive),
});

const params = z.object({ link_id: described(id, 'Id of the payment link.') });

const sampleLink: Link = {
  id: '01J9ZQA0L1B2C3D4E5F6G7H8JK',
  mode: 'live',
  url: 'https://pay.example.com/l/7v3kq2m9x4tz8w1c',
  slug: '7v3kq2m9x4tz8w1c',
  title: 'Workshop ticket',
  text: 'Saturday, 10 to 16 h, lunch included.',
  amount: 45,
  minAmount: null,
  maxAmount: null,
  presets: [],
  baseCurrency: 'USD',
  maxQuantity: 4,
  stock: 30,
  sold: 12,
  reserved: 2,
  uses: 'many',
  lines: [],
  dueAt: null,
  invoiceStatus: null,
  customerId: null,
  fields: [
    { name: 'email', label: '', isRequired: true },
    { name: 'diet', label: 'Anything that you do not eat?', isRequired: false },
  ],
  expiresAt: '2026-03-01T00:00:00.000Z',
  successText: 'See you on Saturday!',
  redirectUrl: '',
  isActive: true,
  payments: 19,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};
const sampleParams = { link_id: sampleLink.id };

export const links = {
  create: endpoint({
    method: 'POST',
    path: '/v1/links',
    key: 'secret',
    description:
      'Creates a payment link: a page that sells, which you give to payers. Each press of its button is an ordinary payment with `linkId`, at the price that this server sets.',
    body: createBody,
    data: link,
    errors: ['unsupported_currency'],
    sample: {
      body: {
        title: sampleLink.title,
        text: sampleLink.text,
        amount: 45,
        baseCurrency: 'USD',
        maxQuantity: 4,
        stock: 30,
        fields: sampleLink.fields,
        successText: sampleLink.successText,
      },
      message: 'Payment link created',
      data: { ...sampleLink, sold: 0, reserved: 0, payments: 0, expiresAt: null },
    },
  }),
  list: endpoint({
    method: 'GET',
    path: '/v1/links',
    key: 'secret',
    description: 'Lists your payment links, newest first.',
    query: listQuery({ isActive: described(z.optional(boolean), 'Only links that sell, or that do not.') }),
    data: z.array(link),
    paginated: true,
    sample: { query: { isActive: 'true' }, message: 'Payment links fetched', data: [sampleLink] },
  }),
  retrieve: endpoint({
    method: 'GET',
    path: '/v1/links/{link_id}',
    key: 'secret',
    description: 'Returns one payment link.',
    params,
    data: link,
    sample: { params: sampleParams, message: 'Payment link fetched', data: sampleLink },
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/v1/links/{link_id}',
    key: 'secret',
    description:
      'Changes a payment link, or turns it off with `isActive`. Payments that were started keep their price; one that is not locked yet cannot be once the link is off or has expired. `null` takes away an amount, a bound, the stock or the end.',
    params,
    body: updateBody,
    data: link,
    sample: {
      params: sampleParams,
      body: { isActive: false },
      message: 'Payment link updated',
      data: { ...sampleLink, isActive: false },
    },
  }),
};
