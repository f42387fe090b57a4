/** Pays from a wallet: connects, goes to the right chain, checks once more, and asks for the transfer. */
import type { EvmAsset, Payment } from '../contract/checkout.js';
import {
  errorCode,
  isAddress,
  readHash,
  readQuantity,
  refusalOf,
  toHex,
  WalletRefusal,
  type Provider,
} from './provider.js';
import { readSent, rememberAsked } from './sent-memory.js';
import { isSame, isSameTransfer, transferOf, word, type Transfer } from './transfer.js';

/** What the payer has to do next in the wallet. */
export type Step = 'walletConnecting' | 'walletSwitching' | 'walletConfirming';

export interface PayDeps {
  /** Asks the server for the payment. Undefined if it cannot be paid any more. @throws WalletRefusal if it cannot be read */
  readPayable(): Promise<Payment | undefined>;
  onStep(step: Step): void;
  /** Aborted when the payer stops waiting. Nothing is asked of the wallet from then on. */
  readonly signal: AbortSignal;
  /** The payer was told that something was sent already, and wants to send again. */
  readonly isAgain: boolean;
}

/**
 * Sends what is due at this moment. What was sent is in the memory of sent transfers, and is no proof of anything: only the
 * server says what has arrived.
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
    await switchChain(provider, payment, signal);
  }
  await checkFunds(provider, from, transfer, signal);
  // Connecting and switching can take minutes. Nothing may have changed meanwhile, on either side.
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

/** Asks a wallet something that sends no money. */
async function ask(
  provider: Provider,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  try {
    return await provider.request({ method, params });
  } catch (error) {
    throw new WalletRefusal(refusalOf(error) ?? 'walletFailed', { cause: error });
  } finally {
    signal.throwIfAborted();
  }
}

async function connect(provider: Provider, signal: AbortSignal): Promise<string> {
  const [account] = await readAccounts(provider, 'eth_requestAccounts', signal);
  if (account === undefined) throw new WalletRefusal('walletFailed');
  return account;
}

async function readAccounts(provider: Provider, method: string, signal: AbortSignal): Promise<string[]> {
  const accounts = await ask(provider, method, [], signal);
  return Array.isArray(accounts) ? accounts.filter(isAddress) : [];
}

async function readChain(provider: Provider, signal: AbortSignal): Promise<bigint> {
  const chainId = readQuantity(await ask(provider, 'eth_chainId', [], signal));
  if (chainId === undefined) throw new WalletRefusal('walletFailed');
  return chainId;
}

const unknownChain = 4902;

async function switchChain(provider: Provider, payment: Payment, signal: AbortSignal): Promise<void> {
  const { evm } = payment;
  if (!evm) throw new WalletRefusal('walletEnded');
  const switchTo = () =>
    ask(provider, 'wallet_switchEthereumChain', [{ chainId: toHex(evm.chainId) }], signal);
  try {
    await switchTo();
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof WalletRefusal ? error.cause : undefined;
    if (errorCode(cause) !== unknownChain) {
      // A wallet that cannot switch leaves it to the payer.
      const isUnable = error instanceof WalletRefusal && error.reason === 'walletFailed';
      throw isUnable ? new WalletRefusal('walletChain', { cause }) : error;
    }
    await addChain(provider, payment, evm, signal);
    // Some wallets add a chain without switching to it.
    if ((await readChain(provider, signal)) !== BigInt(evm.chainId)) await switchTo();
  }
  if ((await readChain(provider, signal)) !== BigInt(evm.chainId)) throw new WalletRefusal('walletChain');
}

/** Adds the chain with the parameters that the server gives; a wallet is never told guessed ones. */
async function addChain(
  provider: Provider,
  { networkName, currencyNetwork = '' }: Payment,
  { chainId, coin, rpcUrl, explorer }: EvmAsset,
  signal: AbortSignal,
): Promise<void> {
  if (rpcUrl === undefined) throw new WalletRefusal('walletUnknownChain');
  const chain = {
    chainId: toHex(chainId),
    chainName: networkName ?? currencyNetwork,
    nativeCurrency: { name: coin, symbol: coin, decimals: 18 },
    rpcUrls: [rpcUrl],
    ...(explorer !== undefined && { blockExplorerUrls: [new URL(explorer).origin] }),
  };
  try {
    await ask(provider, 'wallet_addEthereumChain', [chain], signal);
  } catch (error) {
    signal.throwIfAborted();
    const isRejected = error instanceof WalletRefusal && error.reason !== 'walletFailed';
    throw isRejected ? error : new WalletRefusal('walletUnknownChain', { cause: error });
  }
}

/** Says at once that the account has too little, if the wallet can tell. If not, it will say so itself. */
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
