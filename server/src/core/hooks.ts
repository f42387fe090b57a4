/**
 * The questions that modules answer. The core asks most of them, and modules ask the rest: `Questions` groups them. A module
 * registers its answers when it is created. Modules are asked in the order of the product's list, and a question without an
 * answer has a safe default. `kinds` says whether several modules may answer a question, and which answers count.
 */
import type { AttentionCode, GoLiveStep, ModuleFields, Overview, Role } from 'crypto-checkout/contract';
import type { LedgerCheck } from './audit/check-report.js';
import type { AddressHooks } from './addresses/deposit-addresses.js';
import type { ConnectedNetwork, NetworkFinding } from './chains/connected.js';
import type { Reader, Transaction } from './db/engine.js';
import type { TransferRow } from './db/schema.js';
import type { AuditActor, NewAuditEntry } from './merchants/audit-log.js';
import type { ChangedPayment } from './payments/payments-deps.js';
import { takenByRemoved } from './payments/refunds-of.js';
import type { ScanBatch } from './scanning/scan.js';
import { invalidField } from './shared/problem.js';
import { theOnly } from './shared/the-only.js';
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
/** Somebody of a merchant's team. */
export interface Colleague {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
}
/** Something that the shop's staff should look into. */
export interface Trouble extends Scope {
  readonly code: AttentionCode;
  /** Set if the trouble concerns a network or an address. */
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

/** In satoshis. @throws NodesUnavailable */
export type SumUnspent = (connected: ConnectedNetwork, of: CoinsOf, signal: AbortSignal) => Promise<bigint>;

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

/** A sentence of `doctor`. A warning or a problem includes the remedy. */
export interface Finding {
  readonly section: string;
  readonly kind: 'ok' | 'warning' | 'problem';
  readonly text: string;
}

export interface Questions extends AddressHooks {
  /** Before a transfer is ended by hand: refuses what the module is about to pay itself. Problem: `invalid_state`. */
  beforeSettle(reader: Reader, transfer: TransferRow): Promise<void>;
  /** Before a transfer fails: refuses what the module has seen paid. Problem: `invalid_state`. */
  beforeFail(reader: Reader, transfer: TransferRow): Promise<void>;
  /** A transfer is about to be stored, and nothing of the ledger is locked yet, or `beforeTransfers` was called. */
  onTransfer(transaction: Transaction, transfer: TransferRow): Promise<void>;
  /** Why a transfer must not be paid now; undefined if the module has nothing against it. */
  whyNotPaid(reader: Reader, transfer: Payable): Promise<string | undefined>;
  /** Facts about the account that pays a merchant's transfers. */
  payer(): WatchedPayer;
  /** The module's books compared with a network. @throws NodesUnavailable */
  compareWithChain(connected: ConnectedNetwork, signal: AbortSignal): Promise<readonly LedgerCheck[]>;
  /** The wallets of extended keys compared with a network; undefined if its nodes cannot say what an address holds. @throws NodesUnavailable */
  compareWallets(
    connected: ConnectedNetwork,
    signal: AbortSignal,
  ): Promise<readonly LedgerCheck[] | undefined>;

  /** Refuses what cannot be a treasury. Problem: `validation_error`. */
  ensureTreasury(treasury: string): Promise<void>;

  /** The addresses among these that the module watches: their transfers are then read. */
  watchedAddresses(mode: Mode, addresses: readonly string[]): Promise<readonly string[]>;
  /** Coins whose spending the module wants read, as `hash:index`. */
  soughtCoins(mode: Mode, network: string): Promise<Iterable<string>>;
  /** A batch of blocks, in the transaction that moves the cursor, before its transfers become receipts. */
  onBatch(transaction: Transaction, batch: ScanBatch): Promise<void>;

