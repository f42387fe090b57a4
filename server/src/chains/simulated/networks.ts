/** The simulated networks of test mode: those of the live presets that have simulated assets, with their fees. Blocks come at another pace, so it is not told. */
import { networkPresets } from '../config/presets.js';
import type { Asset, Network } from '../networks.js';

/** Most used first. */
export const simulatedNetworks: readonly Network[] = Object.entries(networkPresets).flatMap(
  ([code, { name, family, inclusionHours, networkFee, assets: presets }]) => {
    const assets: Record<string, Asset> = {};
    for (const [currency, { simulated }] of Object.entries(presets)) {
      if (simulated) assets[currency] = simulated;
    }
    if (Object.keys(assets).length === 0) return [];
    const usual = {
      ...(inclusionHours !== undefined && { inclusionHours }),
      ...(networkFee && { networkFee }),
    };
    return [{ code, name, mode: 'test', confirmations: 2, family, assets, ...usual }];
  },
);
