/** The element's properties, attributes and events as types, derived from its class. The types for frameworks are made of them. */
import type { LitElement } from 'lit';
import type { CryptoCheckout } from './crypto-checkout.js';
import type { CheckoutEventMap, CheckoutEventType } from './events.js';

/* eslint-disable @typescript-eslint/no-unnecessary-type-parameters -- TypeScript compares such functions by identity */
/** True if two types are the same, `readonly` included. */
type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/* eslint-enable @typescript-eslint/no-unnecessary-type-parameters */

/** The properties that are neither read-only nor methods. */
type WritableKey<T> = {
  [K in keyof T]-?: T[K] extends (...args: never[]) => unknown
    ? never
    : IsSame<{ [P in K]: T[P] }, { -readonly [P in K]: T[P] }> extends true
      ? K
      : never;
}[keyof T];

/** `baseCurrency` → `base-currency`. */
type KebabCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${KebabCase<Rest>}`
  : Name;

/** `checkout-success` → `CheckoutSuccess`. */
type PascalCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${Capitalize<First>}${PascalCase<Rest>}`
  : Capitalize<Name>;

type OwnKey = Exclude<WritableKey<CryptoCheckout>, keyof LitElement>;

/** The properties that a page may set on the element, by name: `baseCurrency`. */
export type CheckoutProperties = { [K in OwnKey]?: CryptoCheckout[K] | undefined };

/** Properties that an attribute cannot hold: objects, lists and functions. */
type RichKey = {
  [K in OwnKey]: CryptoCheckout[K] extends string | number | boolean | undefined ? never : K;
}[OwnKey];

/** The attributes that a page may set on the element, by name: `base-currency`. */
export type CheckoutAttributes = {
  [K in Exclude<OwnKey, RichKey> as KebabCase<K>]?: CryptoCheckout[K] | undefined;
};

/** The values that a page can set only as properties, such as `messages`. */
export type CheckoutRichProperties = Pick<CheckoutProperties, RichKey>;

/** Handlers by the names of the events after a prefix: `oncheckout-success`, `on:checkout-success`. */
export type CheckoutHandlers<Prefix extends string> = {
  [E in CheckoutEventType as `${Prefix}${E}`]?: ((event: CheckoutEventMap[E]) => void) | undefined;
};

/** Handlers in camel case: `onCheckoutSuccess`. */
export type CheckoutCamelCaseHandlers = {
  [E in CheckoutEventType as `on${PascalCase<E>}`]?: ((event: CheckoutEventMap[E]) => void) | undefined;
};

export type { CheckoutEventMap, CryptoCheckout };
