/** The fee rate of a payout: the node's estimate or the operator's own, within what nodes take and what makes sense. */
import type { FeeRates } from '../networks/bitcoin/utxo-node.js';
import { invalidState } from '../../core/shared/problem.js';
import { amountIn, rateText, type PsbtNetwork } from './context.js';

/** In satoshis per 1000 virtual bytes. More was never needed, and is usually a fee that was typed as a rate. */
const highestRate = 1_000_000n;

/**
 * In satoshis per 1000 virtual bytes. Problem: `invalid_state`.
 * @param given satoshis per virtual byte, with up to three decimals; undefined for the node's estimate
 */
export function chooseFeeRate(given: string | undefined, { estimate, minimum }: FeeRates): bigint {
  if (given === undefined) {
    if (estimate === undefined) {
      throw invalidState(
        'The node cannot estimate a fee yet: it has seen too few transactions. Give one with --fee-rate, in satoshis per virtual byte',
      );
    }
    const rate = estimate > minimum ? estimate : minimum;
    if (rate <= highestRate) return rate;
    throw invalidState(
      `The node estimates ${rateText(rate)} satoshis per virtual byte, which is above the highest rate of ${rateText(highestRate)}. Try again later, or give a lower one with --fee-rate`,
    );
  }
  const rate = parseFeeRate(given);
  if (rate < minimum) {
    throw invalidState(
      `--fee-rate ${given} is below what the node relays now: it takes at least ${rateText(minimum)} satoshis per virtual byte`,
    );
  }
  return rate;
}

/** In satoshis per 1000 virtual bytes. Problem: `invalid_state`. */
export function parseFeeRate(text: string): bigint {
  const [, whole, decimals = ''] = /^(\d{1,9})(?:\.(\d{1,3}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) {
    throw invalidState(`--fee-rate must be satoshis per virtual byte, such as 12 or 1.5, not "${text}"`);
  }
  const rate = BigInt(whole + decimals.padEnd(3, '0'));
  if (rate > highestRate) {
    throw invalidState(
      `--fee-rate ${text} is above the highest rate of ${rateText(highestRate)} satoshis per virtual byte. It is a rate for each byte, not the fee of the transaction`,
    );
  }
  return rate;
}

/** Refuses a fee that is more than the payment. Problem: `invalid_state`. */
export function refuseHighFee(fee: bigint, sum: bigint, { currency }: PsbtNetwork): void {
  if (fee <= sum) return;
  const amount = amountIn(currency);
  throw invalidState(
    `The fee would be ${amount(fee)}, which is more than the ${amount(sum)} that is paid. Wait for more transfers, or give a lower --fee-rate`,
  );
}
