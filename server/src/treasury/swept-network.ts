/** A network that the gas key sweeps: who signs, within which limits, and what was logged last. */
import type { Logger } from 'pino';
import { toUnits as parseUnits } from 'crypto-checkout/contract';
import { coinOf } from '../chains/assets.js';
import type { SweepSettings } from '../chains/config/networks-file.js';
import type { EvmConnected } from './context.js';
import type { GasAccount } from './gas-transactions.js';
import { signTransaction, type SignedEvmTransaction, type UnsignedTransaction } from './transaction.js';

export interface SweptNetwork extends Pick<EvmConnected, 'evm'> {
  readonly connected: EvmConnected;
  readonly account: GasAccount;
  /** The currency of the network's own coin. */
  readonly coin: string;
  readonly chainId: number;
  readonly limits: Limits;
  sign(transaction: UnsignedTransaction): SignedEvmTransaction;
  /** Logs why nothing is swept, unless that was the last thing logged. Undefined once something is. */
  logReason(reason: string | undefined): void;
}

export interface Limits {
  /** In cents. */
  readonly minValue: bigint;
  /** In wei per gas. */
  readonly maxGasPrice: bigint;
  /** In wei. */
  readonly dailyBudget: bigint;
}

const dollarDecimals = 2;

/** Undefined if the configuration does not let the gas key sweep the network. */
export function openSweptNetwork(
  log: Pick<Logger, 'warn'>,
  connected: EvmConnected,
  sender: string,
  privateKey: Uint8Array,
): SweptNetwork | undefined {
  const {
    evm,
    sweeps,
    chainId,
    chainAssets,
    network: { mode, code },
  } = connected;
  const coin = coinOf(chainAssets);
  if (!sweeps || !coin) return undefined;
  let logged: string | undefined;
  return {
    ...{ connected, evm, chainId, coin: coin.currency, limits: limitsOf(sweeps) },
    account: { mode, network: code, sender },
    sign: (transaction) => signTransaction(transaction, privateKey),
    logReason(reason) {
      if (logged === reason) return;
      logged = reason;
      if (reason !== undefined)
        log.warn({ mode, network: code }, `The gas key ${sender} does not sweep: ${reason}`);
    },
  };
}

function limitsOf({ minValue, maxGasPriceGwei, dailyBudget }: SweepSettings): Limits {
  return {
    minValue: parseUnits(minValue, dollarDecimals),
    maxGasPrice: parseUnits(maxGasPriceGwei, 9),
    dailyBudget: parseUnits(dailyBudget, 18),
  };
}
