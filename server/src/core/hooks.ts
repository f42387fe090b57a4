/**
 * Questions that the core asks the modules. A module registers its answers when it is created. The core asks in the order of the
 * product's list, and works without any answer.
 */
import type { Api, AttentionCode, Data, GoLiveStep, ModuleFields, Role } from 'crypto-checkout/contract';
import type { LedgerCheck } from './audit/check-report.js';
import type { AddressHooks } from './addresses/deposit-addresses.js';
import type { ConnectedNetwork, NetworkFinding } from './chains/connected.js';
import type { Reader, Transaction } from './db/engine.js';
import type { TransferRow } from './db/schema.js';
import type { AuditActor, NewAuditEntry } from './merchants/audit-log.js';
import type { ChangedPayment } from './payments/payments-deps.js';
import type { ScanBatch } from './scanning/scan.js';
import { invalidField } from './shared/problem.js';
import type { NewEvent } from './webhooks/outbox.js';
import type { Mode, Scope } from './shared/scope.js';
import { unwatchedPayer, type WatchedPayer } from './withdrawals/transfers-by-hand.js';

/** Records that wait for the shop's staff, and the list that shows them. */
export type Attention = Overview['attention'][number];
/** A step before a shop goes live. */
export interface DoneStep {
  readonly code: GoLiveStep;
  readonly isDone: boolean;
}
/** The first page for the shop's staff. */
export type Overview = Data<Api['home']['retrieve']>;
/** Somebody of a merchant's team. */
export interface Colleague {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
}
/** Something that the shop's staff should look into. */
export interface Trouble extends Scope {
  readonly code: AttentionCode;
  /** Of a network or an address. */
  readonly network?: string;
  readonly amount?: string;
}
/** A transfer that is about to be paid, as far as a decision about it needs. */
export type Payable = Pick<TransferRow, 'refund_id' | 'merchant_id' | 'mode'>;
/** Coins of a merchant on a network of Bitcoin's kind. */
export interface CoinsOf {
  readonly scope: Scope;
  readonly network: string;
  readonly currency: string;
}

export interface RefundLink extends Scope {
  readonly paymentId: string;
  readonly amount: number;
  readonly currency: string;
  readonly url: string;
  readonly expiresAt: number;
}

/** An invoice that is not paid, for one customer. */
export interface OpenInvoice extends Scope {
  readonly id: string;
  readonly customerId: string;
  readonly title: string;
  /** `1,249.90 USD`. */
  readonly amount: string;
  readonly dueAt: number;
  readonly isOverdue: boolean;
  readonly url: string;
}

/** A part of `chains status`. */
export interface StatusPart {
  readonly lines: readonly string[];
  /** Fields of the JSON. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The command then exits with 1. */
  readonly hasFailed: boolean;
}

export interface Answers extends Partial<AddressHooks> {
  /** Before a transfer is ended by hand: refuses what the module is about to pay itself. Problem: `invalid_state`. */
  beforeSettle?(reader: Reader, transfer: TransferRow): Promise<void>;
  /** Before a transfer fails: refuses what the module has seen paid. Problem: `invalid_state`. */
  beforeFail?(reader: Reader, transfer: TransferRow): Promise<void>;
  /** Before anything of the ledger is locked: locks all that `onTransfer` of these transfers will change, in one order for all who do. */
  beforeTransfers?(transaction: Transaction, transfers: readonly TransferRow[]): Promise<void>;
  /** A transfer is about to be stored, and nothing of the ledger is locked yet, or `beforeTransfers` was called. */
  onTransfer?(transaction: Transaction, transfer: TransferRow): Promise<void>;
  /** Why a transfer must not be paid now; undefined if the module has nothing against it. */
  whyNotPaid?(reader: Reader, transfer: Payable): Promise<string | undefined>;
  /** Refuses payouts of a merchant, or of all if it is undefined. Problem: `service_unavailable`. */
  ensurePayable?(reader: Reader, mode: Mode, merchantId: string | undefined): Promise<void>;
  /** In the transaction that exports, signs or stores a payout. Problem: `service_unavailable`. */
  beforePayout?(transaction: Transaction, mode: Mode, merchantId: string | undefined): Promise<void>;
  /** True while the server's own keys must sign nothing. */
  isUnsafe?(reader: Reader, mode: Mode): Promise<boolean>;
  /** Keeps transfers from being paid until somebody releases them. */
  hold?(transaction: Transaction, transfers: readonly TransferRow[], actor: AuditActor): Promise<void>;
  /** Facts about the account that pays a merchant's transfers. One module answers. */
  readonly payer?: WatchedPayer;
  /** Coins that were received, and that no payout of the module has touched, as `hash:index`, in parts. */
  untouchedCoins?(reader: Reader, of: CoinsOf): AsyncIterable<readonly string[]>;

