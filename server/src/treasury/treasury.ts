/** Treasuries: forwarders that payers pay to, sweeps to the merchant's own account, and the books of both. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DepositKeys } from '../addresses/deposit-keys.js';
import type { ConnectedNetwork } from '../chains/connect.js';
import type { Ledger } from '../ledger/ledger.js';
import type { AuditLog } from '../merchants/audit-log.js';
import type { Currencies } from '../money/currencies.js';
import type { RateSource } from '../money/rates.js';
import type { Feature, Job } from '../shared/feature.js';
import type { Reader } from '../db/engine.js';
import type { RoomDeps } from '../db/room-deps.js';
import { orStartError, StartError } from '../shared/start-error.js';
import type { RestoreGuard } from '../restore/guard.js';
import type { Transfers } from '../withdrawals/transfers.js';
import { compareWithChain, type ChainBalances } from './chain-balances.js';
import {
  createForwarderChecks,
  evmNetworks,
  findForwarderProblem,
  type ForwarderChecks,
} from './forwarder-checks.js';
import { forwarderFactory } from './forwarder-factory.js';
import { createHandOver } from './hand-over.js';
import { hasSigned } from './gas-transactions.js';
import { createGasSweeper, type GasSweeper, type GasSweeperDeps } from './gas-sweeper.js';
import { readGasKey } from './key-file.js';
import { createPayoutExports, type PayoutExports } from './payout-exports.js';
import { planSweeps, type PlanRequest, type SweepPlan } from './plan.js';
import { readTreasuryStatus, treasuryFigures, type TreasuryStatus } from './status.js';
import { createSweeps, type Sweeps } from './sweeps.js';
import type { IsCrossChecked } from './second-node.js';
import { createSettledByHand } from './settled-by-hand.js';
import { ensureUsableTreasury } from './usable-treasury.js';
import { createTreasuryWatcher, type TreasuryWatcher } from './treasury-watcher.js';

export { createForwarderSource } from './forwarders.js';

export interface TreasuryDeps extends RoomDeps {
  readonly currencies: Currencies;
  readonly rates: RateSource;
  readonly ledger: Ledger;
  readonly depositKeys: DepositKeys;
  readonly transfers: Pick<Transfers, 'settle' | 'unsettle'>;
  readonly auditLog: AuditLog;
  readonly isCrossChecked: IsCrossChecked;
  readonly guard: RestoreGuard;
  /** The real networks of all kinds. */
  readonly connected: readonly ConnectedNetwork[];
  /** The files of the key that pays for sweeps, and of its password. */
  readonly gasKey: Parameters<typeof readGasKey>[0] | undefined;
  readonly log: Logger;
}

export interface Treasury extends Feature, Pick<ForwarderChecks, 'offered'> {
  readonly forwarderChecks: ForwarderChecks;
  readonly watcher: TreasuryWatcher;
  readonly payoutExports: PayoutExports;
  readonly walletHandOver: ReturnType<typeof createHandOver>;
  /** Refuses what cannot be a treasury. Problem: `validation_error`. */
  ensureUsable(treasury: string): Promise<void>;
  /** Whether an address is a treasury, a factory or a gas key. Asks no node. */
  isOwnAccount(reader: Reader, address: string): Promise<boolean>;
  /** Asks no node. */
  status(): Promise<TreasuryStatus[]>;
  /** What is worth sweeping, on a network. Reads the chain. @throws NodesUnavailable */
  planSweeps(request: PlanRequest, signal: AbortSignal): Promise<SweepPlan>;
  readonly sweeps: Sweeps;
  readonly settledByHand: ReturnType<typeof createSettledByHand>;
  /** @param times that tests shorten */
  createGasSweeper(key: Uint8Array, times?: Pick<GasSweeperDeps, 'planEveryMs' | 'stuckMs'>): GasSweeper;
  /**
   * Whether a merchant's treasury can be paid on a network, and why not; undefined if it has none there.
   * @throws NodesUnavailable
   */
  check(
    on: ConnectedNetwork,
    merchantId: string | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly problem: string | undefined } | undefined>;
  /**
   * The books beside the chain; undefined if there is no treasury on the network, or its sweeps were never read.
   * @throws NodesUnavailable
   */
  compareWithChain(on: ConnectedNetwork, signal: AbortSignal): Promise<ChainBalances | undefined>;
}

