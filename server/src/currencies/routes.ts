/** Handlers of `/v1/currencies`. */
import type { api } from 'crypto-checkout/contract';
import type { Handlers } from '../http/handler.js';
import type { Currencies } from './currencies.js';

export const currencyHandlers = {
  async list(_input, { services, caller }) {
    const networks = services.currencies.networks(caller.mode);
    const data = services.currencies.all().map((currency) => {
      const paidOn = networks.flatMap((network) => {
        const asset = network.assets[currency.code];
        return asset ? [{ ...network, ...asset, minAmount: Number(asset.minAmount) }] : [];
      });
      return { ...currency, networks: paidOn, isActive: currency.type === 'fiat' || paidOn.length > 0 };
    });
    return { message: 'Currencies fetched', data };
  },
} satisfies Handlers<Pick<typeof api, 'currencies'>, { currencies: Currencies }>['currencies'];