  /** In satoshis, what the addresses of a merchant's extended keys hold on the chain. @throws NodesUnavailable */
  sumUnspent?(connected: ConnectedNetwork, of: CoinsOf, signal: AbortSignal): Promise<bigint>;
  /** The module's books compared with a network. @throws NodesUnavailable */
  compareWithChain?(connected: ConnectedNetwork, signal: AbortSignal): Promise<readonly LedgerCheck[]>;
  /** The wallets of extended keys compared with a network; undefined if its nodes cannot say what an address holds. @throws NodesUnavailable */
  compareWallets?(
    connected: ConnectedNetwork,
    signal: AbortSignal,
  ): Promise<readonly LedgerCheck[] | undefined>;

  /** Refuses what cannot be a treasury. Problem: `validation_error`. */
  ensureTreasury?(treasury: string): Promise<void>;
  /** The findings of `networks check` about a network. @throws NodesUnavailable */
  checkNetwork?(
    connected: ConnectedNetwork,
    merchantId: string | undefined,
    signal: AbortSignal,
  ): Promise<readonly NetworkFinding[]>;
  /** True if an address is a merchant's treasury, a contract of the module, or its key. */
  isOwnAddress?(reader: Reader, address: string): Promise<boolean>;

  /** Those of the addresses whose transfers the module wants read. */
  watchedAddresses?(mode: Mode, addresses: readonly string[]): Promise<readonly string[]>;
  /** Coins whose spending the module wants read, as `hash:index`. */
  soughtCoins?(mode: Mode, network: string): Promise<ReadonlySet<string>>;
  /** A batch of blocks, in the transaction that moves the cursor, before its transfers become receipts. */
  onBatch?(transaction: Transaction, batch: ScanBatch): Promise<void>;

  /** A payment was stored. @returns fields of its record; a module reads them later by its `paymentFields` */
  onPayment?(transaction: Transaction, payment: PaymentRow): Promise<ModuleFields>;
  /** Before a payment gets its address: refuses what cannot be sold any more. The payment is locked. Problem: `sold_out`. */
  beforeLock?(transaction: Transaction, payment: PaymentRow): Promise<void>;
  /** True if the module wants the events of a merchant, whose record is then read even if no webhook reports it. */
  hears?(reader: Reader, scope: Scope): Promise<boolean>;
  /** Something happened that webhooks report, in the transaction that changed it. */
  onEvent?(transaction: Transaction, event: NewEvent): Promise<void>;
  /** A refund has a new link for its payer, in the transaction that made it. The link is a secret. @returns whether it is brought to the payer */
  onRefundLink?(transaction: Transaction, link: RefundLink): Promise<boolean>;
  /** An invoice is due soon or overdue: once for each, in the transaction that notes it. */
  onInvoiceDue?(transaction: Transaction, invoice: OpenInvoice): Promise<void>;
  /** An invoice as it is now; undefined once it is paid or off. One module answers. */
  openInvoice?(reader: Reader, id: string): Promise<OpenInvoice | undefined>;
  /** A payment's status has changed. The payment is locked. */
  onPaymentStatus?(transaction: Transaction, payment: ChangedPayment): Promise<void>;
  /** Units of a payment's coins that do not count as received, because they are refunded. */
  factsOf?(transaction: Transaction, payment: PaymentRow): Promise<bigint>;

