/**
 * An EVM network in memory: a tree of blocks, accounts, a token of 6 decimals, the forwarder factory, and a mempool. Nothing in it
 * depends on time or chance, so that a history can be lived once more.
 */
import { createHash } from 'node:crypto';
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { decodeFunctionData, encodeEventTopics, encodeFunctionData, type Hex } from 'viem';
import { hexOf, topicOf, transferData } from '../../src/modules/networks/evm/abi.js';
import { transferTopic } from '../../src/modules/networks/evm/token.js';
import { factory, native, type Batch } from './forwarders.js';

export const token: Hex = '0x1000000000000000000000000000000000000006';
/** Pays coins and tokens on, as an exchange or a multisig does. */
const splitter: Hex = '0x2000000000000000000000000000000000000007';
export const gasPrice = 10n ** 9n;
export const gasUsed = 60_000n;

export interface ModelLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** By `coin/0x…`, `token/0x…`, `nonce/0x…` and `code/0x…`; `in/coin/0x…` is all that an address ever got. */
type State = Map<string, bigint>;

export interface ModelTx {
  readonly hash: Hex;
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly input: string;
  /** Transactions that exclude each other: with one nonce of one account. */
  readonly spends: string;
  /** Checked for accounts whose every transaction is known, as those of treasuries. */
  readonly nonce: number | undefined;
  /** Changes the state in a block of a height. @returns the logs; undefined if it fails */
  run(state: State, height: number): ModelLog[] | undefined;
}

interface Mined {
  readonly tx: ModelTx;
  readonly isSuccess: boolean;
  readonly logs: readonly (ModelLog & { readonly index: number })[];
}

export interface ModelBlock {
  readonly height: number;
  readonly hash: Hex;
  readonly parent: ModelBlock | undefined;
  /** Epoch seconds. */
  readonly time: number;
  readonly mined: readonly Mined[];
  readonly bloom: string;
  readonly state: State;
}

export interface Payment {
  readonly address: string;
  readonly currency: 'ETH' | 'USDT';
  /** As the chain counts it. */
  readonly amount: bigint;
}

export const lower = (text: string): string => text.toLowerCase();
const hashOf = (text: string): Hex => `0x${createHash('sha256').update(text).digest('hex')}`;
export const addressFrom = (text: string): Hex => `0x${hashOf(text).slice(26)}`;

const assetOf = (currency: Payment['currency']) => (currency === 'ETH' ? 'coin' : 'token');
const plus = (state: State, key: string, amount: bigint) => state.set(key, (state.get(key) ?? 0n) + amount);

function move(state: State, asset: 'coin' | 'token', from: string, to: string, amount: bigint): void {
  plus(state, `${asset}/${lower(from)}`, -amount);
  plus(state, `${asset}/${lower(to)}`, amount);
  plus(state, `in/${asset}/${lower(to)}`, amount);
}

const transferLog = (from: string, to: string, amount: bigint): ModelLog => ({
  address: token,
  topics: [transferTopic, topicOf(from), topicOf(to)],
  data: `0x${amount.toString(16).padStart(64, '0')}`,
});

/** EIP-1014, with the code of a clone that OpenZeppelin makes. */
export function forwarderOf(treasury: string, salt: string): string {
  const bytes = (hex: string) => hexToBytes(hex.replace(/^0x/, '').toLowerCase());
  const code = concatBytes(
    bytes('6100413d81600a3d39f3363d3d373d3d3d363d73'),
    bytes(factory.implementation),
    bytes('5af43d82803e903d91602b57fd5bf3'),
    bytes(treasury),
  );
  const parts = concatBytes(Uint8Array.of(0xff), bytes(factory.address), bytes(salt), keccak_256(code));
  return hexOf(keccak_256(parts).subarray(12));
}

const sweptTopics = (forwarder: string, treasury: string, asset: string) =>
  encodeEventTopics({ abi: factory.abi, eventName: 'Swept', args: { forwarder, treasury, token: asset } });

function runSweep(state: State, batches: readonly Batch[]): ModelLog[] {
  return batches.flatMap(({ treasury, token: asset, salts }) =>
    salts.flatMap((salt) => {
      const forwarder = forwarderOf(treasury, salt);
      const kind = lower(asset) === native ? 'coin' : 'token';
      const amount = state.get(`${kind}/${forwarder}`) ?? 0n;
      if (amount <= 0n) return [];
      move(state, kind, forwarder, treasury, amount);
      state.set(`code/${forwarder}`, 1n);
      const swept: ModelLog = {
        address: lower(factory.address),
        topics: sweptTopics(forwarder, treasury, asset) as string[],
        data: `0x${amount.toString(16).padStart(64, '0')}`,
      };
      return kind === 'coin' ? [swept] : [transferLog(forwarder, treasury, amount), swept];
    }),
  );
}

