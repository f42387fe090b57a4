/** Stores what a restore is suspected by, how often one was confirmed, and how many payouts were started. */
import * as z from 'zod/mini';
import { inChunks } from '../../core/db/chunks.js';
import type { Database } from '../../core/db/database.js';
import type { Reader, Transaction } from '../../core/db/engine.js';
import { prepared } from '../../core/db/prepared.js';
import { ensureSetting, jsonSetting, readSetting, writeSetting } from '../../core/db/settings.js';

/** Money that came to an address which the database has never given out. */
const unknownAddress = z.object({
  sourceId: z.string(),
  index: z.number(),
  address: z.string(),
  network: z.string(),
  txHash: z.string(),
});
export type UnknownAddress = Readonly<z.output<typeof unknownAddress>>;

/** A payment that matches a transfer exactly, although nothing was exported. */
const paidTransfer = z.object({
  transferId: z.string(),
  merchantId: z.string(),
  network: z.string(),
  txHash: z.string(),
});
export type PaidTransfer = Readonly<z.output<typeof paidTransfer>>;

/** A coin that left a merchant's address in a transaction that the database does not know, though a transfer waits to be paid. */
const missingCoin = z.object({
  merchantId: z.string(),
  network: z.string(),
  /** As `hash:index`. */
  coin: z.string(),
  txHash: z.string(),
});
export type MissingCoin = Readonly<z.output<typeof missingCoin>>;

const suspicion = z.object({
  /** Real time, epoch milliseconds. */
  since: z.number(),
  /** Values of markers that the database is behind, by name. */
  marker: z.record(z.string(), z.number()),
  addresses: z.readonly(z.array(unknownAddress)),
  transfers: z.readonly(z.array(paidTransfer)),
  coins: z.readonly(z.array(missingCoin)),
});
export type Suspicion = Readonly<z.output<typeof suspicion>>;

export const payouts = 'payouts';
/** The row exists even while nothing is suspected, so that it can be locked. */
const suspicionSetting = jsonSetting('restore-suspicion', suspicion);
const epochSetting = 'restore-epoch';
const warningsSetting = jsonSetting('restore-warnings', z.readonly(z.array(unknownAddress)));
const payoutsSetting = 'restore-payouts';
const idSetting = 'database-id';

const readStates = prepared((reader) =>
  reader
    .selectFrom('settings')
    .select(['name', 'value'])
    .where('name', 'in', [suspicionSetting.name, epochSetting]),
);

/** Cheap: it is asked whenever an address is given out. */
export async function readState(
  reader: Reader,
): Promise<{ suspicion: Suspicion | undefined; epoch: number }> {
  const rows = await readStates(reader, {});
  const value = (name: string) => rows.find((row) => row.name === name)?.value;
  return {
    suspicion: suspicionSetting.valueOf(value(suspicionSetting.name)),
    epoch: Number(value(epochSetting) ?? 0),
  };
}

/** True if a suspicion is about a key of a merchant: then it gives out no address. */
export function concernsKey(
  { marker, addresses, ...about }: Suspicion,
  { merchantId, sourceId }: { readonly merchantId: string; readonly sourceId: string },
): boolean {
  return (
    sourceId in marker ||
    addresses.some((one) => one.sourceId === sourceId) ||
    isAbout({ marker, addresses, ...about }, merchantId)
  );
}

/** True if a suspicion is about payments by a merchant. */
function isAbout({ transfers, coins }: Suspicion, merchantId: string): boolean {
  return [...transfers, ...coins].some((one) => one.merchantId === merchantId);
}

/** True if a suspicion is about a merchant or one of its keys: then nothing of it is paid. */
export async function concernsMerchant(
  reader: Reader,
  suspicion: Suspicion,
  merchantId: string,
): Promise<boolean> {
  if (payouts in suspicion.marker || isAbout(suspicion, merchantId)) return true;
  const keys = await reader
    .selectFrom('deposit_keys')
    .select('source_id')
    .where('merchant_id', '=', merchantId)
    .execute();
  return keys.some((key) => concernsKey(suspicion, { merchantId, sourceId: key.source_id }));
}

/** The newest that are kept. */
const mostWarnings = 20;

/** Money at addresses that were never given out, although the marker says that nothing is missing: oldest first. */
export async function readWarnings(reader: Reader): Promise<readonly UnknownAddress[]> {
  return (await warningsSetting.read(reader)) ?? [];
}

export async function addWarnings(transaction: Transaction, found: readonly UnknownAddress[]): Promise<void> {
  const known = (await warningsSetting.lock(transaction)) ?? [];
  await warningsSetting.write(transaction, [...known, ...found].slice(-mostWarnings));
}

export const {
  read: readSuspicion,
  /** Other writers wait until the transaction ends. */
  lock: lockSuspicion,
  write: writeSuspicion,
} = suspicionSetting;

export const writeEpoch = (transaction: Transaction, epoch: number): Promise<void> =>
  writeSetting(transaction, epochSetting, String(epoch));

export async function readPayouts(reader: Reader): Promise<number> {
  return Number((await readSetting(reader, payoutsSetting)) ?? 0);
}

/** @returns the new count. Other callers wait until the transaction ends */
export async function addPayouts(transaction: Transaction, count: number): Promise<number> {
  const sum = Number(await ensureSetting(transaction, payoutsSetting, '0')) + count;
  await writeSetting(transaction, payoutsSetting, String(sum));
  return sum;
}

/** The next index of each of these address sources; of all sources that merchants' live keys are, too. */
export async function readIndexes(reader: Reader, sourceIds: readonly string[]): Promise<[string, number][]> {
  const rows = [
    ...(await inChunks(sourceIds, (chunk) =>
      reader
        .selectFrom('derivations')
        .select(['source_id', 'next_index'])
        .where('source_id', 'in', chunk)
        .execute(),
    )),
    ...(await reader
      .selectFrom('derivations')
      .innerJoin('deposit_keys', 'deposit_keys.source_id', 'derivations.source_id')
      .select(['derivations.source_id', 'next_index'])
      .where('deposit_keys.mode', '=', 'live')
      .execute()),
  ];
  return rows.map((row) => [row.source_id, row.next_index]);
}

/** Reads the database's id, and writes one only if there is none: commands must not wait for a lock to read. */
export async function ensureDatabaseId(database: Database, newId: () => string): Promise<string> {
  const known = await readSetting(database.reader, idSetting);
  return known ?? database.write((transaction) => ensureSetting(transaction, idSetting, newId()));
}
