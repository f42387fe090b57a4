/** Sells by payment links: a press makes a payment, its lock holds the stock, and its end frees or takes it. */
import { createHmac, randomBytes } from 'node:crypto';
import { statusOf, type ModuleFields } from 'crypto-checkout/contract';
import type { Core } from '../../core/core.js';
import type { Transaction } from '../../core/db/engine.js';
import { ensureSetting } from '../../core/db/settings.js';
import type { Answers, PaymentRow } from '../../core/hooks.js';
import { parseAmount } from '../../core/money/amounts.js';
import { invalidField, invalidState, Problem } from '../../core/shared/problem.js';
import { retention } from '../../core/shared/retention.js';
import { scopeOf } from '../../core/shared/scope.js';
import { isInMetadata, isWithinBounds } from './settings.js';
import * as store from './store.js';
import type { LinkRow } from './tables.js';

/** The most unpaid orders of one network address that may have held a part of a link's stock within a day. */
const mostUnpaid = 5;
/**
 * The most payments of one order that hold a part of the stock at once. The widget cancels one before it starts the next, so a payer has a
 * second one only after losing the first, with a closed tab or a broken connection. With more, one order could hold the whole stock, and
 * `mostUnpaid` counts it once.
 */
const mostOfOrder = 2;

/** The order of a payer. */
export interface Press {
  /** A plain decimal in the link's currency, if the payer chooses the amount. */
  readonly amount: string | undefined;
  readonly quantity: number;
  /** The price of one that the payer has seen, in the currency's smallest units; undefined if the page did not say. */
  readonly seenPrice?: string | undefined;
  /** By the names of the link's fields. */
  readonly answers: Readonly<Record<string, string>>;
  /** The same for a form that is sent twice. */
  readonly token: string;
  /** The payer's network address. */
  readonly address: string;
}

/** The payer has seen another price than the link's. */
export class PriceChanged extends Error {
  override readonly name = 'PriceChanged';
}

/** Why a page does not sell. `held`: all that is left waits for the money of others. */
export type Closed = 'off' | 'expired' | 'sold_out' | 'held' | 'paid';

export type Sales = ReturnType<typeof createSales>;

/** The references of links' payments: the server's own, and with a repeat those of a page that starts one again. */
const reference = /^link_([0-9A-HJKMNP-TV-Z]{26})_(\d{1,9})(?::(\d{1,9}))?$/;

/** False for nearly all payments, without a look into the database. */
const isOfLink = ({ tx_ref: txRef }: Pick<PaymentRow, 'tx_ref'>) => reference.test(txRef);

type SalesDeps = Pick<Core, 'database' | 'clock' | 'currencies' | 'newId' | 'payments'>;