export class EvmModel {
  tip: ModelBlock;
  mempool: ModelTx[] = [];
  readonly #byHash = new Map<string, ModelBlock>();
  #made = 0;

  constructor(seconds: number) {
    this.tip = this.add(undefined, seconds, []);
  }

  /** A block on top of any other: a node may have one that no other has. */
  add(parent: ModelBlock | undefined, seconds: number, txs: readonly ModelTx[]): ModelBlock {
    this.#made += 1;
    const state: State = txs.length === 0 && parent ? parent.state : new Map(parent?.state);
    const height = (parent?.height ?? -1) + 1;
    let index = 0;
    const mined = txs.map((tx): Mined => {
      const draft: State = new Map(state);
      const logs = tx.run(draft, height);
      if (logs) for (const [key, value] of draft) state.set(key, value);
      plus(state, `coin/${tx.from}`, -gasUsed * gasPrice);
      plus(state, `nonce/${tx.from}`, 1n);
      return {
        tx,
        isSuccess: logs !== undefined,
        logs: (logs ?? []).map((log) => ({ ...log, index: index++ })),
      };
    });
    const hash = hashOf(`block ${this.#made}`);
    const bloom = bloomOf(mined.flatMap(({ logs }) => logs));
    const time = Math.max(seconds, parent?.time ?? 0);
    const block = { height, hash, parent, time, mined, bloom, state };
    this.#byHash.set(hash, block);
    return block;
  }

  find(hash: string): ModelBlock | undefined {
    return this.#byHash.get(hash);
  }

  balance(asset: string, address: string): bigint {
    return this.tip.state.get(`${asset}/${lower(address)}`) ?? 0n;
  }

  /** All that an address ever got, on the best chain. */
  received({ currency, address }: Omit<Payment, 'amount'>): bigint {
    return this.balance(`in/${assetOf(currency)}`, address);
  }

  /** Without spending: for balances before a history. */
  give(address: string, asset: 'coin' | 'token', amount: bigint): void {
    plus(this.tip.state, `${asset}/${lower(address)}`, amount);
  }

  send(tx: ModelTx): void {
    this.mempool.push(tx);
  }

  /** @param isTaken selects the waiting transactions that get into the first block */
  mine(count: number, seconds: number, isTaken: (tx: ModelTx) => boolean = () => true): void {
    const taken: ModelTx[] = [];
    const nonces = new Map<string, number>();
    const spent = new Set<string>();
    for (const tx of [...this.mempool].sort((a, b) => (a.nonce ?? 0) - (b.nonce ?? 0))) {
      if (spent.has(tx.spends) || !isTaken(tx)) continue;
      if (tx.nonce !== undefined) {
        const next = nonces.get(tx.from) ?? Number(this.balance('nonce', tx.from));
        if (tx.nonce !== next) continue;
        // An account cannot send coins that it does not have.
        if (tx.value > 0n && this.balance('coin', tx.from) < tx.value + gasPrice * gasUsed) continue;
        nonces.set(tx.from, next + 1);
      }
      spent.add(tx.spends);
      taken.push(tx);
    }
    for (let made = 0; made < count; made += 1) {
      this.tip = this.add(this.tip, seconds, made === 0 ? taken : []);
    }
    this.mempool = this.mempool.filter(
      ({ spends, from, nonce = Infinity }) =>
        !spent.has(spends) && nonce >= Number(this.balance('nonce', from)),
    );
  }

  /** Replaces the last blocks by empty ones. @param returns selects those of their transactions that wait for a block again */
  reorg(
    depth: number,
    longer: number,
    seconds: number,
    returns: (tx: ModelTx, depth: number) => boolean,
  ): void {
    const { height } = this.tip;
    for (let taken = 1; taken <= depth; taken += 1) {
      const { parent, mined } = this.tip;
      if (!parent) break;
      const back = mined.map(({ tx }) => tx).filter((tx) => returns(tx, taken));
      this.mempool = [...back, ...this.mempool];
      this.tip = parent;
    }
    this.mine(height - this.tip.height + longer, seconds, () => false);
  }
}

/** The payer and the coins: each transaction is from an account of its own, unless it says more. */
export interface Sent {
  readonly name: string;
  readonly from?: string;
  readonly nonce?: number;
  readonly spends?: string;
}

