/** The order at the top of the card: from the payment or, until there is one, from the tag. */
import { isNothing, type Order } from './checkout/order.js';
import type { Payment } from './contract/checkout.js';
import { parseDecimal } from './contract/decimal.js';
import type { Heading, LineItem } from './views/header.js';
import type { FirstContext } from './views/view.js';

/** The tag's attributes. */
export interface Tag {
  readonly merchantName: string | undefined;
  readonly merchantLogo: string | undefined;
  readonly noBranding: boolean;
  readonly lineItems: readonly LineItem[] | undefined;
}

/** The order's price, the shop's name, and whether the coins are real. */
export function orderContext(
  { noBranding, merchantName = '' }: Tag,
  { publicKey, ...order }: Order,
  payment: Payment | undefined,
  money: FirstContext['money'],
): Pick<FirstContext, 'isTest' | 'merchantName' | 'total'> {
  const { businessName, name } = payment?.branding ?? {};
  const price = parseDecimal(payment?.baseAmount ?? order.amount ?? '');
  const currency = payment?.baseCurrency ?? order.baseCurrency;
  return {
    isTest: payment?.mode ? payment.mode === 'test' : publicKey.startsWith('pk_test_'),
    merchantName: noBranding ? '' : businessName || name || (isNothing(merchantName) ? '' : merchantName),
    total: price && currency ? money(price, currency) : undefined,
  };
}

/** @param brokenLogo the URL of a logo that did not load */
export function headingOf(
  tag: Tag,
  { baseCurrency = '', txRef }: Order,
  payment: Payment | undefined,
  brokenLogo: string | undefined,
): Omit<Heading, 'onBrokenLogo'> {
  const logo = payment?.branding ? payment.branding.logo : (tag.merchantLogo ?? '');
  return {
    logo: logo.startsWith('https:') && logo !== brokenLogo ? logo : undefined,
    reference: txRef ?? payment?.txRef,
    items: tag.lineItems ?? [],
    baseCurrency: payment?.baseCurrency ?? baseCurrency,
  };
}
