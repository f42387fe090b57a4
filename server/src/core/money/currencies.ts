/** The server's currencies, and the networks on which each mode can be paid. */
import { toUnits } from 'crypto-checkout/contract';
import { Problem } from '../shared/problem.js';
import type { Network } from '../chains/networks.js';
import type { Mode } from '../shared/scope.js';
import { fiatCurrency, type Currency } from './currency-list.js';

/** A currency on a network. */
export interface PaymentOption {
  readonly currency: Currency;
  readonly network: Network;
  readonly minAmount: string;
  /** The same in the currency's smallest unit: every new payment is compared with it. */
  readonly minUnits: bigint;
}

export type Currencies = ReturnType<typeof createCurrencies>;

export function createCurrencies(list: readonly Currency[], networks: readonly Network[]) {
  const byCode = new Map(list.map((currency) => [currency.code, currency]));
  const networkByKey = new Map(networks.map((network) => [`${network.mode}/${network.code}`, network]));

  /** A currency by a code from the database. @throws if it is no longer configured */
  const known = (code: string): Currency => {
    const currency = byCode.get(code) ?? fiatCurrency(code);
    if (!currency) throw new Error(`The currency ${code} is not configured`);
    return currency;
  };
  const optionsOf = (mode: Mode): PaymentOption[] =>
    list.flatMap((currency) =>
      networks.flatMap((network) => {
        const asset = network.mode === mode ? network.assets[currency.code] : undefined;
        if (!asset) return [];
        const { minAmount } = asset;
        return [{ currency, network, minAmount, minUnits: toUnits(minAmount, currency.decimals) }];
      }),
    );
  const options = { test: optionsOf('test'), live: optionsOf('live') };

  return {
    /** All currencies, most used first. */
    all: (): readonly Currency[] => list,
    networks: (mode: Mode): readonly Network[] => networks.filter((network) => network.mode === mode),
    /** Finds a currency by its code, ignoring case. */
    find: (code: string): Currency | undefined => byCode.get(code.toUpperCase()),
    known,
    /** Finds a network by its mode and code, ignoring case. */
    network: (mode: Mode, code: string): Network | undefined =>
      networkByKey.get(`${mode}/${code.toLowerCase()}`),
    /** Every way to pay in a mode. */
    options: (mode: Mode): readonly PaymentOption[] => options[mode],
    /** One way to pay, by codes in any case. Problem: `unsupported_currency`. */
    option(mode: Mode, currency: string, network: string): PaymentOption {
      const found = options[mode].find(
        (option) =>
          option.currency.code === currency.toUpperCase() && option.network.code === network.toLowerCase(),
      );
      if (!found) {
        throw new Problem(
          'unsupported_currency',
          'This currency cannot be paid on this network; see currencyOptions of the payment',
          { param: byCode.has(currency.toUpperCase()) ? 'network' : 'currency' },
        );
      }
      return found;
    },
  };
}
