/**
 * A naive model of DECISIONS §3 and §4: what payments and balances must be, recomputed from plain facts. It shares no code
 * with the server. Amounts are bigint, in units of USDT (6 decimals); base amounts are in cents.
 */

export interface ModelTx {
  readonly hash: string;
  readonly network: string;
  readonly currency: string;
  readonly amount: bigint;
  /** The payment that it pays; undefined for a withdrawal. */
  readonly payment: ModelPayment | undefined;
  /** The height of its block, `pending`, or `gone`. */
  place: number | 'pending' | 'gone';
  /** The server's knowledge of it; undefined before a scan has seen it. */
  receipt: ModelReceipt | undefined;
}

interface ModelReceipt {
  seenAt: number;
  /** Cents per dollar when it was seen. */
  cents: bigint;
  isPresent: boolean;
  isConfirmed: boolean;
  wasLost: boolean;
  /** The fee taken when it was credited; undefined while it is not. */
  fee: bigint | undefined;
}

export interface ModelPayment {
  readonly id: string;
  readonly merchant: ModelMerchant;
  readonly network: string;
  readonly currency: string;
  readonly amount: bigint;
  /** In cents. */
  readonly baseAmount: bigint;
  readonly expiresAt: number;
  readonly txs: ModelTx[];
  cancelledAt: number | undefined;
  hasSucceeded: boolean;
  state: string;
}

export interface ModelMerchant {
  readonly id: string;
  readonly feeBasisPoints: bigint;
  readonly payments: ModelPayment[];
  readonly transfers: ModelTransfer[];
}

export interface ModelTransfer {
  readonly id: string;
  readonly network: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly fee: bigint;
  /** `held`: a refund that waits for its address or approval; `back`: one that was cancelled. */
  status: 'held' | 'pending' | 'processing' | 'success' | 'failed' | 'back';
  tx: ModelTx | undefined;
  /** The refund that it pays, if it pays one. */
  readonly refund?: ModelRefund;
}

export interface ModelRefund {
  readonly id: string;
  readonly payment: ModelPayment;
  readonly kind: RefundKind;
  /** The part of the payment's money that it uses up, and the service fee on that. */
  readonly used: bigint;
  readonly serviceFee: bigint;
  /** True if the payment was a success when its coins were set apart. */
  ofSuccess: boolean;
  hasAddress: boolean;
}

/** The amount that a refund gives back before the network's fee, and what it uses up for that. */
export interface ModelShare {
  readonly coins: bigint;
  readonly used: bigint;
  readonly serviceFee: bigint;
}

export type RefundKind = 'full' | 'excess' | 'unaccepted' | 'partial';

/** The wishes of somebody who asks for a refund. */
export interface RefundWish {
  readonly kind: RefundKind;
  readonly currency: string;
  readonly network: string;
  /** For a partial refund. */
  readonly amount: bigint;
  readonly withFee: boolean;
  readonly isToday: boolean;
}

/** In units of the stablecoins that histories pay in. Less than this, and than a hundredth of the amount due, is dust. */
const smallestAmount = 10_000n;
const inclusionMs = 6 * 3_600_000;

interface Chain {
  height: number;
  time: number;
  readonly times: Map<number, number>;
  readonly txs: ModelTx[];
  /** 2 by default. */
  readonly confirmations?: number;
  /** Up to when every block of the network was read; up to now by default. */
  readUntil?: number;
}

export class NaiveModel {
  readonly chains = new Map<string, Chain>();
  readonly merchants: ModelMerchant[] = [];

  chain(network: string): Chain {
    const chain = this.chains.get(network);
    if (!chain) throw new Error(`The model has no ${network}`);
    return chain;
  }

  mine(network: string, count: number, now: number): void {
    const chain = this.chain(network);
    for (const tx of chain.txs) if (tx.place === 'pending') tx.place = chain.height + 1;
    this.#extend(chain, count, now);
  }

  reorg(network: string, depth: number, keep: boolean, now: number): void {
    const chain = this.chain(network);
    const base = chain.height - depth;
    for (const tx of chain.txs) {
      // A transaction that pays a withdrawal is sent again.
      const isSentAgain = keep || !tx.payment;
      if (typeof tx.place === 'number' && tx.place > base) tx.place = isSentAgain ? 'pending' : 'gone';
    }
    chain.height = base;
    chain.time = chain.times.get(base) ?? 0;
    this.#extend(chain, depth, now);
  }