  /** Those who can sign in for a merchant. */
  staffOf?(reader: Reader, merchantId: string): Promise<readonly Colleague[]>;
  /** The first page for the staff: waiting things, and sales. One module answers. */
  overview?(scope: Scope): Promise<Overview>;
  /** Something is wrong, in the transaction that stores it. It may be called often for the same. */
  onTrouble?(transaction: Transaction, trouble: Trouble): Promise<void>;
  /** The audit log has a new entry, in its transaction. */
  onAudited?(transaction: Transaction, entry: NewAuditEntry): Promise<void>;
  /** The e-mail addresses of people who can sign in, by id, among those with these ids. */
  emailsOf?(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The console's address; undefined if it is off. */
  consoleUrl?(): string | undefined;
  /** Invites the first owner of a shop. @returns a link to sign in with; undefined if the console is off, or somebody has signed in */
  ownerLink?(transaction: Transaction, merchantId: string, actor: AuditActor): Promise<string | undefined>;
  /** The page that explains an error code. */
  docsUrl?(code: string): string;
  /** A record that pages for the shop's staff show has changed, and is committed. */
  onChange?(): void;
  /** Work that waits for the shop's staff. Counts of 0 are left out. */
  attention?(scope: Scope): Promise<readonly Attention[]>;
  /** Steps that a shop takes before it goes live, and whether they are done. */
  goLiveSteps?(scope: Scope): Promise<readonly DoneStep[]>;
  /** A test clock was moved. */
  onClockMoved?(signal: AbortSignal): Promise<void>;
  /**
   * In the transaction that erases the payer of these payments: erases what only the module can find. Problem: `invalid_state`.
   * @returns addresses of the payer, which are erased elsewhere too
   */
  onErased?(transaction: Transaction, paymentIds: readonly string[]): Promise<readonly string[]>;
  /** True while something about payments must end before their payer can be erased, such as a refund. */
  isUnfinished?(reader: Reader, paymentIds: readonly string[]): Promise<boolean>;
  /** In the transaction that wipes a merchant's test data, after all of it is gone. */
  onWiped?(transaction: Transaction, merchantId: string): Promise<void>;
  /** The module's part of `chains status`. */
  chainStatus?(): Promise<StatusPart>;
}

export type PaymentRow = Omit<ChangedPayment, 'status' | 'cancelledBy'>;

export type Hooks = ReturnType<typeof createHooks>;

type Answering<Question extends keyof Answers> = Answers & Required<Pick<Answers, Question>>;

export function createHooks() {
  const all: Answers[] = [];
  const byQuestion = new Map<keyof Answers, readonly Answers[]>();

  /** Those that answer, in their order. Payers' requests ask questions that few modules answer, some of them for each currency. */
  function answering<Question extends keyof Answers>(question: Question): readonly Answering<Question>[] {
    let found = byQuestion.get(question);
    if (!found) byQuestion.set(question, (found = all.filter((one) => one[question] !== undefined)));
    // The cast is safe: only those that answer are kept.
    return found as readonly Answering<Question>[];
  }

  return {
    register(answers: Answers): void {
      all.push(answers);
      byQuestion.clear();
    },

    // The first refusal counts.
    async beforeSettle(reader: Reader, transfer: TransferRow): Promise<void> {
      for (const one of answering('beforeSettle')) await one.beforeSettle(reader, transfer);
    },
    async beforeFail(reader: Reader, transfer: TransferRow): Promise<void> {
      for (const one of answering('beforeFail')) await one.beforeFail(reader, transfer);
    },
    async beforeLock(transaction: Transaction, payment: PaymentRow): Promise<void> {
      for (const one of answering('beforeLock')) await one.beforeLock(transaction, payment);
    },
    async whyNotPaid(reader: Reader, transfer: Payable): Promise<string | undefined> {
      for (const one of answering('whyNotPaid')) {
        const reason = await one.whyNotPaid(reader, transfer);
        if (reason !== undefined) return reason;
      }
      return undefined;
    },
    async ensurePayable(reader: Reader, mode: Mode, merchantId: string | undefined): Promise<void> {
      for (const one of answering('ensurePayable')) await one.ensurePayable(reader, mode, merchantId);
    },
    async beforePayout(transaction: Transaction, mode: Mode, merchantId?: string): Promise<void> {
      for (const one of answering('beforePayout')) await one.beforePayout(transaction, mode, merchantId);
    },
    async isUnsafe(reader: Reader, mode: Mode): Promise<boolean> {
      for (const one of answering('isUnsafe')) if (await one.isUnsafe(reader, mode)) return true;
      return false;
    },
    async isOwnAddress(reader: Reader, address: string): Promise<boolean> {
      for (const one of answering('isOwnAddress')) if (await one.isOwnAddress(reader, address)) return true;
      return false;
    },

    async ensureTreasury(treasury: string): Promise<void> {
      const checks = answering('ensureTreasury');
      if (checks.length === 0) throw invalidField('treasury', 'This server sweeps no treasuries');
      for (const one of checks) await one.ensureTreasury(treasury);
    },
    /** Without a module that sweeps them, nothing would ever leave the addresses of a treasury. */
    isOffered(...asked: Parameters<AddressHooks['isOffered']>): boolean {
      const answers = answering('isOffered');
      const [, { forwarder }] = asked;
      return (!forwarder || answers.length > 0) && answers.every((one) => one.isOffered(...asked));
    },

    // The first answer counts.
    consoleUrl: (): string | undefined => answering('consoleUrl')[0]?.consoleUrl(),
    ownerLink: async (
      transaction: Transaction,
      merchantId: string,
      actor: AuditActor,
    ): Promise<string | undefined> => answering('ownerLink')[0]?.ownerLink(transaction, merchantId, actor),
    docsUrl: (code: string): string | undefined => answering('docsUrl')[0]?.docsUrl(code),
    openInvoice: async (reader: Reader, id: string): Promise<OpenInvoice | undefined> =>
      answering('openInvoice')[0]?.openInvoice(reader, id),
    overview: async (scope: Scope): Promise<Overview | undefined> =>
      answering('overview')[0]?.overview(scope),
    payer: (): WatchedPayer => answering('payer')[0]?.payer ?? unwatchedPayer,
    sumUnspent: (): Answers['sumUnspent'] => answering('sumUnspent')[0]?.sumUnspent,

    // All answers count.
    async *untouchedCoins(reader: Reader, of: CoinsOf): AsyncGenerator<readonly string[]> {
      for (const one of answering('untouchedCoins')) yield* one.untouchedCoins(reader, of);
    },
    async addressEpoch(reader: Reader, scope: Scope, sourceId: string): Promise<number> {
      let epoch = 0;
      for (const one of answering('addressEpoch')) epoch += await one.addressEpoch(reader, scope, sourceId);
      return epoch;
    },
    async watchedAddresses(mode: Mode, addresses: readonly string[]): Promise<string[]> {
      const found = [];
      for (const one of answering('watchedAddresses'))
        found.push(...(await one.watchedAddresses(mode, addresses)));
      return found;
    },
    async soughtCoins(mode: Mode, network: string): Promise<ReadonlySet<string>> {
      const found = new Set<string>();
      for (const one of answering('soughtCoins'))
        for (const coin of await one.soughtCoins(mode, network)) found.add(coin);
      return found;
    },
    async onPayment(transaction: Transaction, payment: PaymentRow): Promise<ModuleFields> {
      let fields: ModuleFields = {};
      for (const one of answering('onPayment'))
        fields = { ...fields, ...(await one.onPayment(transaction, payment)) };
      return fields;
    },
    async factsOf(transaction: Transaction, payment: PaymentRow): Promise<bigint> {
      let returned = 0n;
      for (const one of answering('factsOf')) returned += await one.factsOf(transaction, payment);
      return returned;
    },
    async onErased(transaction: Transaction, paymentIds: readonly string[]): Promise<string[]> {
      const addresses = [];
      for (const one of answering('onErased'))
        addresses.push(...(await one.onErased(transaction, paymentIds)));
      return addresses;
    },
    async isUnfinished(reader: Reader, paymentIds: readonly string[]): Promise<boolean> {
      for (const one of answering('isUnfinished'))
        if (await one.isUnfinished(reader, paymentIds)) return true;
      return false;
    },
    async emailsOf(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const found = new Map<string, string>();
      for (const one of answering('emailsOf'))
        for (const [id, email] of await one.emailsOf(reader, ids)) found.set(id, email);
      return found;
    },
    async staffOf(reader: Reader, merchantId: string): Promise<Colleague[]> {
      const found = [];
      for (const one of answering('staffOf')) found.push(...(await one.staffOf(reader, merchantId)));
      return found;
    },
    async attention(scope: Scope): Promise<Attention[]> {
      const found = [];
      for (const one of answering('attention')) found.push(...(await one.attention(scope)));
      return found;
    },
    async goLiveSteps(scope: Scope): Promise<DoneStep[]> {
      const found = [];
      for (const one of answering('goLiveSteps')) found.push(...(await one.goLiveSteps(scope)));
      return found;
    },
    async compareWithChain(connected: ConnectedNetwork, signal: AbortSignal): Promise<LedgerCheck[]> {
      const found = [];
      for (const one of answering('compareWithChain'))
        found.push(...(await one.compareWithChain(connected, signal)));
      return found;
    },
    async compareWallets(
      connected: ConnectedNetwork,
      signal: AbortSignal,
    ): Promise<LedgerCheck[] | undefined> {
      let found: LedgerCheck[] | undefined;
      for (const one of answering('compareWallets')) {
        const checks = await one.compareWallets(connected, signal);
        if (checks) found = [...(found ?? []), ...checks];
      }
      return found;
    },
    async checkNetwork(
      connected: ConnectedNetwork,
      merchantId: string | undefined,
      signal: AbortSignal,
    ): Promise<NetworkFinding[]> {
      const found = [];
      for (const one of answering('checkNetwork'))
        found.push(...(await one.checkNetwork(connected, merchantId, signal)));
      return found;
    },
    async chainStatus(): Promise<StatusPart[]> {
      const found = [];
      for (const one of answering('chainStatus')) found.push(await one.chainStatus());
      return found;
    },

    // Each acts.
    onChange: (): void => {
      for (const one of answering('onChange')) one.onChange();
    },
    async beforeTransfers(transaction: Transaction, transfers: readonly TransferRow[]): Promise<void> {
      for (const one of answering('beforeTransfers')) await one.beforeTransfers(transaction, transfers);
    },
    async onTransfer(transaction: Transaction, transfer: TransferRow): Promise<void> {
      for (const one of answering('onTransfer')) await one.onTransfer(transaction, transfer);
    },
    /** @returns false if no module can */
    async hold(
      transaction: Transaction,
      transfers: readonly TransferRow[],
      actor: AuditActor,
    ): Promise<boolean> {
      const answers = answering('hold');
      for (const one of answers) await one.hold(transaction, transfers, actor);
      return answers.length > 0;
    },
    onAddressesReserved: (...reserved: Parameters<AddressHooks['onAddressesReserved']>): void => {
      for (const one of answering('onAddressesReserved')) one.onAddressesReserved(...reserved);
    },
    async onBatch(transaction: Transaction, batch: ScanBatch): Promise<void> {
      for (const one of answering('onBatch')) await one.onBatch(transaction, batch);
    },
    async hears(reader: Reader, scope: Scope): Promise<boolean> {
      for (const one of answering('hears')) if (await one.hears(reader, scope)) return true;
      return false;
    },
    async onEvent(transaction: Transaction, event: NewEvent): Promise<void> {
      for (const one of answering('onEvent')) await one.onEvent(transaction, event);
    },
    async onRefundLink(transaction: Transaction, link: RefundLink): Promise<boolean> {
      let isBrought = false;
      for (const one of answering('onRefundLink'))
        if (await one.onRefundLink(transaction, link)) isBrought = true;
      return isBrought;
    },
    async onInvoiceDue(transaction: Transaction, invoice: OpenInvoice): Promise<void> {
      for (const one of answering('onInvoiceDue')) await one.onInvoiceDue(transaction, invoice);
    },
    async onTrouble(transaction: Transaction, trouble: Trouble): Promise<void> {
      for (const one of answering('onTrouble')) await one.onTrouble(transaction, trouble);
    },
    async onAudited(transaction: Transaction, entry: NewAuditEntry): Promise<void> {
      for (const one of answering('onAudited')) await one.onAudited(transaction, entry);
    },
    async onPaymentStatus(transaction: Transaction, payment: ChangedPayment): Promise<void> {
      for (const one of answering('onPaymentStatus')) await one.onPaymentStatus(transaction, payment);
    },
    async onClockMoved(signal: AbortSignal): Promise<void> {
      for (const one of answering('onClockMoved')) await one.onClockMoved(signal);
    },
    async onWiped(transaction: Transaction, merchantId: string): Promise<void> {
      for (const one of answering('onWiped')) await one.onWiped(transaction, merchantId);
    },
  };
}
