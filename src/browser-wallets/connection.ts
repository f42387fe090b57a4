/** Connects to a wallet in the browser, and brings it to the right chain. Shared by the widget and the console. */
import type { EvmAsset } from '../contract/checkout.js';
import {
  errorCode,
  isAddress,
  readQuantity,
  refusalOf,
  toHex,
  WalletRefusal,
  type Provider,
} from './provider.js';

/** Chain parameters for a wallet that does not know the chain. */
export interface Chain extends Pick<EvmAsset, 'chainId' | 'coin' | 'rpcUrl' | 'explorer'> {
  readonly name: string;
}

/** Asks a wallet something that sends no money. */
export async function ask(
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

export async function connect(provider: Provider, signal: AbortSignal): Promise<string> {
  const [account] = await readAccounts(provider, 'eth_requestAccounts', signal);
  if (account === undefined) throw new WalletRefusal('walletFailed');
  return account;
}

export async function readAccounts(
  provider: Provider,
  method: string,
  signal: AbortSignal,
): Promise<string[]> {
  const accounts = await ask(provider, method, [], signal);
  return Array.isArray(accounts) ? accounts.filter(isAddress) : [];
}

export async function readChain(provider: Provider, signal: AbortSignal): Promise<bigint> {
  const chainId = readQuantity(await ask(provider, 'eth_chainId', [], signal));
  if (chainId === undefined) throw new WalletRefusal('walletFailed');
  return chainId;
}

const unknownChain = 4902;

export async function switchChain(provider: Provider, chain: Chain, signal: AbortSignal): Promise<void> {
  const { chainId } = chain;
  const switchTo = () => ask(provider, 'wallet_switchEthereumChain', [{ chainId: toHex(chainId) }], signal);
  try {
    await switchTo();
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof WalletRefusal ? error.cause : undefined;
    if (errorCode(cause) !== unknownChain) {
      // A wallet that cannot switch leaves the switch to the payer.
      const isUnable = error instanceof WalletRefusal && error.reason === 'walletFailed';
      throw isUnable ? new WalletRefusal('walletChain', { cause }) : error;
    }
    await addChain(provider, chain, signal);
    // Some wallets add a chain without switching to it.
    if ((await readChain(provider, signal)) !== BigInt(chainId)) await switchTo();
  }
  if ((await readChain(provider, signal)) !== BigInt(chainId)) throw new WalletRefusal('walletChain');
}

/** Adds the chain with the server's parameters, never with guessed ones. */
async function addChain(
  provider: Provider,
  { chainId, name, coin, rpcUrl, explorer }: Chain,
  signal: AbortSignal,
): Promise<void> {
  if (rpcUrl === undefined) throw new WalletRefusal('walletUnknownChain');
  const added = {
    chainId: toHex(chainId),
    chainName: name,
    nativeCurrency: { name: coin, symbol: coin, decimals: 18 },
    rpcUrls: [rpcUrl],
    ...(explorer !== undefined && { blockExplorerUrls: [new URL(explorer).origin] }),
  };
  try {
    await ask(provider, 'wallet_addEthereumChain', [added], signal);
  } catch (error) {
    signal.throwIfAborted();
    const isRejected = error instanceof WalletRefusal && error.reason !== 'walletFailed';
    throw isRejected ? error : new WalletRefusal('walletUnknownChain', { cause: error });
  }
}
