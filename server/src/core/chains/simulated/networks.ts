/**
 * The simulated networks of test mode: those of the live presets that have simulated assets, with their fees. Blocks
 * come at another pace, so it is not shown.
 */
import { networkPresets } from '../presets.js';
import type { Network } from '../networks.js';

/** Most used first. */
export const simulatedNetworks: readonly Network[] = Object.entries(networkPresets).flatMap(
  ([code, { name, family, inclusionHours, networkFee, simulated: assets }]) =>
    assets ? { mode: 'test', code, name, family, confirmations: 2, inclusionHours, networkFee, assets } : [],
);
