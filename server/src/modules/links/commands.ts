/** `links …`: makes, lists, shows and changes payment links. */
import { api, parseDecimal, type Link } from 'crypto-checkout/contract';
import { command, type Group, type Output } from '../../core/commands/command.js';
import type { CommandContext } from '../../core/commands/context.js';
import { UsageError } from '../../core/commands/errors.js';
import * as option from '../../core/commands/options.js';
import { listCommand, showCommand } from '../../core/commands/read-commands.js';
import { showRecord } from '../../core/commands/records.js';
import type { Links } from './links.js';

const id = option.id('the payment link, as "links list" shows it');

/** Options of `create` and of `update`. */
const settings = {
  text: option.text('TEXT', 'more about it, which the page shows'),
  maxQuantity: option.integer('COUNT', 'how many a payer can buy at once', { min: 1, max: 1000 }),
  stock: option.integer('COUNT', 'how many there are', { max: 100_000 }),
  uses: option.oneOf(['single', 'many'], 'whether it is for one payment or for many'),
  line: option
    .text('LINE', 'a line of an invoice: its text, how many, and the price of one, such as "Repair;2;45.50"')
    .repeated(),
  due: option.date('to', 'when the invoice is due'),
  customerEmail: option.text(
    'EMAIL',
    'whom the invoice is for: the customer gets reminders, if you chose them',
  ),
  ask: option
    .oneOf(['email', 'name', 'note'], 'asks the payer for it; with --required, it must be given')
    .repeated(),
  required: option.flag('the payer must give what --ask names'),
  expires: option.date('to', 'when the page stops selling: 2026-01-31 or 2026-01-31T12:00:00Z, in UTC'),
  successText: option.text('TEXT', 'what the payer reads once it is paid'),
  redirectUrl: option.text('URL', 'where the page goes once it is paid'),
};

interface Given {
  readonly ask: readonly ('email' | 'name' | 'note')[];
  readonly required: boolean;
  readonly expires: number | undefined;
  readonly line: readonly string[];
  readonly due: number | undefined;
}

/** The settings as the API has them. */
function settingsOf<G extends Given>({ ask, required: isRequired, expires, line, due, ...given }: G) {
  return {
    ...given,
    ...(line.length > 0 && { lines: line.map(readLine) }),
    dueAt: due,
    ...(ask.length > 0 && { fields: ask.map((name) => ({ name, label: '', isRequired })) }),
    expiresAt: expires,
  };
}

/** @throws UsageError */
function readLine(text: string) {
  const [name = '', count = '', price = '', ...more] = text.split(';').map((part) => part.trim());
  const amount = parseDecimal(price);
  if (name === '' || !/^[1-9]\d{0,4}$/.test(count) || amount === undefined || more.length > 0) {
    throw new UsageError(`--line must be like "Repair;2;45.50", not "${text}"`);
  }
  return { name, quantity: Number(count), amount };
}

/** @param rules finds the rules of a running command */
export function linkCommands(rules: (context: CommandContext) => Links): Group {
  async function update(
    context: CommandContext,
    linkId: string,
    changes: Parameters<Links['update']>[3],
  ): Promise<Output> {
    const { database, actor } = context;
    const scope = await rules(context).owner(linkId);
    const by = { ...scope, kind: 'secret' } as const;
    return show(
      await database.write((transaction) => rules(context).update(transaction, by, linkId, changes, actor)),
    );
  }
  return {
    name: 'links',
    summary: 'Payment links: pages that sell without code.',
    commands: {
      create: command({
        summary: 'Makes a payment link, and prints the address of its page.',
        details: 'Without --amount, the payer chooses it, from --min-amount to --max-amount.',
        options: {
          merchant: option.merchant('the merchant that it sells for').required(),
          mode: option.mode('of its payments'),
          title: option.text('TEXT', 'what is paid for').required(),
          currency: option.code('the currency of the amounts').required(),
          amount: option.decimal('the price of one'),
          minAmount: option.decimal('the least that a payer can choose'),
          maxAmount: option.decimal('the most that a payer can choose'),
          ...settings,
        },
        async run(context, { merchant: merchantId, mode, currency: baseCurrency, ...given }) {
          const { database, actor } = context;
          const by = { merchantId, mode, kind: 'secret' } as const;
          const created = await database.write((transaction) =>
            rules(context).create(transaction, by, { ...settingsOf(given), baseCurrency }, actor),
          );
          return show(created);
        },
      }),
      list: listCommand(api.links.list.query, {
        summary: 'Lists the payment links, oldest first, at most 1000.',
        what: 'payment links',
        rows: (context, filter) => rules(context).listAll(filter),
        line: linkLine,
      }),
      show: showCommand('Shows a payment link.', id, rules, show),
      update: command({
        summary: 'Changes a payment link. Options that you leave out stay unchanged.',
        details: 'Payments that were started keep their price. With --off, the page stops selling.',
        args: { id },
        options: {
          title: option.text('TEXT', 'what is paid for'),
          amount: option.decimal('the price of one'),
          ...settings,
          off: option.flag('the page stops selling'),
          on: option.flag('the page sells again'),
        },
        run(context, { id: linkId, off, on, ...given }) {
          if (off && on) throw new UsageError('--on and --off contradict each other: give one of them');
          const isActive = off ? false : on ? true : undefined;
          return update(context, linkId, { ...settingsOf(given), isActive });
        },
      }),
    },
  };
}

function show(link: Link): Output {
  const { fields, presets, metadata, amount, minAmount, maxAmount, stock, expiresAt, ...other } = link;
  const { lines, dueAt, invoiceStatus, ...rest } = other;
  return {
    json: link,
    text: showRecord({
      ...rest,
      amount: amount ?? `chosen by the payer${boundsOf(minAmount, maxAmount)}`,
      ...(presets.length > 0 && { presets: presets.join(', ') }),
      ...(invoiceStatus && {
        lines: lines.map((line) => `${line.quantity} × ${line.name} at ${line.amount}`).join('; '),
        dueAt: dueAt ?? 'no date',
        invoiceStatus,
      }),
      stock: stock ?? 'without a limit',
      fields: fields.map(({ name, isRequired }) => (isRequired ? `${name} (required)` : name)).join(', '),
      expiresAt: expiresAt ?? 'never',
      ...(metadata && { metadata: JSON.stringify(metadata) }),
    }).text,
  };
}

function boundsOf(least: number | null, most: number | null): string {
  const parts = [...(least === null ? [] : [`from ${least}`]), ...(most === null ? [] : [`to ${most}`])];
  return parts.length === 0 ? '' : `, ${parts.join(' ')}`;
}

function linkLine({ id: linkId, mode, isActive, title, amount, baseCurrency, url, ...link }: Link): string {
  const price = amount === null ? `any ${baseCurrency}` : `${amount} ${baseCurrency}`;
  const sold = link.invoiceStatus ?? `${link.sold} sold`;
  return [linkId, mode, isActive ? 'on' : 'off', price, sold, url, title].join('  ');
}
