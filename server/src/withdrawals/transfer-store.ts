/** Reads and writes transfers. */
import { forUpdate, forUpdateSkipLocked } from '../db/locks.js';
import { sumUnits } from '../db/units.js';
import { isListed, readCheckpointedPage } from '../db/pages.js';
import type { TransferStatus, TransferTable } from '../db/schema.js';
import type { Scope, Mode } from '../shared/scope.js';
import type { Transaction, Reader } from '../db/engine.js';
import type { PageRequest } from '../shared/pagination.js';
import { send } from '../db/send.js';

export async function insertTransfer(transaction: Transaction, row: TransferTable): Promise<void> {
  await send(transaction, transaction.insertInto('transfers').values(row));
}

/** Writes the columns of a transfer that can change. */
export async function updateTransfer(transaction: Transaction, row: TransferTable): Promise<void> {
  const { status, signed_transaction, tx_hash, network_fee, failure_reason, updated_at } = row;
  await send(
    transaction,
    transaction
      .updateTable('transfers')
      .set({ status, signed_transaction, tx_hash, network_fee, failure_reason, updated_at })
      .where('id', '=', row.id),
  );
}

export function findTransfer(reader: Reader, scope: Scope, id: string): Promise<TransferTable | undefined> {
  return reader
    .selectFrom('transfers')
    .selectAll()
    .where('id', '=', id)
    .where('merchant_id', '=', scope.merchantId)
    .where('mode', '=', scope.mode)
    .executeTakeFirst();
}

/** What was transferred since a time, without fees, in units. Transfers that failed do not count. */
export async function sumSince(
  reader: Reader,
  { merchantId, mode }: Scope,
  currency: string,
  since: number,
): Promise<bigint> {
  const { total } = await reader
    .selectFrom('transfers')
    .select(sumUnits(reader, 'amount').as('total'))
    .where('merchant_id', '=', merchantId)
    .where('mode', '=', mode)
    .where('created_at', '>', since)
    .where('currency', '=', currency)
    .where('status', '<>', 'failed')
    .executeTakeFirstOrThrow();
  return BigInt(total);
}

export function listTransfers(
  reader: Reader,
  scope: Scope,
  page: PageRequest,
): Promise<{ rows: TransferTable[]; total: number }> {
  const query = reader
    .selectFrom('transfers')
    .selectAll()
    .where(isListed('transfers', scope, page));
  return readCheckpointedPage(reader, query, 'transfers', 'transfers', scope, page);
}

export function listAllTransfers(
  reader: Reader,
  status: TransferStatus | undefined,
): Promise<TransferTable[]> {
  const query = reader.selectFrom('transfers').selectAll();
  return (status === undefined ? query : query.where('status', '=', status))
    .orderBy('created_at')
    .orderBy('id')
    .limit(1000)
    .execute();
}

/** A transfer of any merchant. */
export function findAnyTransfer(reader: Reader, id: string): Promise<TransferTable | undefined> {
  return reader.selectFrom('transfers').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Locks a transfer of any merchant until the transaction ends. */
export function lockTransfer(transaction: Transaction, id: string): Promise<TransferTable | undefined> {
  return transaction
    .selectFrom('transfers')
    .selectAll()
    .where('id', '=', id)
    .$call(forUpdate(transaction))
    .executeTakeFirst();
}

/** The same, but undefined if another transaction has locked it. */
export function claimTransfer(transaction: Transaction, id: string): Promise<TransferTable | undefined> {
  return transaction
    .selectFrom('transfers')
    .selectAll()
    .where('id', '=', id)
    .$call(forUpdateSkipLocked(transaction))
    .executeTakeFirst();
}

export interface SignerTransfers {
  readonly status: TransferStatus;
  /** `mode` and `since` go together: transfers of the mode, created after `since` by the merchant's clock. */
  readonly mode?: Mode;
  readonly since?: number;
}

const pageSize = 200;

/** The transfers that signers send, oldest first, page by page. */
export async function* signerTransfers(
  reader: Reader,
  { status, mode, since = -1 }: SignerTransfers,
): AsyncGenerator<TransferTable[]> {
  let after = { created_at: since, id: '' };
  for (;;) {
    const { created_at: createdAt, id } = after;
    const inStatus = reader
      .selectFrom('transfers')
      .selectAll()
      .where('executor', '=', 'signer')
      .where('status', '=', status);
    const page = await (mode === undefined ? inStatus : inStatus.where('mode', '=', mode))
      .where((e) =>
        e.or([e('created_at', '>', createdAt), e.and([e('created_at', '=', createdAt), e('id', '>', id)])]),
      )
      .orderBy('created_at')
      .orderBy('id')
      .limit(pageSize)
      .execute();
    const last = page.at(-1);
    if (!last) return;
    yield page;
    if (page.length < pageSize) return;
    after = last;
  }
}