export function createSales({ database, clock, currencies, newId, payments }: SalesDeps) {
  /** Why a link does not sell so many; undefined if it does. */
  function whyClosed(link: LinkRow, held: store.Held, quantity = 1): Closed | undefined {
    if (!link.is_active) return 'off';
    if (link.expires_at !== null && clock.now(scopeOf(link)) >= link.expires_at) return 'expired';
    if (link.is_single && held.payments > 0) return held.sold > 0 ? 'paid' : 'held';
    if (link.stock === null || held.sold + held.reserved + quantity <= link.stock) return undefined;
    return held.sold + quantity <= link.stock ? 'held' : 'sold_out';
  }

  const heldOf = async (reader: Transaction, link: LinkRow) =>
    (await store.heldOf(reader, [link.id]))(link.id);

  /** The price of one. Problem: `validation_error`. */
  function priceOf(link: LinkRow, amount: string | undefined): bigint {
    if (link.amount !== null) return link.amount;
    if (amount === undefined) throw invalidField('amount', 'Is required');
    const units = parseAmount(amount, currencies.known(link.base_currency), 'amount');
    if (units <= 0n || !isWithinBounds(units, link)) throw invalidField('amount', 'Is out of bounds');
    return units;
  }

  /** True if so many cost this now. */
  const isPriceOf = (link: LinkRow, amount: bigint, quantity: number): boolean =>
    link.amount === null
      ? isWithinBounds(amount / BigInt(quantity), link)
      : amount === link.amount * BigInt(quantity);

  /** A keyed digest: it does not reveal the address, and all servers compute the same one. */
  async function digest(transaction: Transaction, ...parts: readonly string[]): Promise<string> {
    const key = await ensureSetting(transaction, 'links key', randomBytes(32).toString('base64url'));
    return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
  }

  return {
    /** A link by the end of its address, and why it does not sell; undefined if there is none. */
    async find(slug: string) {
      const link = await store.findBySlug(database.reader, slug);
      if (!link) return undefined;
      const held = (await store.heldOf(database.reader, [link.id]))(link.id);
      const left = link.stock === null ? undefined : Math.max(0, link.stock - held.sold - held.reserved);
      return { link, left, closed: whyClosed(link, held) };
    },

    /** True if a payer may choose this amount. */
    isAllowed(link: LinkRow, amount: string | undefined): boolean {
      try {
        return priceOf(link, amount) > 0n;
      } catch (error) {
        if (error instanceof Problem) return false;
        throw error;
      }
    },

    /** The payment of a link; false if it is not its own. */
    async isOf(link: LinkRow, paymentId: string): Promise<boolean> {
      return (await store.findLinkPayment(database.reader, paymentId))?.link_id === link.id;
    },

    /**
     * Starts a payment at the link's price. A form that is sent again gets the same one, until that has ended.
     * Problems: `not_found`, `sold_out`, `invalid_state`, and those of payments.
     */
    press: (linkId: string, press: Press): Promise<string> =>
      database.write(async (transaction) => {
        const link = await store.lockLink(transaction, linkId);
        if (!link) throw new Problem('not_found', 'No such payment link');
        const { quantity, answers } = press;
        if (quantity < 1 || quantity > link.max_quantity) throw invalidField('quantity', 'Is out of bounds');
        // Not what sets the price: it only says what the payer has seen.
        if (link.amount !== null && press.seenPrice !== undefined && press.seenPrice !== String(link.amount))
          throw new PriceChanged();
        const amount = priceOf(link, press.amount) * BigInt(quantity);
        const order = [String(quantity), String(amount), JSON.stringify(answers)];
        const token = await digest(transaction, press.token, ...order);
        const previous = await store.findPress(transaction, link.id, token);
        if (previous && ['in progress', 'success'].includes(statusOf(previous.state))) return previous.id;
        refuse(whyClosed(link, await heldOf(transaction, link), quantity));
        const number = link.presses + 1;
        await store.updateLink(transaction, { ...link, presses: number });
        const id = newId();
        await store.insertLinkPayment(transaction, {
          payment_id: id,
          link_id: link.id,
          number,
          repeat: 0,
          quantity,
          hold: 'none',
          press: token,
          visitor: await digest(transaction, press.address),
          pressed_at: clock.real(),
        });
        const kept = Object.entries(answers).filter(([name, value]) => isInMetadata(name) && value !== '');
        const metadata = { ...link.metadata, ...Object.fromEntries(kept) };
        await payments.create(
          transaction,
          { ...scopeOf(link), kind: 'secret' },
          {
            id,
            baseUnits: amount,
            baseCurrency: link.base_currency,
            txRef: `link_${link.id}_${number}`,
            redirectUrl: link.redirect_url,
            email: answers['email'],
            fullName: answers['name'],
            ...(Object.keys(metadata).length > 0 && { metadata }),
            refusesUnpayable: true,
          },
        );
        return id;
      }),

    /** Forgets the addresses of payers who pressed more than a day ago. */
    forgetVisitors: (): Promise<void> =>
      database.write((transaction) =>
        store.forgetVisitors(transaction, clock.real() - retention.linkVisitorMs),
      ),

    /** Follows the payments that changed while the server ran without links. */
    followMissed: (): Promise<void> => database.write(store.followPayments, true),

    answers: {
      /**
       * The widget starts a payment again when the payer wants another coin, with the public key: it belongs to the link too, at the
       * same price, for a day, and as long as that is the link's price. No other payment has these references. Problem:
       * `validation_error`.
       */
      async onPayment(transaction: Transaction, payment: PaymentRow): Promise<ModuleFields> {
        const [, linkId, number, repeat] = reference.exec(payment.tx_ref) ?? [];
        if (linkId === undefined || number === undefined) return {};
        const own = await store.findLinkPayment(transaction, payment.id);
        if (own) return { linkId: own.link_id };
        const first = await store.findPressed(transaction, linkId, Number(number));
        const isSame =
          first?.merchant_id === payment.merchant_id &&
          first.mode === payment.mode &&
          first.base_currency === payment.base_currency &&
          first.base_amount === String(payment.base_amount);
        if (repeat === undefined || Number(repeat) < 1 || payment.created_by !== 'public' || !isSame) {
          throw invalidField('txRef', 'Has a form reserved for payment links; choose another reference');
        }
        const { link_id, number: pressed, quantity, visitor, pressed_at } = first;
        const link = await store.findAnyLink(transaction, link_id);
        const isPrice = link && isPriceOf(link, payment.base_amount, quantity);
        if (!isPrice || pressed_at < clock.real() - retention.linkVisitorMs)
          throw invalidField('txRef', 'This order is too old, or its price has changed: open the link again');
        await store.insertLinkPayment(transaction, {
          payment_id: payment.id,
          link_id,
          number: pressed,
          repeat: Number(repeat),
          quantity,
          visitor,
          hold: 'none',
          press: null,
          pressed_at,
        });
        return { linkId };
      },

      /** Holds the stock. Problems: `sold_out`, `invalid_state`, `rate_limited`. */
      async beforeLock(transaction: Transaction, payment: PaymentRow): Promise<void> {
        if (!isOfLink(payment)) return;
        const own = await store.findLinkPayment(transaction, payment.id);
        // Locked, so that what others hold is known, on any number of servers.
        const link = own && (await store.lockLink(transaction, own.link_id));
        if (!link) return;
        if (link.lines.length > 0 && !isPriceOf(link, payment.base_amount, own.quantity))
          throw invalidState('The invoice has changed: open its page again');
        refuse(whyClosed(link, await heldOf(transaction, link), own.quantity));
        if (link.stock !== null) {
          const open = await store.countReserved(transaction, link.id, own.number);
          if (open >= mostOfOrder)
            throw invalidState(
              'Other payments of this order wait for money: pay or cancel one of them, or open the link again',
            );
        }
        if (link.stock !== null && own.visitor !== null) {
          const unpaid = await store.countUnpaid(transaction, link.id, own.visitor);
          if (unpaid >= mostUnpaid) {
            throw new Problem('rate_limited', 'Too many unpaid payments were started from this address', {
              retryAfterSeconds: 3600,
            });
          }
        }
        await store.setHold(transaction, payment.id, 'reserved');
      },

      /** Money that came counts, even late: then more can be sold than there is. */
      async onPaymentStatus(transaction, payment): Promise<void> {
        const { id, status } = payment;
        if (!isOfLink(payment)) return;
        if (status === 'success') await store.setHold(transaction, id, 'sold');
        else if (status !== 'in progress')
          await store.setHold(transaction, id, 'freed', ['reserved', 'sold']);
      },
    } satisfies Answers,
  };
}

/** Problems: `sold_out`, `invalid_state`. */
function refuse(closed: Closed | undefined): void {
  switch (closed) {
    case undefined:
      return;
    case 'off':
    case 'expired':
      throw invalidState('This payment link does not sell any more');
    case 'sold_out':
    case 'held':
    case 'paid':
      throw new Problem('sold_out', 'This payment link has nothing left to sell');
    default:
      return closed satisfies never;
  }
}
