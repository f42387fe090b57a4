/** The whole API at a glance: every resource and its verbs. */
import { balances } from './balances.js';
import { bankAccounts } from './bank-accounts.js';
import { books } from './books.js';
import { countries } from './countries.js';
import { currencies } from './currencies.js';
import { customers } from './customers.js';
import type { Endpoint } from './endpoint.js';
import { home } from './home.js';
import { links } from './links.js';
import { meta } from './meta.js';
import { paymentPlans } from './payment-plans.js';
import { payments } from './payments.js';
import { payouts } from './payouts.js';
import { refundClaims, refunds } from './refunds.js';
import { subscribers } from './subscribers.js';
import { transactions } from './transactions.js';
import { transfers } from './transfers.js';
import { walletAddresses } from './wallet-addresses.js';
import { wallets } from './wallets.js';
import { webhooks } from './webhook-deliveries.js';

/** The resources of every server. */
export const coreApi = {
  meta,
  customers,
  bankAccounts,
  countries,
  balances,
  currencies,
  paymentPlans,
  subscribers,
  walletAddresses,
  transfers,
  payouts,
  payments,
  transactions,
  wallets,
  webhooks,
} as const satisfies Record<string, Record<string, Endpoint>>;

/** The resources of a server with all modules, and of the client. */
export const api = { ...coreApi, refunds, refundClaims, books, links, home } as const satisfies Record<
  string,
  Record<string, Endpoint>
>;

export type CoreApi = typeof coreApi;
export type Api = typeof api;

export * from './checkout-schemas.js';
export { auditLogQuery } from './audit-log.js';
export { secretIn, secretWarning, type Secret } from './secret-text.js';
export {
  checkoutRoutes,
  type CreatedPayment,
  type CurrencyOption,
  type EvmAsset,
  type LogEntry,
  type Payment,
  type ReceiptView,
} from './checkout.js';
export * from './book-files.js';
export { bookingKinds, books, type Booking, type BookingKind } from './books.js';
export { csvLine } from './csv.js';
export { families, type Family } from './families.js';
export type { AddressKind } from './fields.js';
export type { TransferCheck } from './transfer-check.js';
export { bankPayouts, mostBankPayouts } from './console-banks.js';
export { chainChecks } from './console-chain-checks.js';
export { erasure } from './console-erasure.js';
export { relations } from './console-relations.js';
export { caseNoteKinds, cases, type CaseNoteKind, type PaymentCase } from './console-cases.js';
export { payoutExports, psbts, transfersByHand } from './console-payouts.js';
export {
  mailApi,
  payerMailKinds,
  staffMailKinds,
  type MailApi,
  type PayerMailKind,
  type StaffMailKind,
} from './console-mail.js';
export { sweeps } from './console-sweeps.js';
export { goLiveSteps, type GoLiveStep } from './console-go-live.js';
export { keyScopes, settingsApi, type KeyScope, type SettingsApi } from './console-settings.js';
export { consoleApi, type ConsoleApi } from './console.js';
export {
  allows,
  changesPath,
  consoleStart,
  peopleApi,
  roles,
  type ConsoleSession,
  type ConsoleStart,
  type PeopleApi,
  type Role,
} from './console-people.js';
export * from './decimal.js';
export * from './endpoint.js';
export * from './errors.js';
export * from './payment-record.js';
export * from './payment-states.js';
export { attentionCodes, home, type AttentionCode, type Overview } from './home.js';
export { knownFields, links, type InvoiceStatus, type Link } from './links.js';
export { frequencies, type Frequency } from './payment-plans.js';
export { refundClaims, refundKinds, refunds, type RefundClaim } from './refunds.js';
export * from './retry-after.js';
export * from './walk.js';
export { sandbox } from './sandbox.js';
export { paymentReviews, type PaymentReview } from './transactions.js';
export * from './units.js';
export * from './webhooks.js';
export { worthOf } from './worth.js';