/** A node that hangs must not delay the start for longer. */
const firstCheckMs = 3000;

export function createTreasury(deps: TreasuryDeps): Treasury {
  const { database, depositKeys, transfers, connected, gasKey, log } = deps;
  const networks = evmNetworks(connected);
  const forwarderChecks = createForwarderChecks({
    networks,
    forwarders: () => depositKeys.forwarders(),
    log,
  });
  const payoutExports = createPayoutExports({ ...deps, networks });
  const watcher = createTreasuryWatcher({
    ...deps,
    networks,
    unsettle: (transaction, id, txHash) => transfers.unsettle(transaction, id, txHash),
    hold: (transaction, transfer) => payoutExports.holdAgain(transaction, transfer, 'treasury watcher'),
    settle: (transaction, id, txHash) => transfers.settle(transaction, id, txHash, 0n, 'treasury'),
  });
  const newSweeper: Treasury['createGasSweeper'] = (key, times) =>
    createGasSweeper({ ...deps, networks, ...times }, key);
  const plan: Treasury['planSweeps'] = (request, signal) =>
    planSweeps({ ...deps, reader: database.reader }, request, signal);
  const status = () => database.snapshot((reader) => readTreasuryStatus({ ...deps, networks }, reader));
  let sweeper: GasSweeper | undefined;

  return {
    forwarderChecks,
    watcher,
    payoutExports,
    planSweeps: plan,
    sweeps: createSweeps({ ...deps, networks, planSweeps: plan }),
    walletHandOver: createHandOver({ ...deps, networks }),
    settledByHand: createSettledByHand({ ...deps, networks }),
    ensureUsable: (treasury) => ensureUsableTreasury(deps, database.reader, treasury),
    async isOwnAccount(reader, address) {
      const lower = address.toLowerCase();
      const { address: factory, implementation, deployer } = forwarderFactory;
      const treasuries = (await depositKeys.list(reader)).map((key) => key.treasury);
      const own = [factory, implementation, deployer, sweeper?.address, ...treasuries];
      return own.some((one) => one?.toLowerCase() === lower) || hasSigned(reader, lower);
    },
    status,
    figures: () => treasuryFigures(status, deps.clock.real),
    offered: (network, sources) => forwarderChecks.offered(network, sources),
    createGasSweeper: newSweeper,

    async prepare(signal) {
      if (gasKey) {
        // Takes about a second.
        const key = await orStartError('GAS_KEY_FILE, GAS_KEY_PASSWORD_FILE: the key cannot be opened', () =>
          readGasKey(gasKey),
        );
        sweeper = newSweeper(key);
        const { address } = sweeper;
        const isTreasury = depositKeys
          .forwarders()
          .some(({ source }) => source.forwarder.treasury === address);
        if (isTreasury) {
          throw new StartError(
            `GAS_KEY_FILE: its address ${address} is the treasury of a merchant, and its key must not lie on the server. Make another gas key with "sweeps new-key"`,
          );
        }
        log.info({ address: sweeper.address }, 'Sweeps are paid by the gas key');
      }
      const isSweeping = connected.some(({ sweeps }) => sweeps);
      if (isSweeping && !gasKey)
        log.warn('NETWORKS_FILE has sweeps, but GAS_KEY_FILE is not set: nothing is swept');
      if (gasKey && !isSweeping) log.warn('GAS_KEY_FILE is set, but no network in NETWORKS_FILE has sweeps');
      // So that networks of treasuries are offered from the first request on.
      await Promise.race([forwarderChecks.refresh(signal), delay(firstCheckMs, undefined, { ref: false })]);
    },

    jobs() {
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

    async check(on, merchantId, signal) {
      const { mode, code } = on.network;
      const inMode = networks.filter(({ network }) => network.mode === mode);
      const here = inMode.find(({ network }) => network.code === code);
      const forwarders = depositKeys
        .forwarders()
        .find(({ scope }) => scope.merchantId === merchantId && scope.mode === mode);
      if (!here || !forwarders) return undefined;
      const others = inMode.filter((one) => one !== here);
      return { problem: await findForwarderProblem(here, forwarders, others, signal) };
    },

    async compareWithChain({ network: { mode, code } }, signal) {
      const here = networks.find(({ network }) => network.mode === mode && network.code === code);
      return here && compareWithChain({ ...deps, reader: database.reader }, here, signal);
    },
  };
}
