/** Treasuries: forwarders that payers pay to, sweeps to the merchant's own account, and the books of both. */
import { setTimeout as delay } from 'node:timers/promises';
import type { LedgerCheck } from '../../core/audit/check-report.js';
import type { ConnectedNetwork, NetworkFinding } from '../../core/chains/connected.js';
import type { Job } from '../../core/shared/feature.js';
import type { Reader } from '../../core/db/engine.js';
import { orStartError, StartError } from '../../core/shared/start-error.js';
import { compareWithChain } from './chain-balances.js';
import { chainChecks } from './chain-checks.js';
import { evmNetworks, networkAt, placeOf, type TreasuryContext, type TreasuryDeps } from './context.js';
import { createForwarderChecks, findForwarderProblem } from './forwarder-checks.js';
import { forwarderContracts } from '../../core/addresses/forwarder-factory.js';
import { createHandOver } from './hand-over.js';
import { hasSigned } from './gas-transactions.js';
import { createGasSweeper, type GasSweeper, type SweepTimes } from './gas-sweeper.js';
import { readGasKey } from './key-file.js';
import { createPayoutExports } from './payout-exports.js';
import { createOutflows } from './outflows.js';
import { planSweeps, type PlanRequest } from './plan.js';
import { readTreasuryStatus, treasuryFigures } from './status.js';
import { createSweeps } from './sweeps.js';
import { createSettledByHand } from './settled-by-hand.js';
import { ensureUsableTreasury } from './usable-treasury.js';
import { createTreasuryWatcher } from './treasury-watcher.js';

declare module '../../core/merchants/audit-log.js' {
  interface AuditActions extends Record<
    | `transfer.${'exported' | 'released' | 'handed' | 'wallet_answered' | 'paid_late'}`
    | 'treasury.explained'
    | 'sweep.sent',
    true
  > {}
}

export type Treasury = ReturnType<typeof createTreasury>;

/** A node that hangs must not delay the start for longer. */
const firstCheckMs = 3000;

export function createTreasury(deps: TreasuryDeps) {
  const { database, depositKeys, connected, gasKey, log } = deps;
  const networks = evmNetworks(connected);
  const context: TreasuryContext = { ...deps, networks };
  const forwarderChecks = createForwarderChecks(context);
  const watcher = createTreasuryWatcher(context);
  const status = () => database.snapshot((reader) => readTreasuryStatus(context, reader));
  let sweeper: GasSweeper | undefined;

  return {
    forwarderChecks,
    watcher,
    payoutExports: createPayoutExports(context),
    sweeps: createSweeps(context),
    walletHandOver: createHandOver(context),
    outflows: createOutflows(context),
    settledByHand: createSettledByHand(context),
    /** Asks no node. */
    status,
    /** The addresses that are worth sweeping, on a network. Reads the chain. @throws NodesUnavailable */
    planSweeps: (request: PlanRequest, signal: AbortSignal) => planSweeps(context, request, signal),
    /** Refuses what cannot be a treasury. Problem: `validation_error`. */
    ensureUsable: (treasury: string) => ensureUsableTreasury(context, treasury),
    isOffered: forwarderChecks.isOffered,
    /** @param times that tests shorten */
    createGasSweeper: (key: Uint8Array, times?: SweepTimes) => createGasSweeper(context, key, times),

    /** True if an address is a treasury, a factory or a gas key. Asks no node. */
    async isOwnAccount(reader: Reader, address: string): Promise<boolean> {
      const lower = address.toLowerCase();
      const treasuries = (await depositKeys.list(reader)).map((key) => key.treasury);
      const own = [...forwarderContracts, sweeper?.address, ...treasuries];
      return own.some((one) => one?.toLowerCase() === lower) || hasSigned(reader, lower);
    },

    figures: () => treasuryFigures(status, deps.clock.real),

    async prepare(signal: AbortSignal): Promise<void> {
      if (gasKey) {
        // Takes about a second.
        const key = await orStartError('GAS_KEY_FILE, GAS_KEY_PASSWORD_FILE: the key cannot be opened', () =>
          readGasKey(gasKey),
        );
        sweeper = createGasSweeper(context, key);
        const { address } = sweeper;
        const isTreasury = depositKeys
          .forwarders()
          .some(({ source }) => source.forwarder.treasury === address);
        if (isTreasury) {
          throw new StartError(
            `GAS_KEY_FILE: its address ${address} is the treasury of a merchant, and its key must not be on the server. Make another gas key with "sweeps new-key"`,
          );
        }
        log.info({ address }, 'Sweeps are paid by the gas key');
      }
      const isSweeping = connected.some(({ sweeps }) => sweeps);
      if (isSweeping && !gasKey)
        log.warn('NETWORKS_FILE has sweeps, but GAS_KEY_FILE is not set: nothing is swept');
      if (gasKey && !isSweeping) log.warn('GAS_KEY_FILE is set, but no network in NETWORKS_FILE has sweeps');
      // Waits, so that networks of treasuries are offered from the first request on.
      await Promise.race([forwarderChecks.refresh(signal), delay(firstCheckMs, undefined, { ref: false })]);
    },

    jobs(): Job[] {
      const jobs: Job[] = [];
      if (networks.length > 0) {
        jobs.push(
          { name: 'forwarders', intervalMs: 1000, run: (signal) => forwarderChecks.refresh(signal) },
          { name: 'treasuries', intervalMs: 2000, run: (signal) => watcher.advance(signal) },
        );
      }
      const sweeps = sweeper;
      if (sweeps) jobs.push({ name: 'sweeps', intervalMs: 2000, run: (signal) => sweeps.advance(signal) });
      return jobs;
    },

    notices: () =>
      forwarderChecks
        .problems()
        .map(
          ({ network, mode, problem }) =>
            `${network} (${mode}) is not offered to merchants with a treasury: ${problem}`,
        ),

    /** The findings of `networks check`: nothing if the merchant has no treasury there. @throws NodesUnavailable */
    async check(
      on: ConnectedNetwork,
      merchantId: string | undefined,
      signal: AbortSignal,
    ): Promise<NetworkFinding[]> {
      const here = networkAt(context, placeOf(on));
      const forwarders = depositKeys
        .forwarders()
        .find(({ scope }) => scope.merchantId === merchantId && scope.mode === on.network.mode);
      if (!here || !forwarders) return [];
      const problem = await findForwarderProblem(here, forwarders, networks, signal);
      const subject = on.network.code;
      return problem === undefined
        ? [
            {
              subject,
              kind: 'ok',
              text: 'The forwarder factory is there, and derives the same addresses. It is not audited',
            },
          ]
        : [{ subject, kind: 'problem', text: `Not offered: ${problem}` }];
    },

    /**
     * The books compared with the chain; nothing if there is no treasury on the network, or its sweeps were never read.
     * @throws NodesUnavailable
     */
    async compareWithChain(on: ConnectedNetwork, signal: AbortSignal): Promise<LedgerCheck[]> {
      const here = networkAt(context, placeOf(on));
      const compared = here && (await compareWithChain(context, here, signal));
      return compared ? chainChecks(compared, on) : [];
    },
  };
}