  /** A payment was stored. @returns fields of its record; a module reads them later by its `paymentFields` */
  onPayment(transaction: Transaction, payment: PaymentRow): Promise<ModuleFields>;
  /** Before a payment gets its address: refuses what cannot be sold any more. The payment is locked. Problem: `sold_out`. */
  beforeLock(transaction: Transaction, payment: PaymentRow): Promise<void>;
  /** True if the module wants the events of a merchant, whose record is then read even if no webhook reports it. */
  hears(reader: Reader, scope: Scope): Promise<boolean>;
  /** Something happened that webhooks report, in the transaction that changed it. */
  onEvent(transaction: Transaction, event: NewEvent): Promise<void>;
  /** A payment's status has changed. The payment is locked. */
  onPaymentStatus(transaction: Transaction, payment: ChangedPayment): Promise<void>;
  /** Units of a payment's coins that do not count as received, because they are refunded. */
  factsOf(transaction: Transaction, payment: PaymentRow): Promise<bigint>;
  /** Something is wrong, in the transaction that stores it. It may be called repeatedly for the same trouble. */
  onTrouble(transaction: Transaction, trouble: Trouble): Promise<void>;
  /** The audit log has a new entry, in its transaction. */
  onAudited(transaction: Transaction, entry: NewAuditEntry): Promise<void>;
  /** The e-mail addresses of people who can sign in, by id, among those with these ids. */
  emailsOf(reader: Reader, ids: readonly string[]): Promise<Iterable<readonly [id: string, email: string]>>;
  /** The page that explains an error code. */
  docsUrl(code: string): string | undefined;
  /** A record that pages for the shop's staff show has changed, and is committed. */
  onChange(): void;
  /** A test clock was moved. */
  onClockMoved(signal: AbortSignal): Promise<void>;
  /** Called in the transaction that wipes a merchant's test data, after all rows are deleted. */
  onWiped(transaction: Transaction, merchantId: string): Promise<void>;
  /** The module's parts of `chains status`. */
  chainStatus(): Promise<readonly StatusPart[]>;

  // Asked only by modules, each of which works without the one that answers.

