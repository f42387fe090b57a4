/** Builds the transaction that pays exactly what a payment still needs. All of its data comes from the server. */
import type { Payment } from '../contract/checkout.js';
import { decimalOf } from '../contract/decimal.js';
import { toUnits } from '../contract/units.js';
import { amountDue } from '../money/amount-due.js';
import { isAddress, toHex } from './provider.js';

export interface Transfer {
  readonly chainId: number;
  /** In the asset's smallest unit on the chain. */
  readonly amount: bigint;
  /** The token's contract; undefined for the network's own coin. */
  readonly contract: string | undefined;
  /** The payment's address. */
  readonly recipient: string;
  /** The transaction that the wallet should send: to the recipient itself, or to the token's contract. */
  readonly transaction: { readonly to: string; readonly value: string; readonly data?: string };
}

/** The selector of `transfer(address,uint256)`. */
const transferSelector = '0xa9059cbb';

/** Undefined if a wallet cannot pay it: the server's data for it is missing or invalid. */
export function transferOf(payment: Payment): Transfer | undefined {
  const { evm, addressInformation } = payment;
  const recipient = addressInformation?.address;
  if (!evm || !isAddress(recipient)) return undefined;
  const { chainId, contract } = evm;
  const amount = unitsDue(payment, evm.decimals);
  if (amount === undefined || !Number.isSafeInteger(chainId) || chainId < 1) return undefined;
  if (contract === undefined) {
    const transaction = { to: recipient, value: toHex(amount) };
    return { chainId, amount, contract, recipient, transaction };
  }
  if (!isAddress(contract) || isSame(contract, recipient)) return undefined;
  const data = transferSelector + word(recipient.slice(2).toLowerCase()) + word(amount.toString(16));
  const transaction = { to: contract, value: '0x0', data };
  return { chainId, amount, contract, recipient, transaction };
}

/** True if both send the same amount to the same address. */
export function isSameTransfer(a: Transfer, b: Transfer): boolean {
  return (
    a.chainId === b.chainId &&
    a.amount === b.amount &&
    a.contract === b.contract &&
    a.recipient === b.recipient
  );
}

export const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Pads to the 32 bytes of an argument. */
export const word = (hex: string): string => hex.padStart(64, '0');

function unitsDue(payment: Payment, decimals: number): bigint | undefined {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 36) return undefined;
  try {
    const units = toUnits(decimalOf(amountDue(payment)), decimals);
    return units > 0n && units < 1n << 256n ? units : undefined;
  } catch {
    // The chain cannot express the amount. Nothing is ever rounded.
    return undefined;
  }
}
