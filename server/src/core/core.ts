/** Assembles the core: builds its rules from the configuration and the database, for the server and the command line. */
import { randomUUID } from 'node:crypto';
import type { CoreApi, Endpoint } from 'crypto-checkout/contract';
import type { Logger } from 'pino';
import { exampleAccountNames } from './bank-accounts/account-names.js';
import { createBankAccounts } from './bank-accounts/bank-accounts.js';
import { createBanks } from './bank-accounts/banks.js';
import { createCountries } from './bank-accounts/countries.js';
import { createBankAccountHandlers, createCountryHandlers } from './bank-accounts/handlers.js';
import { createPaystackAccountNames } from './bank-accounts/paystack.js';
import { createTestAddressSources, type AddressSources } from './addresses/address-sources.js';
import { readTestSeed } from './addresses/test-seed.js';
import { createForwarderSource } from './addresses/forwarders.js';
import { createDepositAddresses } from './addresses/deposit-addresses.js';
import { createDepositKeyChanges } from './addresses/deposit-key-changes.js';
import { createDepositKeys } from './addresses/deposit-keys.js';
import { createWatchedAddresses, isAnyoneExpected } from './addresses/watched-addresses.js';
import { createAvailability, lagLimitMs } from './chains/availability.js';
import type { Chain } from './chains/chain.js';
import { createFindTransfers } from './chains/find-transfers.js';
import type { ConnectNetworks } from './chains/connected.js';
import type { Network } from './chains/networks.js';
import { createNetworkFigures } from './scanning/network-figures.js';
import { networkHealth } from './scanning/network-health.js';
import { createScanStatuses } from './scanning/scan-statuses.js';
import { createScanner } from './scanning/scanner.js';
import { simulatedNetworks } from './chains/simulated/networks.js';
import { createSandboxReset } from './sandbox/reset.js';
import { createSandbox } from './sandbox/sandbox.js';
import { createSimulatedChains } from './chains/simulated/simulated-chain.js';
import { createTestClock } from './chains/simulated/test-clock.js';
import type { Config } from './config.js';
import { createCustomers } from './customers/customers.js';
import { createCustomerHandlers } from './customers/handlers.js';
import { type Database } from './db/database.js';
import { createPersonalData } from './db/personal-data.js';
import { createServerTime } from './db/server-time.js';
import { createUpkeep } from './db/upkeep.js';
import { useDataKeys } from './db/used-data-keys.js';
import { createHooks } from './hooks.js';
import { createLedger } from './ledger/ledger.js';
import { createAccountChanges } from './merchants/account-changes.js';
import { createAuditLog } from './merchants/audit-log.js';
import { createKeys } from './merchants/keys.js';
import { createMerchants } from './merchants/merchants.js';
import { createCurrencies } from './money/currencies.js';
import { currenciesWith } from './money/base-currencies.js';
import { createCurrencyComparison } from './money/compare-currencies.js';
import { openFixedRates } from './money/fixed-rates.js';
import { createCurrencyHandlers } from './money/handlers.js';
import type { RateSource } from './money/rates.js';
import { createRateUpdates } from './money/rate-updates.js';
import { defaultSources } from './money/sources/sources.js';
import { createWorldRates } from './money/world-rates.js';
import { createPruning } from './ops/prune.js';
import { createAuditTrail } from './ops/security-events.js';
import { createDepths, mostConfirmations } from './payments/depth.js';
import { createPaymentHandlers, createTransactionHandlers } from './payments/handlers.js';
import { createPaymentExport } from './payments/payment-export.js';
import { createPayments } from './payments/payments.js';
import { createQuarantineFigures } from './payments/receipts/quarantine.js';
import { hasReturningReceipts } from './payments/receipts/receipt-store.js';
import { createReceipts } from './payments/receipts/receipts.js';
import { createMetaHandlers, type FindEndpoints } from './reference/handlers.js';
import type { Described } from './reference/resources.js';
import type { Handlers } from './api/handler.js';
import { createIdempotency } from './api/idempotency.js';
import type { Feature } from './shared/feature.js';
import { newId as randomId, type NewId } from './shared/ids.js';
import { createBilling } from './subscriptions/billing.js';
import { createCharges } from './subscriptions/charges.js';
import { createPaymentPlanHandlers, createSubscriberHandlers } from './subscriptions/handlers.js';
import { createPaymentPlans } from './subscriptions/plans.js';
import { createSubscribers } from './subscriptions/subscribers.js';
import { createSubscriptionStatus } from './subscriptions/subscription-status.js';
import { createWalletAddressHandlers } from './wallet-addresses/handlers.js';
import { createWalletAddresses } from './wallet-addresses/wallet-addresses.js';
import { createWalletHandlers } from './wallets/handlers.js';
import { createWallets } from './wallets/wallets.js';
import { createBacklogFigures } from './webhooks/backlog-figures.js';
import { createDispatcher } from './webhooks/dispatcher.js';
import { createEndpoints } from './webhooks/endpoints.js';
import { createWebhookHandlers } from './webhooks/handlers.js';
import { createOutbox } from './webhooks/outbox.js';
import { createSender, type SenderOptions } from './webhooks/send.js';
import { createTargets, type TargetsOptions } from './webhooks/targets.js';
import { createWebhookTest } from './webhooks/webhook-test.js';
import { createWebhooks } from './webhooks/webhooks.js';
import {
  createBalanceHandlers,
  createPayoutHandlers,
  createTransferHandlers,
} from './withdrawals/handlers.js';
import { createPayoutsByHand } from './withdrawals/payouts-by-hand.js';
import { forgetBlocksAbove } from './withdrawals/transfer-store.js';
import { createTransfersByHand } from './withdrawals/transfers-by-hand.js';
import { createWithdrawals } from './withdrawals/withdrawals.js';
import { afterCommit } from './db/transaction-context.js';

