/** Creates the first schema. Each table comes after those that it references. */
import type { Kysely } from 'kysely';
import { createAccountTables } from './accounts.js';
import { createAuditLog } from './audit-log.js';
import { createChainTables } from './chains.js';
import { createDepositKeyTable } from './deposit-keys.js';
import { createLedgerTables } from './ledger.js';
import { createListCheckpoints } from './list-checkpoints.js';
import { createPaymentTables } from './payments.js';
import { createPsbtTables } from './psbts.js';
import { createRecordTables } from './records.js';
import { createSubscriptionTables } from './subscriptions.js';
import { createSweepTables } from './sweeps.js';
import { createWalletTable } from './wallets.js';
import { createWebhookTables } from './webhooks.js';
import { createWithdrawalTables } from './withdrawals.js';
import type { Engine } from '../../engine.js';

export async function createFoundation(db: Kysely<unknown>, engine: Engine): Promise<void> {
  await createAccountTables(db);
  await createAuditLog(db, engine);
  await createWalletTable(db);
  await createPaymentTables(db, engine);
  await createChainTables(db);
  await createDepositKeyTable(db);
  await createLedgerTables(db);
  await createRecordTables(db);
  await createWebhookTables(db);
  await createWithdrawalTables(db);
  await createPsbtTables(db);
  await createSubscriptionTables(db);
  await createSweepTables(db);
  await createListCheckpoints(db, engine);
}
