/** Wallets in the browser, as extensions would be: each announces itself to the page (EIP-6963), and the test answers its requests. */
import type { Page } from 'playwright-core';
import { toHex, type Hex } from 'viem';
import { errorCode, type Provider } from '../../src/browser-wallets/provider.js';
import { ScriptedWallet, walletError } from '../support/scripted-wallet.js';

/** As the page passes it to the wallet. */
interface WalletTransaction {
  readonly from?: Hex;
  readonly to: Hex;
  readonly data?: Hex;
  readonly value?: Hex;
  readonly chainId?: Hex;
}

export interface SendingOptions {
  readonly account: string;
  /** The chain that it shows at first. */
  readonly chainId?: number;
  /** The other chains that it knows. The page can add more. */
  readonly chains?: readonly number[];
  /** False if it sends several calls one by one; absent if it does not even know the method that asks. */
  readonly isAtomic?: boolean;
  /** Sends a transaction, and returns its hash. */
  readonly send: (transaction: WalletTransaction) => Promise<string>;
}

/** The id of each batch. */
export const batchId = '0xba7c4';

export const declined = () => walletError(4001, 'User rejected the request.');

/** A wallet that sends over a chain, several calls as one too (EIP-5792). */
export class SendingWallet extends ScriptedWallet {
  /** The transactions that it has sent. */
  readonly hashes: string[] = [];
  /** Its owner, asked to send. */
  owner: 'confirms' | 'declines' = 'confirms';
  /** Its report of a batch: under way, or ended, with or without its transactions. */
  report: 'pending' | 'ended' | 'with transactions' = 'with transactions';

  constructor({ account, chainId = 1, chains = [], isAtomic, send }: SendingOptions) {
    super();
    this.account = account;
    this.chainId = chainId;
    const known = new Set([chainId, ...chains]);
    const chainOf = (chain: unknown) => Number((chain as { chainId: Hex }).chainId);
    const sendOne = async (transaction: unknown) => {
      if (this.owner === 'declines') throw declined();
      const hash = await send(transaction as WalletTransaction);
      this.hashes.push(hash);
      return hash;
    };
    this.answers['wallet_addEthereumChain'] = ([chain]) => {
      known.add(chainOf(chain));
      return null;
    };
    this.answers['wallet_switchEthereumChain'] = ([chain]) => {
      if (!known.has(chainOf(chain))) throw walletError(4902, 'Unrecognized chain ID');
      this.chainId = chainOf(chain);
      return null;
    };
    this.answers['eth_sendTransaction'] = ([transaction]) => sendOne(transaction);
    this.answers['wallet_sendCalls'] = async ([batch]) => {
      for (const call of (batch as { calls: readonly unknown[] }).calls) await sendOne(call);
      return { id: batchId };
    };
    this.answers['wallet_getCallsStatus'] = () => {
      if (this.report === 'pending') return { status: 100 };
      const reported = this.report === 'ended' ? [] : this.hashes;
      return { status: 200, receipts: reported.map((transactionHash) => ({ transactionHash })) };
    };
    if (isAtomic === undefined) return;
    this.answers['wallet_getCapabilities'] = () =>
      isAtomic ? { [toHex(this.chainId)]: { atomic: { status: 'ready' } } } : {};
  }

  get sends(): readonly string[] {
    return this.calls.map(({ method }) => method).filter((method) => /send/i.test(method));
  }
}

/** Errors lose their code between the test and the page. */
interface Reply {
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly code: number | undefined };
}

/** Gives the page a wallet: the open document, and those that it opens later. @param icon a `data:` URL */
export async function giveWallet(page: Page, wallet: Provider, icon = ''): Promise<void> {
  const reply = async (method: string, params: readonly unknown[]): Promise<Reply> => {
    try {
      return { result: await wallet.request({ method, params }) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { error: { message, code: errorCode(error) } };
    }
  };
  await page.exposeFunction('testWallet', reply);
  await page.addInitScript(announceWallet, icon);
  await page.evaluate(announceWallet, icon);
}

/** Runs in the page, where `testWallet` answers. */
function announceWallet(icon: string): void {
  const { testWallet } = globalThis as unknown as {
    testWallet(method: string, params: readonly unknown[]): Promise<Reply>;
  };
  const provider = {
    async request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
      const { result, error } = await testWallet(method, params);
      if (error) throw Object.assign(new Error(error.message), { code: error.code });
      return result;
    },
  };
  const uuid = '6f4a1f0e-6c70-4d7b-9a54-000000000001';
  const detail = Object.freeze({ info: { uuid, name: 'Test Wallet', icon, rdns: 'test.wallet' }, provider });
  const announce = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  addEventListener('eip6963:requestProvider', announce);
  announce();
}

/** A wallet for pages of any engine. It has no account, and sends nothing. */
export const idleWallet = `<script>
  testWallet = async () => ({ result: [] });
  (${announceWallet.toString()})('');
</script>`;