  /** Called before anything of the ledger is locked: locks all that `onTransfer` of these transfers will change, always in the same order. */
  beforeTransfers(transaction: Transaction, transfers: readonly TransferRow[]): Promise<void>;
  /** Refuses payouts of a merchant, or of all if it is undefined. Problem: `service_unavailable`. */
  ensurePayable(reader: Reader, mode: Mode, merchantId: string | undefined): Promise<void>;
  /** In the transaction that exports, signs or stores a payout. Problem: `service_unavailable`. */
  beforePayout(transaction: Transaction, mode: Mode, merchantId?: string): Promise<void>;
  /** True while the server's own keys must sign nothing. */
  isUnsafe(reader: Reader, mode: Mode): Promise<boolean>;
  /** Keeps transfers from being paid until somebody releases them. @returns false if no module can */
  hold(transaction: Transaction, transfers: readonly TransferRow[], actor: AuditActor): Promise<boolean>;
  /** The database was restored from an older backup: its records of the wallets that have transfers are out of date. */
  forgetWallets(transaction: Transaction): Promise<void>;
  /** Coins that were received, and that no payout of the module has touched, as `hash:index`, in parts. */
  untouchedCoins(reader: Reader, of: CoinsOf): AsyncIterable<readonly string[]> | undefined;
  /** Sums what the addresses of a merchant's extended keys hold on the chain. */
  sumUnspent(): SumUnspent | undefined;
  /** The findings of `networks check` about a network. @throws NodesUnavailable */
  checkNetwork(
    connected: ConnectedNetwork,
    merchantId: string | undefined,
    signal: AbortSignal,
  ): Promise<readonly NetworkFinding[]>;
  /** True if an address is a merchant's treasury, a contract of the module, or its key. */
  isOwnAddress(reader: Reader, address: string): Promise<boolean>;
  /** A refund has a new link for its payer, in the transaction that made it. The link is a secret. @returns true if the module brings it to the payer */
  onRefundLink(transaction: Transaction, link: RefundLink): Promise<boolean>;
  /** An invoice is due soon or overdue: once for each, in the transaction that notes it. */
  onInvoiceDue(transaction: Transaction, invoice: OpenInvoice): Promise<void>;
  /** An invoice as it is now; undefined once it is paid or off. */
  openInvoice(reader: Reader, id: string): Promise<OpenInvoice | undefined>;
  /** The people who can sign in for a merchant. */
  staffOf(reader: Reader, merchantId: string): Promise<readonly Colleague[]>;
  /** The first page for the staff: waiting things, and sales. */
  overview(scope: Scope): Promise<Overview | undefined>;
  /** The console's address; undefined if it is off. */
  consoleUrl(): string | undefined;
  /** Invites the first owner of a shop. @returns a link to sign in with; undefined if the console is off, or somebody has signed in */
  ownerLink(transaction: Transaction, merchantId: string, actor: AuditActor): Promise<string | undefined>;
  /** Work that waits for the shop's staff. Counts of 0 are left out. */
  attention(scope: Scope): Promise<readonly Attention[]>;
  /** Steps that a shop takes before it goes live, and whether they are done. */
  goLiveSteps(scope: Scope): Promise<readonly DoneStep[]>;
  /**
   * In the transaction that erases the payer of these payments: erases what only the module can find. Problem: `invalid_state`.
   * @returns addresses of the payer, which are erased elsewhere too
   */
  onErased(transaction: Transaction, paymentIds: readonly string[]): Promise<readonly string[]>;
  /** True while something about payments must end before their payer can be erased, such as a refund. */
  isUnfinished(reader: Reader, paymentIds: readonly string[]): Promise<boolean>;
  /** Looks for reasons why shops take no money, and changes nothing. */
  examine(): Promise<readonly Finding[]>;
}

/** Answers of a module. */
export type Answers = Partial<Questions>;

export type PaymentRow = Omit<ChangedPayment, 'status' | 'cancelledBy'>;

type Question = keyof Questions;

/** The kinds of questions that have such an answer. */
type KindOf<Reply> =
  | 'one'
  | ((() => void) extends () => Reply ? 'notify' : never)
  | (Reply extends Promise<void> ? 'each' : never)
  | (Reply extends Promise<boolean> ? 'any' : never)
  | (Reply extends Promise<string | undefined> ? 'refusal' : never)
  | (Reply extends Promise<Iterable<unknown>> ? 'list' : never);

/** `ways` says what each kind does. */
const kinds = {
  isOffered: 'one',
  addressEpoch: 'one',
  onAddressesReserved: 'notify',
  beforeSettle: 'each',
  beforeFail: 'each',
  onTransfer: 'each',
  whyNotPaid: 'refusal',
  payer: 'one',
  compareWithChain: 'list',
  compareWallets: 'one',
  ensureTreasury: 'one',
  watchedAddresses: 'list',
  soughtCoins: 'list',
  onBatch: 'each',
  onPayment: 'one',
  beforeLock: 'each',
  hears: 'any',
  onEvent: 'each',
  onPaymentStatus: 'each',
  factsOf: 'one',
  onTrouble: 'each',
  onAudited: 'each',
  emailsOf: 'list',
  docsUrl: 'one',
  onChange: 'notify',
  onClockMoved: 'each',
  onWiped: 'each',
  chainStatus: 'list',
  // Asked only by modules.
  beforeTransfers: 'each',
  ensurePayable: 'each',
  beforePayout: 'each',
  isUnsafe: 'any',
  hold: 'one',
  forgetWallets: 'each',
  untouchedCoins: 'one',
  sumUnspent: 'one',
  checkNetwork: 'list',
  isOwnAddress: 'any',
  onRefundLink: 'any',
  onInvoiceDue: 'each',
  openInvoice: 'one',
  staffOf: 'list',
  overview: 'one',
  consoleUrl: 'one',
  ownerLink: 'one',
  attention: 'list',
  goLiveSteps: 'list',
  onErased: 'list',
  isUnfinished: 'any',
  examine: 'list',
} as const satisfies { readonly [Q in Question]: KindOf<ReturnType<Questions[Q]>> };

type Kind = (typeof kinds)[Question];
type AnsweredByOne = { [Q in Question]: (typeof kinds)[Q] extends 'one' ? Q : never }[Question];

const nothing = () => Promise.resolve(undefined);

/** Answers without a module. Anything that only a module can do safely is refused. */
const unanswered: Pick<Questions, AnsweredByOne> = {
  // Without a module that sweeps them, nothing would ever leave the addresses of a treasury.
  isOffered: (_network, { forwarder }) => !forwarder,
  ensureTreasury: () => Promise.reject(invalidField('treasury', 'This server sweeps no treasuries')),
  hold: () => Promise.resolve(false),
  addressEpoch: () => Promise.resolve(0),
  factsOf: takenByRemoved,
  onPayment: () => Promise.resolve({}),
  payer: () => unwatchedPayer,
  untouchedCoins: () => undefined,
  sumUnspent: () => undefined,
  compareWallets: nothing,
  openInvoice: nothing,
  overview: nothing,
  ownerLink: nothing,
  consoleUrl: () => undefined,
  docsUrl: () => undefined,
};

type Ask<Q extends Question> = (typeof kinds)[Q] extends 'list' ? AskForAll<Questions[Q]> : Questions[Q];
type AskForAll<One> = One extends (...asked: infer Asked) => Promise<Iterable<infer Item>>
  ? (...asked: Asked) => Promise<Item[]>
  : never;

export type Hooks = { readonly [Q in Question]: Ask<Q> } & {
  /** @throws if another module has answered a question that one module answers */
  register(module: string, answers: Answers): void;
};

type Answer = (...asked: never[]) => unknown;
interface Given {
  readonly module: string;
  readonly answer: Answer;
}

/** Asks the modules that have answered. */
const ways: Readonly<Record<Kind, (given: readonly Given[], fallback: Answer | undefined) => Answer>> = {
  /** All are notified, at once. */
  notify:
    (given) =>
    (...asked) => {
      for (const { answer } of given) answer(...asked);
    },
  /** All act, one after the other. The first error ends it, and refuses. */
  each:
    (given) =>
    async (...asked) => {
      for (const { answer } of given) await answer(...asked);
    },
  /** The first yes counts. */
  any:
    (given) =>
    async (...asked) => {
      for (const { answer } of given) if (await answer(...asked)) return true;
      return false;
    },
  /** The first reason counts. */
  refusal:
    (given) =>
    async (...asked) => {
      for (const { answer } of given) {
        const reason = await answer(...asked);
        if (reason !== undefined) return reason;
      }
      return undefined;
    },
  /** All count, in one list. */
  list:
    (given) =>
    async (...asked) => {
      const found: unknown[] = [];
      // The cast is safe: `kinds` allows no other answers.
      for (const { answer } of given) found.push(...((await answer(...asked)) as Iterable<unknown>));
      return found;
    },
  /** One module answers, or `unanswered` does. */
  one:
    (given, fallback) =>
    (...asked) =>
      (given[0]?.answer ?? fallback)?.(...asked),
};

export function createHooks(): Hooks {
  const fallbacks: Answers = unanswered;
  // The cast is safe: the table has no other keys.
  const questions = (Object.keys(kinds) as Question[]).map((question) => ({
    question,
    given: [] as Given[],
  }));
  const asking = questions.map(
    ({ question, given }) => [question, ways[kinds[question]](given, fallbacks[question])] as const,
  );
  return {
    // The cast is safe: `kinds` is checked against the types of the answers.
    ...(Object.fromEntries(asking) as Hooks),
    register(module, answers) {
      for (const { question, given } of questions) {
        const answer = answers[question];
        if (!answer) continue;
        given.push({ module, answer });
        if (kinds[question] === 'one') theOnly(`the answer to "${question}"`, given);
      }
    },
  };
}
