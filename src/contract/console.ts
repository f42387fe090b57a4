/** All endpoints for the console's pages, in addition to the API. */
import { bankPayouts } from './console-banks.js';
import { cases } from './console-cases.js';
import { chainChecks } from './console-chain-checks.js';
import { erasure } from './console-erasure.js';
import { payoutExports, psbts, transfersByHand } from './console-payouts.js';
import { peopleApi } from './console-people.js';
import { settingsApi } from './console-settings.js';
import { mailApi } from './console-mail.js';
import { relations } from './console-relations.js';
import { sweeps } from './console-sweeps.js';

/** The console's endpoints of a server with all modules. */
export const consoleApi = {
  ...peopleApi,
  ...settingsApi,
  cases,
  transfersByHand,
  bankPayouts,
  erasure,
  chainChecks,
  relations,
  payoutExports,
  psbts,
  sweeps,
  ...mailApi,
};
export type ConsoleApi = typeof consoleApi;
