/** A network that the gas key sweeps: who signs, within which limits, and what was logged last. */
import type { Logger } from 'pino';
import { toUnits as parseUnits } from 'crypto-checkout/contract';
import { coinOf } from '../chains/assets.js';
import type { SweepSettings } from '../chains/config/networks-file.js';
import type { EvmConnected } from './context.js';
import { signTransaction, type UnsignedTransaction } from './transaction.js';

export type SweptNetwork = NonNullable<ReturnType<typeof openSweptNetwork>>;

const dollarDecimals = 2;

/** Undefined if the configuration does not let the gas key sweep the network. */
export function openSweptNetwork(
  log: Pick<Logger, 'warn'>,
  connected: EvmConnected,
  sender: string,
  privateKey: Uint8Array,
) {
  const { evm, sweeps, chainId, chainAssets } = connected;
  const { mode, code } = connected.network;
  const coin = coinOf(chainAssets);
  if (!sweeps || !coin) return undefined;
  let logged: string | undefined;
  return {
    ...{ connected, evm, chainId, coin: coin.currency, limits: limitsOf(sweeps) },
    account: { mode, network: code, sender },
    sign: (transaction: UnsignedTransaction) => signTransaction(transaction, privateKey),
    /** Logs why nothing is swept, unless that was the last thing logged. Undefined once something is. */
    logReason(reason: string | undefined): void {
      if (logged === reason) return;
      logged = reason;
      if (reason !== undefined)
        log.warn({ mode, network: code }, `The gas key ${sender} does not sweep: ${reason}`);
    },
  };
}

function limitsOf({ minValue, maxGasPriceGwei, dailyBudget }: SweepSettings) {
  return {
    /** In cents. */
    minValue: parseUnits(minValue, dollarDecimals),
    /** In wei per gas. */
    maxGasPrice: parseUnits(maxGasPriceGwei, 9),
    /** In wei. */
    dailyBudget: parseUnits(dailyBudget, 18),
  };
}
