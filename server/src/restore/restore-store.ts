/** Stores what a restore is suspected by, how often one was confirmed, and how many payouts were started. */
import { inChunks } from '../db/chunks.js';
import type { Reader, Transaction } from '../db/engine.js';
import { prepared } from '../db/prepared.js';
import { ensureSetting, readSetting, writeSetting } from '../db/settings.js';

/** Money that came to an address which the database has never given out. */
export interface UnknownAddress {
  readonly sourceId: string;
  readonly index: number;
  readonly address: string;
  readonly network: string;
  readonly txHash: string;
}

/** A payment that is exactly what a transfer is to be, though nothing was exported. */
export interface PaidTransfer {
  readonly transferId: string;
  readonly merchantId: string;
  readonly network: string;
  readonly txHash: string;
}

/** A coin that left a merchant's address in a transaction that the database does not know, though a transfer waits to be paid. */
export interface MissingCoin {
  readonly merchantId: string;
  readonly network: string;
  /** As `hash:index`. */
  readonly coin: string;
  readonly txHash: string;
}

export interface Suspicion {
  /** Real time, epoch milliseconds. */
  readonly since: number;
  /** Values of markers that the database is behind, by name. */
  readonly marker: Readonly<Record<string, number>>;
  readonly addresses: readonly UnknownAddress[];
  readonly transfers: readonly PaidTransfer[];
  readonly coins: readonly MissingCoin[];
}

export const payouts = 'payouts';
const suspicionSetting = 'restore-suspicion';
const epochSetting = 'restore-epoch';
const warningsSetting = 'restore-warnings';
const payoutsSetting = 'restore-payouts';
const idSetting = 'database-id';
/** What is stored while nothing is suspected: the row is there to be locked. */
const none = '';

const readStates = prepared((reader) =>
  reader
    .selectFrom('settings')
    .select(['name', 'value'])
    .where('name', 'in', [suspicionSetting, epochSetting]),
);

/** Cheap: it is asked whenever an address is given out. */
export async function readState(
  reader: Reader,
): Promise<{ suspicion: Suspicion | undefined; epoch: number }> {
  const rows = await readStates(reader, {});
  const value = (name: string) => rows.find((row) => row.name === name)?.value;
  return { suspicion: parse(value(suspicionSetting) ?? none), epoch: Number(value(epochSetting) ?? 0) };
}

/** Whether a suspicion is about a key of a merchant: then it gives out no address. */
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

/** Whether a suspicion is about what a merchant paid. */
function isAbout({ transfers, coins }: Suspicion, merchantId: string): boolean {
  return [...transfers, ...coins].some((one) => one.merchantId === merchantId);
}

/** Whether a suspicion is about a merchant or one of its keys: then nothing of it is paid. */
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
  return parseWarnings((await readSetting(reader, warningsSetting)) ?? none);
}

export async function addWarnings(transaction: Transaction, found: readonly UnknownAddress[]): Promise<void> {
  const known = parseWarnings(await ensureSetting(transaction, warningsSetting, none));
  await writeSetting(transaction, warningsSetting, JSON.stringify([...known, ...found].slice(-mostWarnings)));
}

export async function readSuspicion(reader: Reader): Promise<Suspicion | undefined> {
  return parse((await readSetting(reader, suspicionSetting)) ?? none);
}

/** Whoever else writes it waits until the transaction ends. */
export async function lockSuspicion(transaction: Transaction): Promise<Suspicion | undefined> {
  return parse(await ensureSetting(transaction, suspicionSetting, none));
}

export function writeSuspicion(transaction: Transaction, suspicion: Suspicion | undefined): Promise<void> {
  return writeSetting(transaction, suspicionSetting, suspicion ? JSON.stringify(suspicion) : none);
}

// Only this file writes the value.
const parse = (value: string) => (value === none ? undefined : (JSON.parse(value) as Suspicion));

const parseWarnings = (value: string) => (value === none ? [] : (JSON.parse(value) as UnknownAddress[]));

export const writeEpoch = (transaction: Transaction, epoch: number): Promise<void> =>
  writeSetting(transaction, epochSetting, String(epoch));

export async function readPayouts(reader: Reader): Promise<number> {
  return Number((await readSetting(reader, payoutsSetting)) ?? 0);
}

/** @returns the new count. Whoever else counts waits until the transaction ends */
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

export const readDatabaseId = (reader: Reader): Promise<string | undefined> => readSetting(reader, idSetting);

export const ensureDatabaseId = (transaction: Transaction, id: string): Promise<string> =>
  ensureSetting(transaction, idSetting, id);
