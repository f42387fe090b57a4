/** Pays from a wallet: connects, goes to the right chain, checks once more, and asks for the transfer. */
import type { Payment } from '../contract/checkout.js';
import { connect, readAccounts, readChain, switchChain, type Chain } from './connection.js';
import { readHash, readQuantity, refusalOf, toHex, WalletRefusal, type Provider } from './provider.js';
import { readSent, rememberAsked } from './sent-memory.js';
import { isSame, isSameTransfer, transferOf, word, type Transfer } from './transfer.js';

/** The payer's next step in the wallet. */
export type Step = 'walletConnecting' | 'walletSwitching' | 'walletConfirming';

export interface PayDeps {
  /**
   * Asks the server for the payment. Undefined if it can no longer be paid. @throws WalletRefusal if it cannot be read
   */
  readPayable(): Promise<Payment | undefined>;
  onStep(step: Step): void;
  /** Aborted when the payer stops waiting. The wallet gets no requests from then on. */
  readonly signal: AbortSignal;
  /** The payer was warned that something was sent already, and wants to send again. */
  readonly isAgain: boolean;
}

/**
 * Sends the amount due at this moment. Sent transfers are remembered, but prove nothing: only the server knows what has
 * arrived.
 *
 * @returns `unsure` if the wallet may have sent it, but did not say so
 * @throws WalletRefusal if nothing was sent, and `AbortError` if the payer stopped before the wallet was asked
 */
export async function payFromWallet(provider: Provider, deps: PayDeps): Promise<'sent' | 'unsure'> {
  const { signal, onStep, isAgain } = deps;
  onStep('walletConnecting');
  const { payment, transfer } = await readTransfer(deps);
  const from = await connect(provider, signal);
  if ((await readChain(provider, signal)) !== BigInt(transfer.chainId)) {
    onStep('walletSwitching');
    await switchChain(provider, chainOf(payment), signal);
  }
  await checkFunds(provider, from, transfer, signal);
  // Connecting and switching can take minutes. Nothing may have changed in the meantime, on either side.
  const current = await readTransfer(deps);
  if (!isSame(current.transfer.recipient, transfer.recipient)) {
    throw new WalletRefusal('walletAddressChanged');
  }
  if (!isSameTransfer(current.transfer, transfer)) throw new WalletRefusal('walletChanged');
  const [account] = await readAccounts(provider, 'eth_accounts', signal);
  if (account === undefined || !isSame(account, from)) throw new WalletRefusal('walletAccount');
  if ((await readChain(provider, signal)) !== BigInt(transfer.chainId))
    throw new WalletRefusal('walletChain');
  if (!isAgain && readSent(current.payment)) return 'unsure';
  onStep('walletConfirming');
  return send(provider, current.payment, { from, chainId: toHex(transfer.chainId), ...transfer.transaction });
}

async function send(provider: Provider, payment: Payment, transaction: object): Promise<'sent' | 'unsure'> {
  const asked = rememberAsked(payment);
  try {
    const hash = readHash(await provider.request({ method: 'eth_sendTransaction', params: [transaction] }));
    if (hash === undefined) return 'unsure';
    asked.remember(hash);
    return 'sent';
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) return 'unsure';
    asked.forget();
    throw new WalletRefusal(refusal, { cause: error });
  }
}

async function readTransfer({ readPayable, signal }: PayDeps): Promise<{
  readonly payment: Payment;
  readonly transfer: Transfer;
}> {
  const payment = await readPayable();
  signal.throwIfAborted();
  const transfer = payment && transferOf(payment);
  if (!payment || !transfer) throw new WalletRefusal('walletEnded');
  return { payment, transfer };
}

function chainOf({ evm, networkName, currencyNetwork = '' }: Payment): Chain {
  if (!evm) throw new WalletRefusal('walletEnded');
  return { ...evm, name: networkName ?? currencyNetwork };
}

/**
 * Reports early that the account has too little, if the wallet can say so. Otherwise the wallet reports it when paying.
 */
async function checkFunds(
  provider: Provider,
  from: string,
  { amount, contract }: Transfer,
  signal: AbortSignal,
): Promise<void> {
  const balanceOf = `0x70a08231${word(from.slice(2).toLowerCase())}`;
  const call =
    contract === undefined
      ? { method: 'eth_getBalance', params: [from, 'latest'] }
      : { method: 'eth_call', params: [{ to: contract, data: balanceOf }, 'latest'] };
  let balance: bigint | undefined;
  try {
    balance = readQuantity(await provider.request(call));
  } catch {
    // Not every wallet reads the chain for a page.
  }
  signal.throwIfAborted();
  if (balance !== undefined && balance < amount) throw new WalletRefusal('walletFunds');
}
