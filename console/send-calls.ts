/**
 * Has a wallet in this browser send calls: all at once where it can (EIP-5792), else one by one. What it answers is handed back
 * before it is asked for anything else, so that it can be kept.
 */
import {
  connect,
  readAccounts,
  readChain,
  switchChain,
  type Chain,
} from '../src/browser-wallets/connection.js';
import { discoverWallets } from '../src/browser-wallets/discovery.js';
import {
  errorCode,
  readHash,
  refusalOf,
  toHex,
  WalletRefusal,
  type Provider,
  type Wallet,
} from '../src/browser-wallets/provider.js';

export interface Call {
  readonly to: string;
  /** In wei. */
  readonly value: string;
  readonly data: string;
}

export interface Sending {
  readonly chain: Chain;
  readonly calls: readonly Call[];
  /** Refuses an account that must not send, by throwing. */
  ensureAccount?(account: string): void;
  /** Before the wallet is asked for these calls, by their positions. Nothing is asked if it throws. */
  beforeAsked?(positions: readonly number[], from: string): Promise<void>;
  /**
   * @param answer the hash of a transaction, or the id of a batch, which a hash follows if the wallet tells one; null if the wallet
   * sent nothing
   */
  onAnswer(positions: readonly number[], answer: string | null): Promise<void>;
}

/** The wallet may have sent these, and did not say so. */
export class UnsureSending extends Error {
  override readonly name = 'UnsureSending';
}

const announceMs = 200;

/** The wallets of this browser. Those that are slow to announce themselves have a moment. */
export async function findWallets(): Promise<readonly Wallet[]> {
  const found = new AbortController();
  let wallets: readonly Wallet[] = [];
  discoverWallets((list) => (wallets = list), found.signal);
  if (wallets.length === 0) await wait(announceMs);
  found.abort();
  return wallets;
}

/**
 * @throws WalletRefusal if the wallet sent nothing more, UnsureSending if nobody knows, and what the functions of `sending` throw
 */
export async function sendCalls(provider: Provider, sending: Sending, signal: AbortSignal): Promise<void> {
  const { chain, calls, ensureAccount } = sending;
  const from = await connect(provider, signal);
  ensureAccount?.(from);
  if ((await readChain(provider, signal)) !== BigInt(chain.chainId))
    await switchChain(provider, chain, signal);
  const positions = [...calls.keys()];
  if (calls.length > 1 && (await isAtomic(provider, from, chain))) {
    if (await sendTogether(provider, sending, from, positions, signal)) return;
  }
  for (const position of positions) await sendOne(provider, sending, from, position, signal);
}

async function sendOne(
  provider: Provider,
  sending: Sending,
  from: string,
  position: number,
  signal: AbortSignal,
): Promise<void> {
  const call = sending.calls[position];
  if (!call) return;
  const { to, value, data } = call;
  await ensureSame(provider, sending, from, signal);
  await sending.beforeAsked?.([position], from);
  const chainId = toHex(sending.chain.chainId);
  const transaction = { from, to, data, chainId, value: toHex(BigInt(value)) };
  const asked = provider.request({ method: 'eth_sendTransaction', params: [transaction] });
  const answer = await asked.catch((error: unknown) => refused(sending, [position], error));
  const hash = readHash(answer);
  if (hash === undefined) throw new UnsureSending();
  await sending.onAnswer([position], hash);
}

/** @returns false if the wallet cannot after all, and sent nothing */
async function sendTogether(
  provider: Provider,
  sending: Sending,
  from: string,
  positions: readonly number[],
  signal: AbortSignal,
): Promise<boolean> {
  await ensureSame(provider, sending, from, signal);
  await sending.beforeAsked?.(positions, from);
  const calls = sending.calls.map(({ to, value, data }) => ({ to, data, value: toHex(BigInt(value)) }));
  const chainId = toHex(sending.chain.chainId);
  const batch = { version: '2.0.0', from, chainId, atomicRequired: true, calls };
  let answer: unknown;
  try {
    answer = await provider.request({ method: 'wallet_sendCalls', params: [batch] });
  } catch (error) {
    if (cannotTogether.has(errorCode(error) ?? 0)) {
      await sending.onAnswer(positions, null);
      return false;
    }
    await refused(sending, positions, error);
  }
  const id = fieldOf(answer, 'id') ?? answer;
  if (typeof id !== 'string' || id === '') throw new UnsureSending();
  await sending.onAnswer(positions, id);
  const hash = await hashOfBatch(provider, id, signal);
  if (hash !== undefined && hash !== id) await sending.onAnswer(positions, hash);
  return true;
}

/** Unknown method or parameters; and of EIP-5792: capability, chain, size, upgrade rejected, atomicity. None sends anything. */
const cannotTogether = new Set([4200, -32601, -32602, 5700, 5710, 5740, 5750, 5760]);

const statusEveryMs = 1000;
/** A batch that takes longer has its id kept; its transaction is found by its blocks. */
const statusReads = 120;

async function hashOfBatch(provider: Provider, id: string, signal: AbortSignal): Promise<string | undefined> {
  for (let read = 0; read < statusReads; read += 1) {
    signal.throwIfAborted();
    const answer = await provider
      .request({ method: 'wallet_getCallsStatus', params: [id] })
      .catch(() => undefined);
    const receipts = fieldOf(answer, 'receipts');
    const hash = readHash(fieldOf(Array.isArray(receipts) ? receipts[0] : undefined, 'transactionHash'));
    if (hash !== undefined) return hash;
    const status = fieldOf(answer, 'status');
    if (status === 400) throw new WalletRefusal('walletFailed');
    if (typeof status === 'number' && status >= 200) return undefined;
    await wait(statusEveryMs);
  }
  return undefined;
}

/** Hands back that nothing was sent, if that is certain. */
async function refused(sending: Sending, positions: readonly number[], error: unknown): Promise<never> {
  const reason = refusalOf(error);
  if (reason === undefined) throw new UnsureSending(undefined, { cause: error });
  await sending.onAnswer(positions, null);
  throw new WalletRefusal(reason, { cause: error });
}

/** The person may have changed account or chain in the wallet meanwhile. */
async function ensureSame(
  provider: Provider,
  { chain }: Sending,
  from: string,
  signal: AbortSignal,
): Promise<void> {
  const [account = ''] = await readAccounts(provider, 'eth_accounts', signal);
  if (account.toLowerCase() !== from.toLowerCase()) throw new WalletRefusal('walletAccount');
  if ((await readChain(provider, signal)) !== BigInt(chain.chainId)) throw new WalletRefusal('walletChain');
}

/** Whether the wallet sends calls as one, or would after it has upgraded the account with the person's consent. */
async function isAtomic(provider: Provider, from: string, { chainId }: Chain): Promise<boolean> {
  const params = [from, [toHex(chainId)]];
  const answer = await provider.request({ method: 'wallet_getCapabilities', params }).catch(() => undefined);
  const status = fieldOf(fieldOf(fieldOf(answer, toHex(chainId)), 'atomic'), 'status');
  return status === 'supported' || status === 'ready';
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
