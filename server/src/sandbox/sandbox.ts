/** The rules of the sandbox: what test keys may do to the simulated networks and to test mode's clock. */
import { countDecimals, toUnits } from 'crypto-checkout/contract';
import type { Network } from '../chains/networks.js';
import { parseAddress } from '../chains/addresses/formats.js';
import type { ChainHead } from '../chains/chain.js';
import type { Scanner } from '../chains/scanner.js';
import type { SimulatedChains } from '../chains/simulated/simulated-chain.js';
import type { TestClock } from '../chains/simulated/test-clock.js';
import type { Currencies } from '../money/currencies.js';
import { invalidField, Problem } from '../shared/problem.js';
import type { Transaction } from '../db/engine.js';

export interface Sandbox {
  /** Problems: `unsupported_currency`, `invalid_address`, `validation_error`. Answers the transaction's hash. */
  transfer(transaction: Transaction, transfer: TransferRequest): Promise<string>;
  /** Problem: `unsupported_currency` for an unknown network, as in what follows. Answers the new head. */
  mine(transaction: Transaction, network: string, count: number): Promise<NetworkHead>;
  reorg(transaction: Transaction, network: string, depth: number, keep: boolean): Promise<NetworkHead>;
  /** Answers what the clock says after the commit, epoch milliseconds. */
  advanceClock(transaction: Transaction, seconds: number): Promise<number>;
  /** After the commit of a change to a network: waits until payments know of it. */
  settleNetwork(network: string): Promise<void>;
  /** After the commit of a change to the clock: waits until payments know of it. */
  settleClock(): Promise<void>;
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
  /** Runs what a network's new state sets off, once it is scanned. */
  afterNetworkChange(): Promise<void>;
  /** Runs what time alone sets off, once all networks are scanned. */
  afterClockChange(): Promise<void>;
}

export function createSandbox(deps: SandboxDeps): Sandbox {
  const { simulatedChains, scanner, clock, currencies } = deps;

  function networkOf(code: string): Network {
    const network = currencies.network('test', code);
    if (!network) {
      throw new Problem('unsupported_currency', 'There is no simulated network of this name', {
        param: 'network',
      });
    }
    return network;
  }

  return {
    async transfer(transaction, { network: networkCode, currency: currencyCode, address, amount }) {
      const { network, currency } = currencies.option('test', currencyCode, networkCode);
      const canonical = parseAddress(network, address);
      if (canonical === undefined) {
        throw new Problem('invalid_address', `This is no address of ${network.name}`, { param: 'address' });
      }
      if (countDecimals(amount) > currency.decimals) {
        throw invalidField('amount', `${currency.code} has at most ${currency.decimals} decimals`);
      }
      return simulatedChains.send(transaction, {
        network: network.code,
        currency: currency.code,
        address: canonical,
        amount: toUnits(amount, currency.decimals),
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

    async settleNetwork(network) {
      await scanner.scanNow({ mode: 'test', network: networkOf(network).code });
      await deps.afterNetworkChange();
    },

    async settleClock() {
      await clock.refresh();
      await Promise.all(
        currencies.networks('test').map(({ mode, code }) => scanner.scanNow({ mode, network: code })),
      );
      await deps.afterClockChange();
    },
  };
}
