/**
 * A random history of a network whose two nodes send wrong data, lag, forget and fail, of payers who pay in every way, also in many
 * parts, and of operators who sweep, export, drop and replace what they signed, raise confirmations, add and remove the
 * second node, and restart. Transfers that one node invents are not credited while two are asked, in however many
 * parts. When the nodes are honest again, the books match the chain, each payment is credited once, and each transfer
 * is paid once.
 */
import { reconciliation as reconciliationModule } from '../../src/modules/reconciliation/module.js';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stderr } from 'node:process';
import { HDKey } from '@scure/bip32';
import { expect } from 'vitest';
import { addressFormat } from '../../src/core/addresses/formats.js';
import { fromChain, toChain } from '../../src/core/chains/assets.js';
import { isNodeFailure } from '../../src/modules/networks/rpc/node-error.js';
import type { Actor } from '../../src/core/shared/scope.js';
import { commandContext, runWith } from '../support/command-context.js';
import {
  addressFrom,
  ancestor,
  contractTx,
  EvmModel,
  emptyTx,
  failingTx,
  fickleTx,
  gasPrice,
  gasUsed,
  sweepTx,
  token,
  walletTx,
  type ModelTx,
  type Payment,
} from '../support/evm-model.js';
import type { TestEngine } from '../support/engines.js';
import { startLyingNode, type Lies, type LyingNode } from '../support/lying-node.js';
import { randomOf } from '../support/random.js';
import { isAlone } from '../support/rounds.js';
import { openSteppedShop, type LockedPayment, type SteppedShop } from '../support/stepped-shop.js';
import { treasury as treasuryModule } from '../../src/modules/treasury/module.js';

const { signal } = new AbortController();
const place = { mode: 'test', network: 'evm-dev' } as const;
const currencies = ['ETH', 'USDT'] as const;
const root = HDKey.fromMasterSeed(new Uint8Array(32).fill(5));
const canonical = (hex: string): string => addressFormat('live', 'evm').read(hex) ?? hex;
const minute = 60_000;

/** Events in a history: how often money came and went, and which command did what did not happen automatically. */
export type Figures = Readonly<Record<string, number>>;

/** The nodes whose word is needed: one node, either of two, or both for more than ten dollars. */
type Opinions = 'one' | 'either' | 'both';

const limit = 10;

export interface World {
  readonly shop: SteppedShop;
  readonly model: EvmModel;
  readonly nodes: readonly LyingNode[];
  /** The records of a history have the same ids each time that it is lived. */
  readonly ids: { prefix: string; made: number };
  /** Writes NETWORKS_FILE, and restarts the server. */
  configure(confirmations: number, opinions: Opinions): Promise<void>;
  close(): Promise<void>;
}

