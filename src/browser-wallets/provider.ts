/** A wallet in the browser (EIP-1193), and the parsers of its answers and errors. Nothing from it is trusted. */

/** @see https://eips.ethereum.org/EIPS/eip-1193 */
export interface Provider {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

export interface Wallet {
  readonly id: string;
  /** As the wallet calls itself; empty if it has no name. Only ever shown as text. */
  readonly name: string;
  /** A `data:image/…` URL. Only ever shown in an `<img>`, where scripts do not run. */
  readonly icon: string | undefined;
  readonly provider: Provider;
}

/** The reason that nothing was sent. Each has a text. */
export type Refusal =
  | 'walletRejected'
  | 'walletPending'
  | 'walletFunds'
  | 'walletFee'
  | 'walletAccount'
  | 'walletChain'
  | 'walletUnknownChain'
  | 'walletChanged'
  | 'walletAddressChanged'
  | 'walletEnded'
  | 'walletFailed'
  | 'problemNetwork';

/** Thrown when nothing was sent. */
export class WalletRefusal extends Error {
  override readonly name = 'WalletRefusal';
  readonly reason: Refusal;

  constructor(reason: Refusal, options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}

export const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value);

/** @returns in lower case; undefined if it is not a transaction hash */
export function readHash(value: unknown): string | undefined {
  return typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value) ? value.toLowerCase() : undefined;
}

/** Reads a quantity in hex: `0x1`. Some wallets send the chain id as a number. */
export function readQuantity(value: unknown): bigint | undefined {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value);
  return isSafeCount(value) ? BigInt(value) : undefined;
}

export const isSafeCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

export const toHex = (value: bigint | number): string => `0x${value.toString(16)}`;

/** The code of a wallet's error, even if the wallet has wrapped it in another one. */
export function errorCode(error: unknown): number | undefined {
  const { code, data, originalError, cause } = fieldsOf(error);
  for (const inner of [originalError, fieldsOf(data)['originalError'], cause]) {
    const innerCode = fieldsOf(inner)['code'];
    if (typeof innerCode === 'number') return innerCode;
  }
  // ethers and some wallets name a rejection by text.
  if (code === 'ACTION_REJECTED') return 4001;
  return typeof code === 'number' ? code : undefined;
}

/**
 * The meaning of an error that proves that nothing was sent. Undefined for all others: after those, the wallet may have
 * sent the transaction anyway.
 */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof WalletRefusal) return error.reason;
  switch (errorCode(error)) {
    case 4001:
      return 'walletRejected';
    case -32002:
      return 'walletPending';
    case 4100:
      return 'walletAccount';
    case 4901:
    case 4902:
      return 'walletChain';
    case 4200:
    case -32601:
    case -32602:
      return 'walletFailed';
    default:
      return fundsRefusal(String(fieldsOf(error)['message']));
  }
}

/** Nodes have no code of their own for this. */
function fundsRefusal(message: string): Refusal | undefined {
  if (/exceeds (the )?balance/i.test(message)) return 'walletFunds';
  return /insufficient funds/i.test(message) ? 'walletFee' : undefined;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
