/** Balances, transfers and payouts for commands, put together as the server does. */
import { exampleAccountNames } from '../bank-accounts/account-names.js';
import { createBankAccounts } from '../bank-accounts/bank-accounts.js';
import { createPaystackAccountNames } from '../bank-accounts/paystack.js';
import { createBanks } from '../banks/banks.js';
import { createAddressSources } from '../chains/addresses.js';
import { currencies as knownCurrencies, simulatedNetworks } from '../chains/assets.js';
import { openTestClock } from '../chains/test-clock.js';
import type { Config } from '../config.js';
import { createCountries } from '../countries/countries.js';
import { createCurrencies } from '../currencies/currencies.js';
import type { Database } from '../db/database.js';
import { newId } from '../ids.js';
import { createLedger } from '../ledger/ledger.js';
import { createMoneyOut, type MoneyOut } from '../money-out.js';
import { createWalletAddresses } from '../wallet-addresses/wallet-addresses.js';
import { createOutbox } from '../webhooks/outbox.js';

/** Commands send nothing themselves: what they announce, the server delivers. */
export async function openMoneyOut(
  database: Database,
  config: Pick<Config, 'accountNames'>,
): Promise<MoneyOut> {
  const clock = await openTestClock(database);
  const currencies = createCurrencies(knownCurrencies, simulatedNetworks);
  const addressSources = createAddressSources();
  return createMoneyOut({
    database,
    clock,
    newId,
    currencies,
    ledger: createLedger(newId),
    outbox: createOutbox(clock, newId),
    addressSources,
    walletAddresses: createWalletAddresses({ database, clock, newId, currencies, addressSources }),
    bankAccounts: createBankAccounts({
      database,
      clock,
      newId,
      // Its flags are for the API alone.
      countries: createCountries(''),
      currencies,
      banks: createBanks(),
      accountNames: { test: exampleAccountNames, live: createPaystackAccountNames(config.accountNames) },
    }),
    signers: [],
  });
}
