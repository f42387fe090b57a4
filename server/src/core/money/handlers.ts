/** Handlers of `/v1/currencies`. */
import type { ApiHandlers } from '../api/handler.js';
import type { Currencies } from './currencies.js';

export function createCurrencyHandlers(currencies: Currencies): ApiHandlers<'currencies'> {
  return {
    async list(_input, { caller }) {
      const networks = currencies.networks(caller.mode);
      const data = currencies.all().map((currency) => {
        const paidOn = networks.flatMap((network) => {
          const asset = network.assets[currency.code];
          return asset ? [{ ...network, ...asset, minAmount: Number(asset.minAmount) }] : [];
        });
        return { ...currency, networks: paidOn, isActive: currency.type === 'fiat' || paidOn.length > 0 };
      });
      return { data };
    },
  };
}