function txOf(
  { name, from = addressFrom(`from ${name}`), nonce, spends }: Sent,
  to: string,
  value: bigint,
  input: string,
  run: (state: State, from: string, height: number) => ModelLog[] | undefined,
): ModelTx {
  const sender = lower(from);
  return {
    hash: hashOf(name),
    from: sender,
    to: lower(to),
    value,
    input,
    nonce,
    spends: nonce === undefined ? (spends ?? name) : `${sender}/${nonce}`,
    run: (state, height) => run(state, sender, height),
  };
}

/** A wallet's transaction: the coin itself, or a call of the token. */
export function walletTx(sent: Sent, { address, currency, amount }: Payment): ModelTx {
  if (currency === 'ETH') {
    return txOf(sent, address, amount, '0x', (state, from) => {
      move(state, 'coin', from, address, amount);
      return [];
    });
  }
  const isKnown = sent.nonce !== undefined;
  return txOf(sent, token, 0n, transferData(address, amount), (state, from) => {
    if (isKnown && (state.get(`token/${from}`) ?? 0n) < amount) return undefined;
    move(state, 'token', from, address, amount);
    return [transferLog(from, address, amount)];
  });
}

/** A contract that pays a part only in every other block, so that its transaction pays another amount after a reorganisation. */
export function fickleTx(sent: Sent, payment: Payment): ModelTx {
  const part = { ...payment, amount: payment.amount / 2n + 1n };
  const [whole, less] = [contractTx(sent, [payment]), contractTx(sent, [part])];
  return { ...whole, run: (state, height) => (height % 2 === 0 ? whole : less).run(state, height) };
}

/** A contract pays: coins leave no log, and several payments are one transaction. @param contract that holds the money */
export function contractTx(sent: Sent, payments: readonly Payment[], contract: string = splitter): ModelTx {
  const isWallet = contract !== splitter;
  return txOf(sent, contract, 0n, '0x12345678', (state) => {
    const logs: ModelLog[] = [];
    for (const { address, currency, amount } of payments) {
      const asset = assetOf(currency);
      if (isWallet && (state.get(`${asset}/${lower(contract)}`) ?? 0n) < amount) return undefined;
      move(state, asset, contract, address, amount);
      if (currency === 'USDT') logs.push(transferLog(contract, address, amount));
    }
    return logs;
  });
}

/** A transaction that fails: it looks like a payment, and moves nothing. */
export const failingTx = (sent: Sent, payment: Payment): ModelTx => ({
  ...walletTx(sent, payment),
  run: () => undefined,
});

/** Uses up a nonce. */
export const emptyTx = (sent: Sent, to: string): ModelTx => txOf(sent, to, 0n, '0x', () => []);

/** A call of the factory, as "sweeps export" writes it. */
export const sweepTx = (sent: Sent, data: string): ModelTx =>
  txOf(sent, factory.address, 0n, data, (state) => runSweep(state, batchesOf(data)));

function batchesOf(data: string): readonly Batch[] {
  const { args } = decodeFunctionData({ abi: factory.abi, data: data as Hex });
  return (args as readonly [readonly Batch[]])[0];
}

const selector = (functionName: string, args: readonly unknown[]) =>
  encodeFunctionData({ abi: factory.abi, functionName, args }).slice(0, 10);
const addressOfCall = selector('addressOf', [native, `0x${'0'.repeat(64)}`]);

/** The factory's answer: an address, or the number of sweeps that would fail. */
export function callFactory(data: string): string {
  if (!data.startsWith(addressOfCall)) return `0x${'0'.repeat(64)}`;
  return topicOf(forwarderOf(`0x${data.slice(34, 74)}`, `0x${data.slice(74, 138)}`));
}

/** Yellow Paper, section 4.3.1. */
function bloomOf(logs: readonly ModelLog[]): string {
  const bloom = new Uint8Array(256);
  for (const entry of logs.flatMap(({ address, topics }) => [address, ...topics])) {
    const hash = keccak_256(hexToBytes(entry.slice(2)));
    for (const place of [0, 2, 4]) {
      const bit = (((hash[place] ?? 0) << 8) | (hash[place + 1] ?? 0)) & 2047;
      bloom[255 - (bit >> 3)] = (bloom[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7));
    }
  }
  return hexOf(bloom);
}

/** The block of a branch at a height. */
export function ancestor(tip: ModelBlock, height: number): ModelBlock | undefined {
  let block: ModelBlock | undefined = tip;
  while (block && block.height > height) block = block.parent;
  return block?.height === height ? block : undefined;
}
