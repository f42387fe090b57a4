/** A wallet that follows a test's script: it declines, waits, gives wrong answers, changes its account or chain. */
import type { Provider } from '../../src/browser-wallets/provider.js';

type Answer = (params: readonly unknown[]) => unknown;

export const account = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
export const otherAccount = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const sentHash = `0x${'ab'.repeat(32)}`;

/** An error as wallets reject with it. */
export function walletError(code: number | string, message = 'No', more: object = {}): Error {
  return Object.assign(new Error(message), { code, ...more });
}

export class ScriptedWallet implements Provider {
  account = account;
  chainId = 31337;
  balance = 10n ** 30n;
  /** Replace the default answers. They can throw. */
  readonly answers: Record<string, Answer> = {};
  readonly calls: { readonly method: string; readonly params: readonly unknown[] }[] = [];

  request({ method, params = [] }: { method: string; params?: readonly unknown[] }): Promise<unknown> {
    this.calls.push({ method, params });
    return Promise.resolve().then(() => (this.answers[method] ?? this.#default(method))(params));
  }

  callsOf(method: string): (readonly unknown[])[] {
    return this.calls.filter((call) => call.method === method).map(({ params }) => params);
  }

  get sent(): readonly unknown[] {
    return this.callsOf('eth_sendTransaction').map(([transaction]) => transaction);
  }

  #default(method: string): Answer {
    switch (method) {
      case 'eth_requestAccounts':
      case 'eth_accounts':
        return () => [this.account];
      case 'eth_chainId':
        return () => `0x${this.chainId.toString(16)}`;
      case 'wallet_switchEthereumChain':
        return ([chain]) => {
          this.chainId = Number((chain as { chainId: string }).chainId);
          return null;
        };
      case 'eth_getBalance':
      case 'eth_call':
        return () => `0x${this.balance.toString(16)}`;
      case 'eth_sendTransaction':
        return () => sentHash;
      default:
        return () => {
          throw walletError(-32601, `${method} does not exist`);
        };
    }
  }
}
