/** The rules of the sandbox: what secret test keys can do to the simulated networks and to their merchant's clock. */
import type { Input, sandbox } from 'crypto-checkout/contract';
import type { Network } from '../chains/networks.js';
import { describeInvalid, parseAddress } from '../addresses/formats.js';
import type { NetworkRef } from '../chains/chain.js';
import { merchantOf } from '../addresses/owners.js';
import type { Scanner } from '../scanning/scanner.js';
import type { SimulatedChains } from '../chains/simulated/simulated-chain.js';
import type { TestClock } from '../chains/simulated/test-clock.js';
import { parseAmount } from '../money/amounts.js';
import type { RoomDeps } from '../db/room-deps.js';
import { Problem } from '../shared/problem.js';
import type { Transaction } from '../db/engine.js';

export type Sandbox = ReturnType<typeof createSandbox>;

interface SandboxDeps extends RoomDeps {
  readonly simulatedChains: SimulatedChains;
  readonly scanner: Scanner;
  readonly clock: TestClock;
  /** Runs the jobs that depend on a network's state, after it was scanned. */
  afterNetworkChange(): Promise<void>;
  /** Runs the jobs that depend on the time, after all networks were scanned. */
  afterClockChange(): Promise<void>;
}

export function createSandbox(deps: SandboxDeps) {
  const { simulatedChains, scanner, clock, currencies, log } = deps;
  const afterNetworkChange = shared(() => deps.afterNetworkChange());
  const afterClockChange = shared(() => deps.afterClockChange());

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

  function addressOn(network: Network, text: string): string {
    const canonical = parseAddress(network, text);
    if (canonical === undefined) {
      const message = describeInvalid(text, `This is not a valid address on ${network.name}`);
      throw new Problem('invalid_address', message, { param: 'address' });
    }
    return canonical;
  }

  /** A scan can fail because somebody else reorganised the network while it was read. Then it is repeated once. */
  const scan = (network: NetworkRef) => scanner.scanNow(network).catch(() => scanner.scanNow(network));

  /**
   * Scans and runs the jobs that depend on the change. The change is committed by then: if a scan fails, as when the
   * database is busy, the scanner has logged it and retries automatically, so the caller gets no failure.
   */
  const settle = async (scans: readonly Promise<void>[], advance: () => Promise<void>): Promise<void> => {
    await Promise.allSettled(scans);
    await advance().catch((error: unknown) => log.warn({ err: error }, 'A job after a sandbox call failed'));
  };

  return {
    /**
     * Sends to an address of one of the merchant's payments or wallets. Returns the transaction's hash.
     * Problems: `unsupported_currency`, `invalid_address`, `validation_error`.
     */
    async transfer(
      transaction: Transaction,
      merchantId: string,
      request: Input<typeof sandbox.transfer>['body'],
    ): Promise<string> {
      const { network: networkCode, currency: currencyCode, amount } = request;
      const { network, currency } = currencies.option('test', currencyCode, networkCode);
      const address = addressOn(network, request.address);
      // Another merchant's address gets the same refusal as an unknown one.
      if ((await merchantOf(transaction, 'test', address)) !== merchantId) {
        throw new Problem(
          'invalid_address',
          'This address belongs to none of your payments and wallets. Send to the address of a locked test payment',
          { param: 'address' },
        );
      }
      return simulatedChains.send(transaction, {
        merchantId,
        network: network.code,
        currency: currency.code,
        address,
        amount: parseAmount(amount, currency, 'amount', currency.decimals),
      });
    },

    /** Adds blocks and returns the new head. Problem: `unsupported_currency` if the network is unknown. */
    async mine(transaction: Transaction, network: string, count: number) {
      const { code } = networkOf(network);
      return { network: code, ...(await simulatedChains.mine(transaction, code, count)) };
    },

    /**
     * Replaces blocks, and drops only the merchant's own transfers. Returns the new head.
     * Problems: `unsupported_currency` if the network is unknown, `invalid_address`.
     */
    async reorg(
      transaction: Transaction,
      merchantId: string,
      { network: networkCode, depth, keep, address }: Input<typeof sandbox.reorg>['body'],
    ) {
      const network = networkOf(networkCode);
      const place = address === undefined ? undefined : addressOn(network, address);
      const reorg = { merchantId, network: network.code, depth, keep, address: place };
      return { network: network.code, ...(await simulatedChains.reorg(transaction, reorg)) };
    },

    /** Moves the merchant's clock. Returns its time after the commit, epoch milliseconds. Problem: `validation_error`. */
    advanceClock: (transaction: Transaction, merchantId: string, seconds: number): Promise<number> =>
      clock.advance(transaction, merchantId, seconds),

    /** Call it when a change to a network has been committed. Waits until payments reflect it. */
    async syncNetwork(network: string): Promise<void> {
      await settle([scan({ mode: 'test', network: networkOf(network).code })], afterNetworkChange);
    },

    /** Call it when a change to the clock has been committed. Waits until payments reflect it. */
    async syncClock(): Promise<void> {
      await clock.refresh();
      const networks = currencies.networks('test');
      await settle(
        networks.map(({ mode, code }) => scan({ mode, network: code })),
        afterClockChange,
      );
    },
  };
}

/** Runs one at a time. Calls that wait for their turn share one run, which begins after all of them were made. */
function shared(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        running = work();
        return running;
      });
    return next;
  };
}