export async function openWorld(engine: TestEngine): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
  const networksFile = join(directory, 'networks.json');
  const model = new EvmModel(Date.UTC(2026, 0, 1) / 1000);
  const nodes = [startLyingNode(model), startLyingNode(model)];
  const write = (confirmations: number, opinions: Opinions) =>
    writeFile(
      networksFile,
      JSON.stringify({
        networks: {
          'evm-dev': {
            nodes: nodes.map(({ url }) => url).slice(0, opinions === 'one' ? 1 : 2),
            confirmations,
            ...(opinions === 'both' && { crossCheckAbove: `${limit} USD` }),
            assets: { USDT: { contract: canonical(token), decimals: 6 } },
          },
        },
      }),
    );
  await write(3, 'either');
  const ids = { prefix: '', made: 0 };
  const newId = () => idOf(`${ids.prefix}/${(ids.made += 1)}`);
  const shop = await openSteppedShop(engine, { newId }, { NETWORKS_FILE: networksFile });
  return {
    shop,
    model,
    nodes,
    ids,
    async configure(confirmations, opinions) {
      await write(confirmations, opinions);
      await shop.restartAll();
    },
    async close() {
      await shop.close();
      for (const node of nodes.toReversed()) node.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function idOf(name: string): string {
  const digits = BigInt(addressFrom(name)).toString(32).padStart(32, '0').slice(-26);
  return [...digits].map((digit) => alphabet.charAt(parseInt(digit, 32))).join('');
}

interface Merchant {
  readonly actor: Actor;
  /** Undefined if the addresses come from an extended key. */
  readonly treasury: string | undefined;
  readonly isContract: boolean;
  /** The account that sends the transactions of the treasury. */
  readonly signer: string;
  nextNonce: number;
}

/** A payee: a payment or a hosted wallet. */
interface Paid extends Pick<LockedPayment, 'id' | 'address' | 'amount'> {
  readonly merchant: Merchant;
  readonly currency: (typeof currencies)[number];
}

/** A transaction that a wallet has signed for a transfer. */
interface Signed {
  readonly id: string;
  readonly tx: ModelTx;
  readonly nonce: number | undefined;
  isSent: boolean;
  isDropped: boolean;
}

/** Lives one history. */
export async function liveAmongLiars(world: World, seed: number): Promise<Figures> {
  const { shop, model, nodes } = world;
  const random = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => {
    const found = list[random(list.length)];
    if (found === undefined) throw new Error('Nothing to pick');
    return found;
  };
  const history = [`seed ${seed}`];
  const figures: Record<string, number> = { histories: 1 };
  const count = (name: string, more = 1) => (figures[name] = (figures[name] ?? 0) + more);
  const payments: Paid[] = [];
  const transfers = new Map<string, Payment & { readonly merchant: Merchant }>();
  const signed: Signed[] = [];
  const dropped: ModelTx[] = [];
  /** Transactions that a node has invented, worth more than the limit. */
  const invented: string[] = [];
  /** Those that were credited while nobody else was asked. */
  const believed = new Set<string>();
  let confirmations = pick([2, 3, 5]);
  let opinions: Opinions = pick(['one', 'either', 'both', 'both']);
  let sent = 0;
  const nextName = () => `${seed}-${(sent += 1)}`;
  const seconds = () => Math.floor(shop.time.now / 1000);
  const assetOf = (currency: string) => {
    const asset = shop.app.connected[0]?.chainAssets[currency];
    if (!asset) throw new Error(`The network has no ${currency}`);
    return asset;
  };
  const run = (line: string, ...words: string[]) => runWith(commandContext(shop), line, ...words);
  const json = async <T>(line: string) => (await run(line)).json as T;

  async function attempt<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!isExpected(error)) throw new Error(`${what} failed\n${history.join('\n')}`, { cause: error });
      history.push(`  ${what}: ${(error as Error).message.slice(0, 160)}`);
      return undefined;
    }
  }

  // The rest of earlier histories is over.
  Object.assign(world.ids, { prefix: `history ${seed}`, made: 0 });
  model.mempool = [];
  for (const node of nodes) node.lies = {};
  await world.configure(confirmations, opinions);
  const merchants: Merchant[] = [];
  for (const kind of ['account', pick(['contract', 'key'])]) merchants.push(await newMerchant(kind));
  mine(confirmations + 1, true);
  await look();
  await treasuryModule.rules(shop.app).forwarderChecks.refresh(signal);
  const lowest = model.tip.height;
  for (const merchant of merchants) await openWallet(merchant);

  async function openWallet(merchant: Merchant): Promise<void> {
    const currency = pick(currencies);
    const { id, addresses } = await shop.database.write((transaction) =>
      shop.app.wallets.create(transaction, merchant.actor, { currency, label: '' }),
    );
    const address = addresses.find(({ network }) => network === place.network)?.address ?? '';
    history.push(`wallet ${id} ${address}: ${currency}`);
    payments.push({
      id,
      address,
      currency,
      merchant,
      amount: fromChain(assetOf(currency), currency === 'ETH' ? 6n * 10n ** 18n : 6_000_000n),
    });
  }

  async function newMerchant(kind: string): Promise<Merchant> {
    const actor = await shop.merchant(pick([100, 37, 0]));
    const { merchantId } = actor;
    const treasury = kind === 'key' ? undefined : canonical(addressFrom(`treasury of ${merchantId}`));
    const index = random(2 ** 30);
    const key =
      treasury === undefined
        ? { extendedPublicKey: root.derive(`m/44'/60'/${index}'`).publicExtendedKey, script: undefined }
        : { treasury };
    await shop.database.write((transaction) =>
      shop.app.depositKeys.set(transaction, { merchantId, mode: 'test' }, 'evm', key),
    );
    await shop.app.depositKeys.refresh();
    const isContract = kind === 'contract';
    const signer = isContract || treasury === undefined ? addressFrom(`owner of ${merchantId}`) : treasury;
    for (const address of [signer, treasury ?? signer]) model.give(address, 'coin', 10n ** 18n);
    if (isContract && treasury !== undefined) model.give(treasury, 'code' as 'coin', 1n);
    return { actor, treasury, isContract, signer, nextNonce: 0 };
  }

  function mine(blocks: number, isAll = false): void {
    shop.time.now += blocks * 1000;
    model.mine(blocks, seconds(), () => isAll || random(4) > 0);
    history.push(`mine ${blocks}: ${model.tip.height}`);
  }

  /** The server's jobs, each once. */
  async function look(): Promise<void> {
    shop.time.now += 1000 + random(3000);
    const { scanner, payments: rules } = shop.app;
    const treasury = treasuryModule.rules(shop.app);
    const reconciliation = reconciliationModule.rules(shop.app);
    await attempt('scan', () => scanner.scanNow(place));
    await attempt('reconcile', () => reconciliation.advance(signal));
    await attempt('watch', () => treasury.watcher.advance(signal));
    await attempt('forwarders', () => treasury.forwarderChecks.refresh(signal));
    await rules.expireOverdue(signal);
    await expectUnbelieved();
  }

  async function expectUnbelieved(): Promise<void> {
    const credited = await shop.database.reader
      .selectFrom('receipts')
      .select('tx_hash')
      .distinct()
      .where('tx_hash', 'in', ['', ...invented])
      .where('status', '=', 'confirmed')
      .execute();
    for (const { tx_hash: hash } of credited) {
      if (opinions !== 'both') believed.add(hash);
      expect(believed.has(hash), `One node invented ${hash}\n${history.join('\n')}`).toBe(true);
    }
  }

  async function lock(): Promise<void> {
    const merchant = pick(merchants);
    const currency = pick(currencies);
    const amount = ((100 + random(3000)) / 100).toFixed(2);
    const locked = await attempt('lock', () =>
      shop.lock(merchant.actor, { amount, currency, network: place.network }),
    );
    if (!locked) return;
    history.push(`lock ${locked.id} ${locked.address}: ${locked.amount} ${currency}`);
    payments.push({ ...locked, merchant, currency });
  }

  function payAtRandom(): void {
    if (payments.length === 0) return;
    const { address, currency, amount, id } = pick(payments);
    const due = toChain(assetOf(currency), amount) ?? amount;
    const part = pick([due, due, due, due / 2n, due - due / 2n, due + 1n, due * 2n, due / 3n, 1n]);
    const payment: Payment = {
      address,
      currency: random(10) === 0 ? pick(currencies) : currency,
      amount: part,
    };
    if (part === 0n) return;
    const from = { name: nextName() };
    const kind = pick([
      'wallet',
      'wallet',
      'contract',
      'contract',
      'both',
      'fickle',
      'fails',
      'parts',
      'one by one',
    ]);
    history.push(`pay ${from.name} by ${kind}: ${id} ${part} ${payment.currency}`);
    if (kind === 'wallet') model.send(walletTx(from, payment));
    else if (kind === 'fails') model.send(failingTx(from, payment));
    else if (kind === 'fickle') model.send(fickleTx(from, payment));
    else if (kind === 'parts') model.send(contractTx(from, partsOf(payment, 2 + random(8))));
    else if (kind === 'one by one') {
      for (const one of partsOf(payment, 2 + random(4))) model.send(walletTx({ name: nextName() }, one));
    } else {
      const other = pick(payments);
      const more = { address: other.address, currency: payment.currency, amount: part + 1n };
      model.send(contractTx(from, kind === 'both' ? [payment, more] : [payment]));
    }
  }

  function partsOf(payment: Payment, count: number): Payment[] {
    const part = payment.amount / BigInt(count);
    const first = payment.amount - part * BigInt(count - 1);
    return [first, ...Array.from({ length: count - 1 }, () => part)]
      .filter((amount) => amount > 0n)
      .map((amount) => ({ ...payment, amount }));
  }

  /** A payer replaces what waits: with more gas, to another address, or not at all. */
  function replace(): void {
    const waiting = model.mempool.filter(({ nonce }) => nonce === undefined);
    if (waiting.length === 0) return;
    const tx = pick(waiting);
    model.mempool = model.mempool.filter((one) => one !== tx);
    history.push(`replace ${tx.hash.slice(0, 10)}`);
    if (random(3) === 0) dropped.push(tx);
    else if (random(2) === 0)
      model.send({ ...tx, ...emptyTx({ name: nextName(), spends: tx.spends }, tx.to) });
    else model.send({ ...tx, hash: emptyTx({ name: nextName() }, tx.to).hash });
  }

  function reorg(): void {
    const most = model.tip.height - lowest;
    if (most < 1) return;
    const depth = Math.min(most, random(6) === 0 ? 1 + random(30) : 1 + random(4));
    const fate = random(3);
    shop.time.now += 1000;
    history.push(`reorg ${depth}, ${['all', 'none', 'some'][fate]} return`);
    // A transaction that a treasury has signed waits for another block, unless the operator replaces it.
    model.reorg(
      depth,
      random(3),
      seconds(),
      (tx) => tx.nonce !== undefined || fate === 0 || (fate === 2 && random(2) === 0),
    );
  }

  function lie(): void {
    const node = pick(nodes);
    if (random(5) < 2) {
      node.lies = {};
      history.push('a node is honest');
      return;
    }
    const lies = pick(liesOf());
    node.lies = lies;
    history.push(
      `node ${nodes.indexOf(node) + 1} ${JSON.stringify({ ...lies, ...(lies.tip && { tip: lies.tip.height }) })}`,
    );
  }

  function liesOf(): Lies[] {
    const back = (blocks: number) =>
      ancestor(model.tip, Math.max(lowest - 1, model.tip.height - blocks)) ?? model.tip;
    return [
      { isDown: true },
      { tip: back(1 + random(6)) },
      { tip: back(1 + random(3)), isBalancer: true },
      { tip: branch() },
      { logs: 'ranges' },
      { logs: 'ranges', hasNoBloom: true },
      { logs: 'all' },
      { logs: 'all', hasNoBloom: true },
      { logs: 'all', hasNoBloom: true, hasNoBlockReceipts: true, hasNoState: true },
      { logs: 'all', hasNoBlockReceipts: true },
      { hasNoReceipts: true },
      { hasNoPending: true },
      { hasNoState: true },
      { saysZero: true },
      { saysZero: true, hasNoState: true },
      { decimals: 18 },
      { finalized: 'absurd' },
      { finalized: 'none' },
    ];
  }

  /** Blocks that no other node has, with a payment that was never made. */
  function branch() {
    const depth = Math.min(1 + random(confirmations - 1), model.tip.height - lowest + 1);
    const payment = payments.length > 0 ? pick(payments) : undefined;
    let tip = ancestor(model.tip, model.tip.height - depth) ?? model.tip;
    for (let made = 0; made <= depth; made += 1) {
      const { address = '', currency = 'ETH', amount = 0n } = payment ?? {};
      const forged = { address, currency, amount: toChain(assetOf(currency), amount) ?? amount };
      const isForged = made === 0 && payment !== undefined;
      tip = model.add(tip, seconds(), isForged ? [walletTx({ name: nextName() }, forged)] : []);
    }
    return tip;
  }

  /** A node shows a branch as deep as needed to count, with more than the limit in small parts. */
  function invent(): void {
    const { id, address } = pick(payments);
    const node = pick([nodes[0], nodes[0], nodes[1]]);
    if (!node) return;
    const start = Math.max(lowest, model.tip.height - confirmations - random(3));
    let tip = ancestor(model.tip, start) ?? model.tip;
    const amount = BigInt(limit + 2) * 1_000_000n;
    const tx = contractTx(
      { name: nextName() },
      partsOf({ address, currency: 'USDT', amount }, 6 + random(20)),
    );
    invented.push(tx.hash);
    for (let made = start; made <= model.tip.height; made += 1) {
      tip = model.add(tip, seconds(), made === start ? [tx] : []);
    }
    node.lies = { tip };
    history.push(`node ${nodes.indexOf(node) + 1} invents ${tx.hash} for ${id}`);
  }

  async function sweep(): Promise<void> {
    const output = await attempt('sweeps export', () =>
      json<{ transactions: { data: string }[] }>('sweeps export --network evm-dev --format json --all'),
    );
    for (const { data } of output?.transactions ?? []) {
      history.push('sweep');
      model.send(sweepTx({ name: nextName() }, data));
    }
  }

  async function withdraw(): Promise<void> {
    const merchant = pick(merchants);
    if (merchant.treasury === undefined) return;
    const currency = pick(currencies);
    const address = canonical(addressFrom(`destination ${seed} ${transfers.size}`));
    const amount = `${1 + random(2)}.0${transfers.size}`;
    const made = await attempt('withdraw', () =>
      shop.withdraw(merchant.actor, amount, address, place.network, currency),
    );
    if (!made) return;
    const row = await shop.transfer(made.id);
    transfers.set(made.id, {
      merchant,
      address,
      currency,
      amount: toChain(assetOf(currency), BigInt(row.amount)) ?? 0n,
    });
    history.push(`withdraw ${made.id}: ${amount} ${currency} to ${address}`);
  }

  /** The wallet signs whatever the operator exports. */
  async function exportTransfers(isSent: () => boolean): Promise<void> {
    const output = await attempt('transfers export', () =>
      json<{ transfers: { id: string }[] }>('transfers export --network evm-dev --format json'),
    );
    for (const { id } of output?.transfers ?? []) {
      const transfer = transfers.get(id);
      if (!transfer) continue;
      const { merchant } = transfer;
      const name = nextName();
      const nonce = merchant.isContract ? undefined : nonceOf(merchant);
      const tx = merchant.isContract
        ? contractTx({ name, from: merchant.signer }, [transfer], merchant.treasury)
        : walletTx({ name, from: merchant.signer, ...(nonce !== undefined && { nonce }) }, transfer);
      const one: Signed = { id, tx, nonce, isSent: isSent(), isDropped: false };
      history.push(`sign ${name} for ${id}, nonce ${nonce}, ${one.isSent ? 'sent' : 'held'}`);
      signed.push(one);
      if (one.isSent) model.send(tx);
    }
  }

  function nonceOf(merchant: Merchant): number {
    const nonce = Math.max(merchant.nextNonce, Number(model.balance('nonce', merchant.signer)));
    merchant.nextNonce = nonce + 1;
    return nonce;
  }

  /** The operator sends something else with the nonce, so that the transfer is not paid. */
  function cancelSigned(): void {
    const open = signed.filter(({ nonce, isDropped }) => nonce !== undefined && !isDropped);
    if (open.length === 0) return;
    const one = pick(open);
    if (one.nonce === undefined) return;
    one.isDropped = true;
    history.push(`cancel nonce ${one.nonce} of ${one.id}`);
    model.send(emptyTx({ name: nextName(), from: one.tx.from, nonce: one.nonce }, one.tx.from));
  }

  /**
   * The wallet of an extended key moves coins when it likes, once the books show them. If it moves coins from a
   * contract before anybody looked, no balance shows them.
   */
  async function spend(): Promise<void> {
    const own = payments.filter(({ merchant }) => merchant.treasury === undefined);
    if (own.length === 0) return;
    const { address, currency, id } = pick(own);
    if ((await unbooked()).some((text) => text.includes(id))) return;
    const held = model.balance(currency === 'ETH' ? 'coin' : 'token', address);
    const amount = pick([held - gasPrice * gasUsed, held / 2n]);
    const nonce = Number(model.balance('nonce', address));
    if (amount <= 0n || model.mempool.some(({ spends }) => spends === `${address.toLowerCase()}/${nonce}`))
      return;
    const gas = gasPrice * gasUsed;
    if (currency === 'USDT' && model.balance('coin', address) < gas) {
      // Somebody must pay for its gas first, and that is money which came, too.
      history.push(`${address} gets gas`);
      model.send(contractTx({ name: nextName() }, [{ address, currency: 'ETH', amount: gas }]));
      return;
    }
    history.push(`${address} spends ${amount} ${currency}`);
    model.send(
      walletTx(
        { name: nextName(), from: address, nonce },
        { address: addressFrom('elsewhere'), currency, amount },
      ),
    );
  }

  async function fail(): Promise<void> {
    if (transfers.size === 0) return;
    const id = pick([...transfers.keys()]);
    const done = await attempt('transfers fail', () => run(`transfers fail ${id} --reason No`));
    if (done) history.push(`failed ${id}`);
  }

  /** Actions that can happen, with their weights. */
  const actions: readonly (readonly [number, () => void | Promise<void>])[] = [
    [2, () => (payments.length < 8 ? lock() : undefined)],
    [6, payAtRandom],
    [5, () => mine(1 + random(3))],
    [1, () => mine(confirmations + 1)],
    [2, reorg],
    [1, replace],
    [1, sendAgain],
    [5, lie],
    [2, invent],
    [2, sweep],
    [3, () => (transfers.size < 4 ? withdraw() : undefined)],
    [2, () => exportTransfers(() => random(4) > 0)],
    [1, sendHeld],
    [1, cancelSigned],
    [1, fail],
    [1, spend],
    [1, pass],
    [2, changeServer],
  ];
  const weighted = actions.flatMap(([weight, action]) => Array.from({ length: weight }, () => action));

  function sendAgain(): void {
    const again = dropped.pop();
    if (again) model.send(again);
  }

  function sendHeld(): void {
    for (const one of signed.filter(({ isSent }) => !isSent)) {
      one.isSent = true;
      model.send(one.tx);
    }
  }

  function pass(): void {
    const minutes = random(25);
    history.push(`pass ${minutes} min`);
    shop.time.now += minutes * minute;
    mine(1);
  }

  async function changeServer(): Promise<void> {
    const kind = random(5);
    history.push(['confirmations', 'another server', 'restart', 'restart', 'opinions'][kind] ?? '');
    if (kind === 0 || kind === 4) {
      if (kind === 0) confirmations = pick([2, 3, 5, 8]);
      else opinions = pick(['one', 'either', 'both']);
      history.push(`confirmations ${confirmations}, opinions of ${opinions}`);
      await world.configure(confirmations, opinions);
    } else if (kind === 1) await shop.switchServer();
    else await shop.restart();
    await shop.app.depositKeys.refresh();
    await attempt('forwarders', () => treasuryModule.rules(shop.app).forwarderChecks.refresh(signal));
  }

  for (let made = 0; made < 3; made += 1) await lock();
  for (let step = 0; step < 36; step += 1) {
    await pick(weighted)();
    if (random(3) > 0) await look();
  }
  await settleDown();
  await payWhatIsLeft();
  if (isAlone) stderr.write(`${history.join('\n')}\n`);
  await compare();
  return figures;

  /** Honest nodes, blocks and a day, so that the server can finish automatically. */
  async function settleDown(): Promise<void> {
    for (const node of nodes) node.lies = {};
    history.push('all are honest');
    model.mempool = model.mempool.filter(({ nonce }) => nonce !== undefined);
    shop.time.now += 61 * minute;
    for (let turn = 0; turn < 3; turn += 1) {
      mine(confirmations, true);
      await look();
    }
    shop.time.now += 61 * minute;
    const isUnbooked = async () => (await unbooked()).some((text) => !text.startsWith('dust'));
    for (let turn = 0; turn < 10 && (turn < 4 || (await isUnbooked())); turn += 1) {
      shop.time.now += 20 * minute;
      mine(1, true);
      await look();
    }
    if ((await unbooked()).length === 0) return;
    // Dust is booked when somebody asks for it.
    count(
      (await unbooked()).every((text) => text.startsWith('dust'))
        ? 'command: chains reconcile --apply, for dust'
        : 'command: chains reconcile --apply',
    );
    for (let turn = 0; turn < 3 && (await unbooked()).length > 0; turn += 1) {
      history.push(`not automatic: ${(await unbooked()).join('; ')}`);
      await attempt('reconcile', () => run('chains reconcile --network evm-dev --mode test --apply'));
      mine(1, true);
      await look();
    }
    if ((await unbooked()).length === 0) return;
    history.push(`not by reconciling: ${(await unbooked()).join('; ')}`);
    count('command: chains rescan');
    await run(`chains rescan --network evm-dev --mode test --from ${lowest}`);
    for (let turn = 0; turn < 3; turn += 1) {
      mine(1, true);
      await look();
    }
  }

  /** Lists addresses whose receipts differ from their transfers. */
  async function unbooked(): Promise<string[]> {
    const rows = await shop.database.reader
      .selectFrom('receipts')
      .selectAll()
      .where(
        'address',
        'in',
        payments.map(({ address }) => address),
      )
      .where('status', 'in', ['seen', 'confirmed'])
      .execute();
    return payments.flatMap(({ address, id }) =>
      currencies.flatMap((currency) => {
        const booked = rows
          .filter((row) => row.address === address && row.currency === currency)
          .reduce((sum, { chain_amount: units }) => sum + BigInt(units), 0n);
        const got = model.received({ address, currency });
        const isDust = got > booked && got - booked < (currency === 'ETH' ? 10n ** 13n : 10_000n);
        return booked === got
          ? []
          : `${isDust ? 'dust: ' : ''}${id} got ${got} ${currency}, and the books say ${booked}`;
      }),
    );
  }

  /** The operator pays what is left to pay. */
  async function payWhatIsLeft(): Promise<void> {
    for (let turn = 0; turn < 12; turn += 1) {
      const open = await pendingIds();
      if (open.length === 0) return;
      if (turn === 0 || turn === 5) await sweep();
      for (const one of signed) {
        if (!one.isSent && !one.isDropped) model.send(one.tx);
        one.isSent = true;
      }
      mine(confirmations + 1, true);
      await look();
      await look();
      for (const id of await pendingIds()) await helpTransfer(id, turn);
      await exportTransfers(() => true);
      mine(confirmations + 1, true);
      await look();
    }
  }

  async function pendingIds(): Promise<string[]> {
    const rows = await shop.database.reader
      .selectFrom('transfers')
      .select('id')
      .where('id', 'in', ['', ...transfers.keys()])
      .where('status', '=', 'pending')
      .orderBy('id')
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Follows docs/treasury.md: settles an ambiguous transfer, and releases one that cannot be sent any more. */
  async function helpTransfer(id: string, turn: number): Promise<void> {
    const transfer = transfers.get(id);
    const own = signed.filter((one) => one.id === id);
    const last = own.at(-1);
    if (!transfer || !last) return;
    if (model.received(transfer) > 0n) {
      if (turn < 2) return;
      count('command: transfers settle');
      history.push(`settle ${id}`);
      // A node that lied about the height made the transfer look younger than its payment. The operator knows better.
      const flag = turn < 4 ? '' : ' --unverified';
      await attempt('transfers settle', () => run(`transfers settle ${id} --tx-hash ${last.tx.hash}${flag}`));
      return;
    }
    if (model.mempool.some(({ spends }) => spends === last.tx.spends)) return;
    const words =
      last.nonce === undefined
        ? ['--yes', '--reason', 'the wallet has dropped it']
        : ['--nonce', `${last.nonce}`];
    const done = await attempt('transfers release', () => run(`transfers release ${id}`, ...words));
    if (done) {
      count('command: transfers release');
      history.push(`release ${id} ${words.join(' ')}`);
    }
  }

  async function countMoney(): Promise<void> {
    const { reader } = shop.database;
    const receipts = await reader
      .selectFrom('receipts')
      .select(['status', 'found_above'])
      .where(
        'address',
        'in',
        payments.map(({ address }) => address),
      )
      .execute();
    for (const { status, found_above: above } of receipts) {
      count(`receipts: ${status}${above === null ? '' : ', found by the balance'}`);
    }
    const states = await reader
      .selectFrom('payments')
      .select('state')
      .where(
        'id',
        'in',
        payments.map(({ id }) => id),
      )
      .execute();
    for (const { state } of states) count(`payments: ${state}`);
    const swept = await reader
      .selectFrom('sweeps')
      .select('is_reversed')
      .where(
        'merchant_id',
        'in',
        merchants.map(({ actor }) => actor.merchantId),
      )
      .execute();
    for (const { is_reversed: isReversed } of swept) count(isReversed ? 'sweeps: reverted' : 'sweeps');
  }

  /** Money that payers sent to a merchant, less the amounts that its transfers paid, by the chain. */
  function leftOf(merchant: Merchant, currency: (typeof currencies)[number]): bigint {
    const sumOf = (units: readonly bigint[]) => units.reduce((sum, one) => sum + one, 0n);
    const got = payments
      .filter((one) => one.merchant === merchant)
      .map(({ address }) => model.received({ address, currency }));
    const paid = [...transfers.values()]
      .filter((one) => one.merchant === merchant && one.currency === currency)
      .map((one) => model.received(one));
    return sumOf(got) - sumOf(paid);
  }

  async function compare(): Promise<void> {
    const where = () => history.join('\n');
    expect(await unbooked(), where()).toEqual([]);
    await countMoney();
    await shop.expectBooksInOrder();
    const check = await run('ledger check --chain');
    expect(
      { exitCode: check.exitCode, text: check.exitCode === 0 && !check.hasFailed ? '' : check.text },
      `${where()}\n${check.text}`,
    ).toEqual({
      exitCode: 0,
      text: '',
    });
    for (const [id, transfer] of transfers) {
      const { status } = await shop.transfer(id);
      count(`transfers: ${status}`);
      const got = model.received(transfer);
      const what = `${id} is ${status}: ${got} of ${transfer.amount} ${transfer.currency}\n${where()}`;
      if (status === 'success') expect(got, what).toBe(transfer.amount);
      else expect(got, what).toBe(0n);
      // Money that a reorganisation took from the payer, after it was credited, is not in the treasury.
      if (status === 'pending') {
        const asset = transfer.currency === 'ETH' ? 'coin' : 'token';
        const held = model.balance(asset, transfer.merchant.treasury ?? '');
        const needed = transfer.amount + (asset === 'coin' ? gasPrice * gasUsed : 0n);
        // The wallet's earlier transaction cannot be paid, so nothing after it is.
        const last = signed.findLast((one) => one.id === id)?.tx;
        const isBehind = model.mempool.some(
          ({ from, nonce }) => from === last?.from && (nonce ?? 0) < (last.nonce ?? 0),
        );
        // The treasury was given coins for network fees too, which belong to no payer.
        const isTakenBack =
          leftOf(transfer.merchant, transfer.currency === 'ETH' ? 'ETH' : 'USDT') < transfer.amount;
        expect(
          isBehind || held < needed || isTakenBack,
          `${what} could be paid: ${fromChain(assetOf(transfer.currency), held)}`,
        ).toBe(true);
        count('transfers that a reorganisation left without money');
      }
    }
  }
}

/** An error that a node with wrong data may cause, or a rule that refuses; any other is a fault of the server. */
function isExpected(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.every(isExpected);
  if (isNodeFailure(error)) return true;
  if (['NodesUnavailable', 'ChainBehind', 'Problem', 'LeaseLost'].includes(error.name)) return true;
  return /reorganised (while|meanwhile)|does not have block|is not \w+ to be settled/.test(error.message);
}
