/**
 * Has a wallet in this browser send calls: all at once if it can (EIP-5792), otherwise one by one. Each answer is
 * returned before the next request, so that it can be stored.
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
  /** Rejects an account that must not send, by throwing. */
  ensureAccount?(account: string): void;
  /** Called before the wallet gets these calls, with their positions. If it throws, the wallet gets no request. */
  beforeAsked?(positions: readonly number[], from: string): Promise<void>;
  /** @param answer the hash of a transaction, or the id of a batch; null if the wallet sent nothing */
  onAnswer(positions: readonly number[], answer: string | null): Promise<void>;
  /** Called once the wallet reports the transactions of a batch; never, if it does not report them in time. */
  onMined(positions: readonly number[], batch: string, hashes: readonly string[]): Promise<void>;
}

/** The wallet may have sent these calls, but did not say so. */
export class UnsureSending extends Error {
  override readonly name = 'UnsureSending';
}

const announceMs = 200;

/** The wallets of this browser. Slow ones have a moment to announce themselves. */
export async function findWallets(): Promise<readonly Wallet[]> {
  const found = new AbortController();
  let wallets: readonly Wallet[] = [];
  discoverWallets((list) => (wallets = list), found.signal);
  if (wallets.length === 0) await wait(announceMs);
  found.abort();
  return wallets;
}

/**
 * @throws WalletRefusal if the wallet sent nothing more, UnsureSending if that is unknown, and errors of the functions
 *   of `sending`
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

/** @returns false if the wallet does not support it after all, and sent nothing */
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
  const hashes = await waitForBatch(provider, id, signal);
  if (hashes.length > 0) await sending.onMined(positions, id, hashes);
  return true;
}

/** Unknown method or parameters; and of EIP-5792: capability, chain, size, upgrade rejected, atomicity. None sends anything. */
const cannotTogether = new Set([4200, -32601, -32602, 5700, 5710, 5740, 5750, 5760]);

const statusEveryMs = 1000;
/** If a batch takes longer, its id is stored, so that the wallet can be queried later. */
const statusReads = 120;

async function waitForBatch(provider: Provider, id: string, signal: AbortSignal): Promise<readonly string[]> {
  for (let read = 0; read < statusReads; read += 1) {
    signal.throwIfAborted();
    const { hashes, status } = await readBatch(provider, id);
    if (status === 400) throw new WalletRefusal('walletFailed');
    if (hashes.length > 0 || status >= 200) return hashes;
    await wait(statusEveryMs);
  }
  return [];
}

/**
 * A wallet's report on a batch, without asking the person: its transactions, and the status code of EIP-5792, from 200
 * on once it has ended; 0 if the wallet does not say.
 */
export async function readBatch(
  provider: Provider,
  id: string,
): Promise<{ readonly hashes: readonly string[]; readonly status: number }> {
  const answer = await provider
    .request({ method: 'wallet_getCallsStatus', params: [id] })
    .catch(() => undefined);
  const receipts = fieldOf(answer, 'receipts');
  const hashes = (Array.isArray(receipts) ? receipts : []).flatMap(
    (one) => readHash(fieldOf(one, 'transactionHash')) ?? [],
  );
  const status = fieldOf(answer, 'status');
  return { hashes: [...new Set(hashes)], status: typeof status === 'number' ? status : 0 };
}

/** Reports that nothing was sent, if that is certain. */
async function refused(sending: Sending, positions: readonly number[], error: unknown): Promise<never> {
  const reason = refusalOf(error);
  if (reason === undefined) throw new UnsureSending(undefined, { cause: error });
  await sending.onAnswer(positions, null);
  throw new WalletRefusal(reason, { cause: error });
}

/** The person may have changed account or chain in the wallet in the meantime. */
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

/** True if the wallet sends calls as one, or would after it has upgraded the account with the person's consent. */
async function isAtomic(provider: Provider, from: string, { chainId }: Chain): Promise<boolean> {
  const params = [from, [toHex(chainId)]];
  const answer = await provider.request({ method: 'wallet_getCapabilities', params }).catch(() => undefined);
  const status = fieldOf(fieldOf(fieldOf(answer, toHex(chainId)), 'atomic'), 'status');
  return status === 'supported' || status === 'ready';
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