/** Parts that tests replace. */
export interface Overrides {
  /** Replaces the server's time altogether, epoch milliseconds. Test clocks run ahead of it by their offsets. */
  readonly realNow?: () => number;
  /** Replaces this machine's own clock only. On PostgreSQL, the server's time is still the database's. */
  readonly localNow?: () => number;
  readonly rates?: RateSource;
  readonly newId?: NewId;
  /** Networks in addition to the simulated ones, with their chains. */
  readonly networks?: readonly { readonly network: Network; readonly chain: Chain }[];
  readonly addressSources?: AddressSources;
  /** Connects the networks of the configuration. */
  readonly connect?: ConnectNetworks;
  /** Simulated networks on which an operator sends the transfers, as on real ones. */
  readonly paidByOperator?: readonly string[];
  readonly webhooks?: Pick<TargetsOptions, 'resolve'> & Omit<SenderOptions, 'targets'>;
}

export interface CoreOptions {
  /** The API, with the endpoints of modules. */
  readonly described: Described;
  /** Connects the networks of the configuration. Undefined if no module does: there are only simulated ones then. */
  readonly connect: ConnectNetworks | undefined;
  readonly config: Config;
  readonly database: Database;
  readonly log: Logger;
  /** The URL at which clients reach the server. */
  readonly publicUrl: string;
  /** Hosted pages are at `{checkoutUrl}/{payment id}`. */
  readonly checkoutUrl: string;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  /** Called when a payment's public status has changed, after the commit. */
  readonly onPaymentStatus?: (status: string) => void;
  readonly overrides?: Overrides;
}

export type Core = Awaited<ReturnType<typeof createCore>>;

/** The interval at which networks are scanned. Transfers made in this server's own sandbox do not wait for it. */
const scanIntervalMs = 500;