  #extend(chain: Chain, count: number, now: number): void {
    chain.time = Math.max(chain.time, now);
    for (let made = 0; made < count; made += 1) {
      chain.height += 1;
      chain.times.set(chain.height, chain.time);
    }
  }

  #isDeep(tx: ModelTx): boolean {
    const { height, confirmations = 2 } = this.chain(tx.network);
    return typeof tx.place === 'number' && height - tx.place + 1 >= confirmations;
  }

  /** Updates the server's knowledge when it reads a network. */
  scan(network: string, now: number, cents: (currency: string) => bigint): void {
    const chain = this.chain(network);
    for (const tx of chain.txs) {
      if (!tx.payment) continue;
      const isPresent = tx.place !== 'gone';
      if (isPresent && !tx.receipt?.isPresent) {
        const blockTime = typeof tx.place === 'number' ? (chain.times.get(tx.place) ?? now) : now;
        const seen = { seenAt: Math.min(now, blockTime), cents: cents(tx.currency), isPresent: true };
        const fresh = { isConfirmed: false, wasLost: false, fee: undefined };
        tx.receipt = { ...fresh, ...tx.receipt, ...seen };
      }
      this.#priceIfLate(tx, now, cents);
      const { receipt } = tx;
      if (!receipt) continue;
      receipt.isPresent = isPresent;
      const isConfirmed = this.#isDeep(tx);
      if (receipt.isConfirmed && !isConfirmed) {
        receipt.fee = undefined;
        receipt.wasLost = true;
      }
      receipt.isConfirmed = isConfirmed;
    }
    this.assessAll(now);
  }

  /** A transfer that was seen in time and got into a block hours after the deadline counts from then, at that price. */
  #priceIfLate(tx: ModelTx, now: number, cents: (currency: string) => bigint): void {
    const { receipt, payment, place } = tx;
    if (!receipt || !payment || typeof place !== 'number') return;
    const deadline = Math.min(payment.expiresAt, payment.cancelledAt ?? Infinity);
    const minedAt = this.chain(tx.network).times.get(place) ?? now;
    if (receipt.seenAt > deadline || minedAt <= deadline + inclusionMs) return;
    Object.assign(receipt, { seenAt: Math.min(now, minedAt), cents: cents(tx.currency) });
  }

  assessAll(now: number): void {
    for (const merchant of this.merchants)
      for (const payment of merchant.payments) this.#assess(payment, now);
  }

  #assess(payment: ModelPayment, now: number): void {
    const { amount, expiresAt, cancelledAt } = payment;
    const present = payment.txs.flatMap((tx) =>
      tx.receipt?.isPresent ? [{ tx, receipt: tx.receipt, isRight: isRight(tx, payment) }] : [],
    );
    const deadline = Math.min(expiresAt, cancelledAt ?? Infinity);
    // The amount that went back, or is about to, before the payment was a success: of the coins in time first, and of
    // the most valuable ones.
    let gone = this.#refundsOf(payment, payment.currency, payment.network)
      .filter((one) => isSetApart(one) && one.refund?.ofSuccess === false)
      .reduce((total, { refund }) => total + (refund?.used ?? 0n), 0n);
    const left = new Map<ModelTx, bigint>();
    const inOrder = present
      .filter(({ isRight, receipt }) => isRight && receipt.isConfirmed)
      .sort(
        (a, b) =>
          Number(a.receipt.seenAt > deadline) - Number(b.receipt.seenAt > deadline) ||
          Number(b.receipt.cents - a.receipt.cents),
      );
    for (const { tx } of inOrder) {
      const taken = tx.amount < gone ? tx.amount : gone;
      gone -= taken;
      left.set(tx, tx.amount - taken);
    }
    const leftOf = (tx: ModelTx) => left.get(tx) ?? tx.amount;
    const counting = present.filter(({ isRight }) => isRight);
    const whole = (list: typeof present) => list.reduce((total, { tx }) => total + tx.amount, 0n);
    const sum = (list: typeof present) => list.reduce((total, { tx }) => total + leftOf(tx), 0n);
    const inTime = counting.filter(({ receipt }) => receipt.seenAt <= deadline);
    const confirmed = counting.filter(({ receipt }) => receipt.isConfirmed);
    const received = sum(confirmed);
    // Cents per USDT of 6 decimals: units × cents per dollar / 10^6, against cents of the base amount.
    const worth = confirmed.reduce((total, { tx, receipt }) => total + leftOf(tx) * receipt.cents, 0n);
    const isWorthIt = worth >= payment.baseAmount * 1_000_000n;
    const { readUntil = now } = this.chain(payment.network);
    const isDust = ({ tx }: (typeof present)[number]) =>
      tx.amount < smallestAmount && tx.amount * 100n < payment.amount;
    const isWaiting = inTime.some(
      (one) =>
        !one.receipt.isConfirmed &&
        (typeof one.tx.place === 'number' || (!isDust(one) && readUntil < deadline + inclusionMs)),
    );

    const state = ((): string => {
      if (sum(inTime.filter(({ receipt }) => receipt.isConfirmed)) >= amount) {
        return received > amount ? 'settled_over' : 'settled';
      }
      if (cancelledAt !== undefined) return present.length > 0 ? 'cancelled_paid' : 'cancelled';
      if (now >= expiresAt && readUntil >= expiresAt && !isWaiting) {
        if (received >= amount && isWorthIt) return 'settled_late';
        if (payment.hasSucceeded) return 'reversed';
        if (confirmed.some(({ receipt }) => receipt.seenAt > deadline)) return 'expired_late';
        if (confirmed.length > 0) return 'expired_partial';
        return present.length > counting.length ? 'invalid' : 'expired';
      }
      if (payment.hasSucceeded) return 'reversed';
      const seen = sum(counting);
      if (seen >= amount) return 'confirming';
      return seen > 0n ? 'partially_paid' : 'awaiting_funds';
    })();
    const wasSuccess = payment.state.startsWith('settled');
    payment.state = state;
    if (state.startsWith('settled') && !wasSuccess) {
      for (const one of this.#refundsOf(payment, payment.currency, payment.network)) {
        const waits = one.status === 'held' && one.refund?.hasAddress === false;
        if (waits && !one.refund.ofSuccess) one.status = 'back';
      }
    }

    const bp = payment.merchant.feeBasisPoints;
    const isSuccess = state.startsWith('settled');
    const isOpen = ['awaiting_funds', 'partially_paid', 'confirming'].includes(state);
    const uncredited = present.filter(({ receipt }) => receipt.isConfirmed && receipt.fee === undefined);
    const single = uncredited.filter(
      ({ isRight }) => !isRight || (!isOpen && !(isSuccess && !payment.hasSucceeded)),
    );
    for (const { tx, receipt } of single) receipt.fee = (tx.amount * bp) / 10_000n;
    if (!isSuccess || payment.hasSucceeded) return;
    // The settlement: one fee on the sum, shared by the largest remainder, the earlier receipt first.
    payment.hasSucceeded = true;
    const settled = uncredited.filter(({ isRight }) => isRight);
    let rounded = (whole(settled) * bp) / 10_000n;
    for (const { tx, receipt } of settled) {
      receipt.fee = (tx.amount * bp) / 10_000n;
      rounded -= receipt.fee;
    }
    const rest = ({ tx }: (typeof settled)[number]) => Number((tx.amount * bp) % 10_000n);
    for (const { receipt } of settled.sort((a, b) => rest(b) - rest(a)).slice(0, Number(rounded))) {
      receipt.fee = (receipt.fee ?? 0n) + 1n;
    }
  }

  #receipts(merchant: ModelMerchant, currency: string) {
    return merchant.payments.flatMap((payment) =>
      payment.txs.flatMap((tx) =>
        tx.receipt && tx.currency === currency ? [{ tx, receipt: tx.receipt }] : [],
      ),
    );
  }

  #transfers(merchant: ModelMerchant, currency: string, ...statuses: ModelTransfer['status'][]) {
    return merchant.transfers.filter((one) => one.currency === currency && statuses.includes(one.status));
  }

  /** Fees of all credited receipts and sent withdrawals. */
  fees(currency: string): bigint {
    return this.merchants.reduce(
      (total, merchant) =>
        total +
        this.#receipts(merchant, currency).reduce((sum, { receipt }) => sum + (receipt.fee ?? 0n), 0n) +
        this.#transfers(merchant, currency, 'success').reduce((sum, { fee }) => sum + fee, 0n) -
        this.#feesBack(merchant, currency),
      0n,
    );
  }

  /** The fees on an excess that goes back, while it does. */
  #feesBack(merchant: ModelMerchant, currency: string): bigint {
    return this.#transfers(merchant, currency, 'held', 'pending', 'processing', 'success').reduce(
      (sum, { refund }) => sum + (refund?.kind === 'excess' ? refund.serviceFee : 0n),
      0n,
    );
  }

  #refundsOf(payment: ModelPayment, currency: string, network: string) {
    return payment.merchant.transfers.filter(
      (one) => one.refund?.payment === payment && one.currency === currency && one.network === network,
    );
  }

  balance(merchant: ModelMerchant, currency: string) {
    const receipts = this.#receipts(merchant, currency);
    const credited = receipts
      .filter(({ receipt }) => receipt.fee !== undefined)
      .reduce(
        (sum, { tx, receipt }) => sum + tx.amount - (receipt.fee ?? 0n),
        this.#feesBack(merchant, currency),
      );
    const unallocated = receipts
      .filter(({ receipt }) => receipt.isConfirmed && receipt.fee === undefined)
      .reduce((sum, { tx }) => sum + tx.amount, 0n);
    const sum = (list: readonly ModelTransfer[]) =>
      list.reduce((total, { amount, fee }) => total + amount + fee, 0n);
    const reserved = sum(this.#transfers(merchant, currency, 'held', 'pending', 'processing'));
    const sent = sum(this.#transfers(merchant, currency, 'success'));
    const custody = receipts
      .filter(({ receipt }) => receipt.isConfirmed)
      .reduce((total, { tx }) => total + tx.amount, -sent);
    return { net: credited - reserved - sent, reserved, unallocated, custody };
  }

  /** The merchant's coins on a network that no withdrawal has reserved. */
  coins(merchant: ModelMerchant, currency: string, network: string): bigint {
    const received = this.#receipts(merchant, currency)
      .filter(({ tx, receipt }) => tx.network === network && receipt.isConfirmed)
      .reduce((sum, { tx }) => sum + tx.amount, 0n);
    return this.#transfers(merchant, currency, 'held', 'pending', 'processing', 'success')
      .filter((one) => one.network === network)
      .reduce((sum, { amount, fee }) => sum - amount - fee, received);
  }

  canWithdraw(merchant: ModelMerchant, currency: string, network: string, units: bigint): boolean {
    return this.balance(merchant, currency).net >= units && this.coins(merchant, currency, network) >= units;
  }

  /** Decides if a held withdrawal may be signed, must wait, or has to be given back. */
  cover(merchant: ModelMerchant, transfer: ModelTransfer): 'sign' | 'wait' | 'fail' {
    const { currency, network } = transfer;
    const need = transfer.amount + transfer.fee;
    const { net, reserved } = this.balance(merchant, currency);
    const units = (list: readonly ModelTransfer[]) =>
      list.reduce((sum, { amount, fee }) => sum + amount + fee, 0n);
    const moving = this.#transfers(merchant, currency, 'processing');
    const pendingHere = this.#transfers(merchant, currency, 'held', 'pending').filter(
      (one) => one.network === network,
    );
    const here = this.coins(merchant, currency, network) + units(pendingHere);
    const backed = reserved + (net < 0n ? net : 0n) - units(moving);
    if (here >= need && backed >= need) return 'sign';
    return this.#isReturning(merchant, currency) ? 'wait' : 'fail';
  }

  /** True if deposits that left their blocks may be confirmed again. */
  #isReturning(merchant: ModelMerchant, currency: string): boolean {
    return this.#receipts(merchant, currency).some(
      ({ receipt }) => receipt.wasLost && receipt.isPresent && !receipt.isConfirmed,
    );
  }

  #credited(payment: ModelPayment, currency: string, network: string, except?: ModelRefund) {
    const mine = payment.txs.flatMap(({ receipt, ...tx }) =>
      tx.currency === currency && tx.network === network && receipt?.fee !== undefined
        ? [{ amount: tx.amount, fee: receipt.fee, cents: receipt.cents }]
        : [],
    );
    const live = this.#refundsOf(payment, currency, network).filter(
      (one) => one.refund !== except && !['failed', 'back'].includes(one.status),
    );
    const sumOf = (list: typeof live, name: 'used' | 'serviceFee') =>
      list.reduce((total, { refund }) => total + (refund?.[name] ?? 0n), 0n);
    const amount = mine.reduce((total, one) => total + one.amount, 0n);
    const before = live.filter((one) => isSetApart(one) && one.refund?.ofSuccess === false);
    const isRight = currency === payment.currency && network === payment.network;
    const isSuccess = payment.state.startsWith('settled');
    const over = amount - sumOf(before, 'used') - payment.amount;
    return {
      amount,
      isRight,
      isSuccess,
      fee: mine.reduce((total, one) => total + one.fee, 0n),
      value: mine.reduce((total, one) => total + one.amount * one.cents, 0n),
      excess: isRight && isSuccess && over > 0n ? over : 0n,
      used: sumOf(live, 'used'),
      usedFee: sumOf(live, 'serviceFee'),
      usedExcess: sumOf(
        live.filter(({ refund }) => refund?.kind === 'excess'),
        'used',
      ),
    };
  }

  /** The part of a payment's money that a refund takes; undefined if there is nothing to give back, or too little. */
  refundable(payment: ModelPayment, wish: RefundWish, cents: bigint): ModelShare | undefined {
    const { currency, network, kind } = wish;
    const facts = this.#credited(payment, currency, network);
    const { amount, value, isRight, isSuccess } = facts;
    if (amount === 0n) return undefined;
    if (kind === 'unaccepted' && isSuccess && isRight) return undefined;
    if (kind === 'excess' && !(isSuccess && isRight)) return undefined;
    const share = shareOf(facts, wish);
    if (!share || !wish.isToday) return share;
    const { coins } = share;
    const today =
      isSuccess && isRight
        ? (coins * payment.baseAmount * 1_000_000n) / (payment.amount * cents)
        : (coins * value) / (amount * cents);
    return { ...share, coins: today < coins ? today : coins };
  }

  /** True if the money of a refund is still there: the chain, or the payer, can have changed that. */
  isDue({ currency, network, refund, status }: ModelTransfer): boolean {
    if (!refund) return true;
    const facts = this.#credited(refund.payment, currency, network, refund);
    const isHeld = status !== 'held' || refund.hasAddress;
    if (refund.kind === 'unaccepted' && facts.isRight && facts.isSuccess && !isHeld) return false;
    const left = facts.amount - facts.used;
    const excess = facts.excess - facts.usedExcess;
    return refund.used <= (refund.kind === 'excess' && excess < left ? excess : left);
  }

  canApprove(transfer: ModelTransfer): boolean {
    return transfer.refund?.hasAddress === true && this.isDue(transfer);
  }

  /** Sends and ends withdrawals, as the server does after every change. */
  advance(): { signed: ModelTransfer[] } {
    const signed: ModelTransfer[] = [];
    for (const merchant of this.merchants) {
      for (const transfer of merchant.transfers) {
        if (transfer.status !== 'pending') continue;
        const cover = this.cover(merchant, transfer);
        if (cover === 'fail') transfer.status = 'failed';
        if (cover !== 'sign') continue;
        if (!this.isDue(transfer)) {
          if (!this.#isReturning(merchant, transfer.currency)) transfer.status = 'failed';
          continue;
        }
        transfer.status = 'processing';
        signed.push(transfer);
      }
    }
    for (const merchant of this.merchants) {
      for (const transfer of merchant.transfers) {
        const { tx, status } = transfer;
        if (tx && status === 'processing' && this.#isDeep(tx)) transfer.status = 'success';
      }
    }
    return { signed };
  }
}

/** From its address on, until it ends unpaid. */
function isSetApart({ status, refund }: ModelTransfer): boolean {
  if (status === 'held') return refund?.hasAddress === true;
  return status !== 'failed' && status !== 'back';
}

/** The amount to give back without the fee that is kept, in proportion to the share. */
function shareOf(
  facts: Readonly<Record<'amount' | 'fee' | 'excess' | 'used' | 'usedFee' | 'usedExcess', bigint>>,
  { kind, withFee, amount: wanted }: RefundWish,
): ModelShare | undefined {
  const left = facts.amount - facts.used;
  if (left <= 0n) return undefined;
  const unpaid = facts.fee - facts.usedFee;
  const fee = unpaid < 0n ? 0n : unpaid < left ? unpaid : left;
  if (kind === 'excess') {
    const over = facts.excess - facts.usedExcess;
    const used = over < left ? over : left;
    return used > 0n ? { coins: used, used, serviceFee: (fee * used) / left } : undefined;
  }
  const payable = withFee ? left : left - fee;
  if (payable <= 0n) return undefined;
  if (kind !== 'partial') return { coins: payable, used: left, serviceFee: fee };
  if (wanted > payable) return undefined;
  const serviceFee = (fee * wanted) / payable;
  return { coins: wanted, used: withFee ? wanted : wanted + serviceFee, serviceFee };
}

function isRight(tx: ModelTx, payment: ModelPayment): boolean {
  return tx.currency === payment.currency && tx.network === payment.network;
}
