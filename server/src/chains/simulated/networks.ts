/** The simulated networks of test mode: those of the live presets that have simulated assets, with their fees. Blocks come at another pace, so it is not told. */
import { networkPresets } from '../config/presets.js';
import type { Network } from '../networks.js';

/** Most used first. */
export const simulatedNetworks: readonly Network[] = Object.entries(networkPresets).flatMap(
  ([code, { name, family, inclusionHours, networkFee, simulated: assets }]) => {
    const usual = {
      ...(inclusionHours !== undefined && { inclusionHours }),
      ...(networkFee && { networkFee }),
    };
    return assets ? { code, name, mode: 'test', confirmations: 2, family, assets, ...usual } : [];
  },
);