/** Undefined if rates come from a file. Real money needs real rates: the bundled file is for trying out. */
export const rateSourcesOf = ({ rateSources, ratesFile, networks }: Config) =>
  rateSources ??
  (ratesFile === undefined && networks.some(({ network }) => network.mode === 'live')
    ? defaultSources
    : undefined);

/**
 * Builds everything, but starts nothing. It reads the database, and writes nothing to it but secrets and ids that are missing.
 * @throws StartError if a file named in the configuration cannot be used
 */
export async function createCore(options: CoreOptions) {
  const { config, database, log, publicUrl, checkoutUrl, stopping, onPaymentStatus, described } = options;
  const { overrides = {} } = options;
  const { newId = randomId } = overrides;
  await useDataKeys(database, config.dataKeys);
  const personalData = createPersonalData(config.dataKeys);
  const testSeed = await readTestSeed(database.reader);
  const serverTime = await createServerTime(database, log, overrides.localNow);
  const clock = await createTestClock(database, overrides.realNow ?? serverTime.now);
  const currencyList = currenciesWith(config.baseCurrencies);
  const rateSources = rateSourcesOf(config);
  const worldRates =
    rateSources && !overrides.rates
      ? createWorldRates({ adapters: rateSources, currencies: currencyList, now: clock.real, log })
      : undefined;
  const rates = overrides.rates ?? worldRates ?? (await openFixedRates(config.ratesFile, clock));
  const depositKeys = await createDepositKeys(database, clock.real, newId, createForwarderSource);
  // Before the first start of a server there is no seed, but then there are no payments to give addresses to either.
  const simulatedSources =
    overrides.addressSources ?? (testSeed ? createTestAddressSources(testSeed) : { find: () => undefined });
  const hooks = createHooks();
  const watchedAddresses = createWatchedAddresses(database);
  const connect = overrides.connect ?? options.connect ?? (() => []);
  const connected = connect(config.networks, {
    log,
    now: clock.real,
    watched: async (mode, addresses) =>
      new Set([
        ...(await watchedAddresses.find(mode, addresses)),
        ...(await hooks.watchedAddresses(mode, addresses)),
      ]),
    soughtCoins: async (mode, network) => new Set(await hooks.soughtCoins(mode, network)),
    isAnyoneExpected: (mode) => isAnyoneExpected(database.reader, mode),
  });
  const depositAddresses = createDepositAddresses(
    database,
    (network) => {
      const isReal = connected.some((one) => one.network === network);
      return isReal ? (overrides.addressSources ?? depositKeys.sources) : simulatedSources;
    },
    newId,
    hooks,
  );
  const extraNetworks = [...connected, ...(overrides.networks ?? [])];
  const currencies = createCurrencies(currencyList, [
    ...simulatedNetworks,
    ...extraNetworks.map(({ network }) => network),
  ]);

  const keys = createKeys(database, clock, newId);
  const merchants = createMerchants(clock, newId, currencyList);
  const auditLog = createAuditLog(clock, personalData, hooks.emailsOf, hooks.onAudited);
  const ledger = createLedger(newId, clock);
  const customers = createCustomers(database, clock, newId, personalData);
  const depths = createDepths(rates, currencies);
  const base = { database, clock, newId, currencies, log, personalData, rates, merchants, auditLog, ledger };

  const isSandboxOn = config.sandbox ?? currencies.networks('live').length === 0;
  const targets = createTargets({
    allowed: config.webhookAllowPrivate,
    // Over https, staff set the URL in the console, and could read the answers of servers inside the network.
    isForDevelopment: isSandboxOn && !publicUrl.startsWith('https:'),
    ...overrides.webhooks,
  });
  const sender = createSender({ targets, ...overrides.webhooks });
  const dispatcher = createDispatcher({
    ...base,
    sender,
    dataKeys: config.dataKeys,
    onTrouble: hooks.onTrouble,
  });
  const webhookTest = createWebhookTest(described.eventTypes, sender, clock, newId, config.dataKeys);
  const wake = () => {
    dispatcher.wake();
    hooks.onChange();
  };
  const outbox = createOutbox(clock, newId, personalData, wake, hooks);
  const webhooks = createWebhooks(clock, personalData, () => dispatcher.wake());
  const endpoints = createEndpoints(clock, targets, config.dataKeys);

  const accountChanges = createAccountChanges({ keys, merchants, endpoints, auditLog });
  const depositKeyChanges = createDepositKeyChanges({ ...base, depositKeys, outbox });
  const wallets = createWallets(base, depositAddresses);
  const updateSubscription = createSubscriptionStatus(outbox);
  const { blockIntervalMs } = config;
  const simulatedChains = createSimulatedChains({ ...base, networks: simulatedNetworks, blockIntervalMs });
  const statuses = createScanStatuses();
  const payments = createPayments({
    ...base,
    depths,
    outbox,
    customers,
    addresses: depositAddresses,
    isReadable: createAvailability(statuses.of, connected),
    findTransfers: createFindTransfers(connected, simulatedChains.findTransfers),
    pageUrls: { checkoutUrl, publicUrl },
    merchant: merchants.settings,
    wallet: wallets.target,
    async onStatusChange(transaction, payment) {
      afterCommit(transaction, () => onPaymentStatus?.(payment.status));
      // Without a webhook URL, the outbox says nothing.
      afterCommit(transaction, hooks.onChange);
      await updateSubscription(transaction, payment);
      await hooks.onPaymentStatus(transaction, payment);
    },
    onCreate: hooks.onPayment,
    beforeLock: hooks.beforeLock,
    factsOf: hooks.factsOf,
    times: config.paymentTimes,
    publicChangesPerHour: config.limits?.paymentChangesPerHour,
  });
  const paymentExport = createPaymentExport(database, currencies, personalData);
  const receipts = createReceipts({ ...base, depths, addresses: depositAddresses, payments });

  const paymentPlans = createPaymentPlans(base);
  const charges = createCharges({ customers, paymentPlans, payments, outbox, checkoutUrl });
  const subscribers = createSubscribers({ ...base, customers, paymentPlans, charges, outbox });
  const billing = createBilling(base, charges);

  const countries = createCountries(publicUrl);
  const bankAccounts = createBankAccounts({
    ...base,
    countries,
    banks: createBanks(),
    accountNames: { test: exampleAccountNames, live: createPaystackAccountNames(config.accountNames) },
  });
  const walletAddresses = createWalletAddresses(base, auditLog);
  const withdrawals = createWithdrawals({
    ...base,
    outbox,
    walletAddresses,
    bankAccounts,
    simulatedChains,
    returningDeposits: hasReturningReceipts,
    beforeSettle: hooks.beforeSettle,
    beforeFail: hooks.beforeFail,
    onTransfer: hooks.onTransfer,
    whyNotPaid: hooks.whyNotPaid,
    isSimulated: (network) =>
      simulatedNetworks.includes(network) && !overrides.paidByOperator?.includes(network.code),
  });

  const { transfers, testPayer } = withdrawals;
  const transfersByHand = createTransfersByHand({ ...base, transfers, connected, payer: hooks.payer });

  const payoutsByHand = createPayoutsByHand(auditLog, withdrawals.payouts);

  const chains = [...simulatedChains.chains, ...extraNetworks.map(({ chain }) => chain)];
  const scanner = createScanner({
    ...base,
    statuses,
    sink: {
      ...receipts,
      async apply(transaction, batch) {
        const { orphanedAbove } = batch;
        if (orphanedAbove !== undefined) await forgetBlocksAbove(transaction, batch, orphanedAbove);
        await hooks.onBatch(transaction, batch);
        return receipts.apply(transaction, batch);
      },
    },
    networks: chains.map((chain) => {
      const real = connected.find((one) => one.chain === chain);
      const network = currencies.network(chain.mode, chain.network);
      return {
        chain,
        confirmations: network ? mostConfirmations(network) : 0,
        intervalMs: real?.pollMs ?? scanIntervalMs,
        lagLimitMs: real && lagLimitMs(real.blockSeconds),
      };
    }),
  });
  const sandbox = createSandbox({
    ...base,
    simulatedChains,
    scanner,
    afterNetworkChange: () => testPayer.advance(stopping),
    async afterClockChange() {
      await payments.expireOverdue(stopping);
      await hooks.onClockMoved(stopping);
      await billing.run(stopping);
      dispatcher.wake();
    },
  });

  const networks = () => networkHealth(statuses.all(), connected);
  const idempotency = createIdempotency({
    database,
    now: clock.real,
    personalData,
    readPayment: payments.verify,
  });
  const comparison = { database, log, now: clock.real, server: randomUUID() };

  /** The jobs, checks and figures of the core's rooms. */
  const parts: readonly Feature[] = [
    createUpkeep(database, serverTime),
    clock,
    keys,
    depositKeys,
    depositKeyChanges,
    payments,
    testPayer,
    billing,
    createPruning({ database, clock, idempotency, endpoints, webhooks }),
    createRateUpdates(config.baseCurrencies, { database, log, rates, worldRates }),
    simulatedChains,
    { figures: createNetworkFigures(networks) },
    { figures: createQuarantineFigures(database.reader) },
    { figures: createBacklogFigures(database, webhooks) },
    createAuditTrail({ database, clock, log, auditLog }),
    createCurrencyComparison(config.baseCurrencies, comparison),
  ];

  /** @param endpoints those that `/v1/meta` describes @param findEndpoints looks them up by path */
  const createHandlers = (
    endpoints: readonly Endpoint[],
    findEndpoints: FindEndpoints,
  ): Handlers<CoreApi> => ({
    meta: createMetaHandlers(endpoints, findEndpoints),
    customers: createCustomerHandlers(customers),
    bankAccounts: createBankAccountHandlers(bankAccounts),
    countries: createCountryHandlers(countries),
    walletAddresses: createWalletAddressHandlers(walletAddresses),
    currencies: createCurrencyHandlers(currencies),
    paymentPlans: createPaymentPlanHandlers(paymentPlans),
    subscribers: createSubscriberHandlers(subscribers),
    balances: createBalanceHandlers(withdrawals.balances),
    transfers: createTransferHandlers(transfers),
    payouts: createPayoutHandlers(withdrawals.payouts),
    payments: createPaymentHandlers(payments, checkoutUrl),
    transactions: createTransactionHandlers(payments),
    wallets: createWalletHandlers(wallets),
    webhooks: createWebhookHandlers(database, webhooks, webhookTest),
  });

  return {
    /** Identifies this core: modules keep their rules by it. */
    hooks,
    parts,
    idempotency,
    config,
    database,
    newId,
    log,
    ledger,
    outbox,
    publicUrl,
    checkoutUrl,
    described,
    clock,
    serverTime,
    auditLog,
    keys,
    accountChanges,
    merchants,
    customers,
    personalData,
    payments,
    paymentExport,
    receipts,
    paymentPlans,
    subscribers,
    billing,
    wallets,
    walletAddresses,
    webhooks,
    endpoints,
    webhookTest,
    ...withdrawals,
    transfersByHand,
    payoutsByHand,
    bankAccounts,
    isCrossChecked: depths.isCrossChecked,
    dispatcher,
    networks,
    scanner,
    depositKeys,
    depositKeyChanges,
    currencies,
    rates,
    chains,
    connected,
    simulatedChains,
    sandbox,
    sandboxReset: createSandboxReset(database, clock, auditLog, hooks),
    /** The default is off once real money could move here. */
    isSandboxOn,
    dataKeys: config.dataKeys,
    /** Undefined if rates come from a file. */
    worldRates,
    createHandlers,
  };
}
