/** The rules of the sandbox: what test keys can do to the simulated networks and to test mode's clock. */
import type { Network } from '../chains/networks.js';
import { parseAddress } from '../chains/addresses/formats.js';
import type { ChainHead } from '../chains/chain.js';
import type { Scanner } from '../chains/scanner.js';
import type { SimulatedChains } from '../chains/simulated/simulated-chain.js';
import type { TestClock } from '../chains/simulated/test-clock.js';
import { parseAmount } from '../money/amounts.js';
import type { Currencies } from '../money/currencies.js';
import { Problem } from '../shared/problem.js';
import type { Transaction } from '../db/engine.js';

export interface Sandbox {
  /** Returns the transaction's hash. Problems: `unsupported_currency`, `invalid_address`, `validation_error`. */
  transfer(transaction: Transaction, transfer: TransferRequest): Promise<string>;
  /** Adds blocks and returns the new head. Problem: `unsupported_currency` if the network is unknown. */
  mine(transaction: Transaction, network: string, count: number): Promise<NetworkHead>;
  /** Replaces blocks and returns the new head. Problem: `unsupported_currency` if the network is unknown. */
  reorg(transaction: Transaction, network: string, depth: number, keep: boolean): Promise<NetworkHead>;
  /** Returns the clock's time after the commit, epoch milliseconds. Problem: `validation_error`. */
  advanceClock(transaction: Transaction, seconds: number): Promise<number>;
  /** Call it when a change to a network has been committed. Waits until payments reflect it. */
  syncNetwork(network: string): Promise<void>;
  /** Call it when a change to the clock has been committed. Waits until payments reflect it. */
  syncClock(): Promise<void>;
}

export interface TransferRequest {
  readonly network: string;
  readonly currency: string;
  readonly address: string;
  /** A plain decimal, more than 0. */
  readonly amount: string;
}

export interface NetworkHead extends ChainHead {
  readonly network: string;
}

export interface SandboxDeps {
  readonly simulatedChains: SimulatedChains;
  readonly scanner: Scanner;
  readonly clock: TestClock;
  readonly currencies: Currencies;
  /** Runs the jobs that depend on a network's state, after it was scanned. */
  afterNetworkChange(): Promise<void>;
  /** Runs the jobs that depend on the time, after all networks were scanned. */
  afterClockChange(): Promise<void>;
}

export function createSandbox(deps: SandboxDeps): Sandbox {
  const { simulatedChains, scanner, clock, currencies } = deps;

  function networkOf(code: string): Network {
    const network = currencies.network('test', code);
    if (!network) {
      throw new Problem(
        'unsupported_currency',
        `There is no simulated network "${code}"; see GET /v1/currencies`,
        { param: 'network' },
      );
    }
    return network;
  }

  return {
    async transfer(transaction, { network: networkCode, currency: currencyCode, address, amount }) {
      const { network, currency } = currencies.option('test', currencyCode, networkCode);
      const canonical = parseAddress(network, address);
      if (canonical === undefined) {
        throw new Problem('invalid_address', `This is not a valid address on ${network.name}`, {
          param: 'address',
        });
      }
      return simulatedChains.send(transaction, {
        network: network.code,
        currency: currency.code,
        address: canonical,
        amount: parseAmount(amount, currency, 'amount', currency.decimals),
      });
    },

    async mine(transaction, network, count) {
      const { code } = networkOf(network);
      return { network: code, ...(await simulatedChains.mine(transaction, code, count)) };
    },

    async reorg(transaction, network, depth, keep) {
      const { code } = networkOf(network);
      return { network: code, ...(await simulatedChains.reorg(transaction, code, depth, keep)) };
    },

    advanceClock: (transaction, seconds) => clock.advance(transaction, seconds),

    async syncNetwork(network) {
      await scanner.scanNow({ mode: 'test', network: networkOf(network).code });
      await deps.afterNetworkChange();
    },

    async syncClock() {
      await clock.refresh();
      await Promise.all(
        currencies.networks('test').map(({ mode, code }) => scanner.scanNow({ mode, network: code })),
      );
      await deps.afterClockChange();
    },
  };
}
