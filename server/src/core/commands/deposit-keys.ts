/** `deposit-keys …`: the extended public keys and treasuries that merchants' addresses on real networks come from. */
import { readFile } from 'node:fs/promises';
import { families } from 'crypto-checkout/contract';
import { takeIndexes } from '../addresses/address-pool.js';
import { shortKey } from '../addresses/deposit-key-changes.js';
import { scriptTypes } from '../addresses/bitcoin-scripts.js';
import { isOpen, type DepositKeyRecord, type GivenKey } from '../addresses/deposit-keys.js';
import { readWalletKey } from '../addresses/wallet-key.js';
import type { AddressNet, Family } from '../chains/networks.js';
import { isoTime } from '../shared/clock.js';
import { errorMessage } from '../shared/error-message.js';
import { invalidField } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import type { Reader, Transaction } from '../db/engine.js';
import { command, type Group } from './command.js';
import type { CommandContext } from './context.js';
import { UsageError } from './errors.js';
import * as option from './options.js';
import { listCommand, noFilters } from './read-commands.js';
import { recordJson } from './records.js';

const previewed = 3;

/** Selects one of the existing keys. */
const existing = {
  merchant: option.merchant('whose key').required(),
  family: option.oneOf(families, 'the networks of the key').required(),
  mode: option.mode('the mode of the key'),
};

export const depositKeyCommands: Group = {
  name: 'deposit-keys',
  summary: "The extended public keys that merchants' addresses on real networks come from.",
  commands: {
    set: command({
      summary: 'Sets the key of a wallet account that payments are received on.',
      details: `Without --yes it only shows the first ${previewed} addresses, to compare with the wallet. New payments get addresses of the new key; addresses of a previous key stay watched. A running server uses a first key within two seconds.

Another key takes effect after 24 hours, because it decides where all income goes: until then, new payments get addresses of the key in use, and "deposit-keys cancel" withdraws the new one. The merchant's webhook gets an event now and when it takes effect.

On EVM networks, a treasury can take the place of the key, if this server sweeps treasuries: the address of a wallet, hardware wallet or multisig. Each payment then gets the address of a contract that can pay to the treasury and nowhere else. No key exists for it. The contracts are not audited.`,
      options: {
        merchant: option.merchant('who receives the payments').required(),
        family: option
          .oneOf(families, `${families.join(', ')}; evm is Ethereum and all networks like it`)
          .required(),
        xpub: option.text(
          'KEY',
          "the account's extended public key (xpub, ypub, zpub, Ltub, …), also with its origin or as a descriptor, such as wpkh([…/84h/0h/0h]xpub…/<0;1>/*)#checksum. @FILE reads what a wallet exported (Coldcard, Sparrow, Electrum, Specter, Wasabi, Bitcoin Core), - reads the standard input. Never a private key or seed words: anyone who sees them can spend everything. Needed, unless --treasury is given",
        ),
        script: option.oneOf(
          scriptTypes,
          "for Bitcoin and Litecoin, if neither the key's prefix nor its path or descriptor says it",
        ),
        treasury: option.text(
          'ADDRESS',
          'where the payments end up, as the wallet shows it, with upper and lower case letters; for evm. It can never be changed for an address that was given out: you must hold it on every EVM network',
        ),
        mode: option.mode(
          'the mode of the payments. In test mode, the simulated networks have keys of their own',
        ),
        now: option.flag('does not wait 24 hours. The audit log and the webhook say so'),
        yes: option.flag('stores the key: the addresses are those of the wallet'),
      },
      async run(context, { merchant: merchantId, family, mode, now, yes, ...given }) {
        const scope = { merchantId, mode };
        const { key, readAs } = await givenKey(given, family, mode);
        const addresses = firstAddresses(context, scope, family, key);
        if (key.treasury !== undefined) await context.hooks.ensureTreasury(key.treasury);
        const sharing = await sharedWith(context, scope, family, key);
        const stored = yes ? await storeKey(context, scope, family, key, now) : undefined;
        const shown = addresses.map(({ index, address }) => `  ${index}  ${address}`).join('\n');
        const note = sharing.length > 0 ? sharingNote(sharing) : '';
        const outcome = stored ? storedNote(stored, scope, family) : unstoredNote(key);
        return {
          json: {
            merchantId,
            mode,
            family,
            addresses,
            sharedWith: sharing,
            isStored: yes,
            isChanged: stored !== undefined && (stored.isNew || stored.withdrawn !== undefined),
            ...(stored?.key && recordJson(stored.key, 'state', 'effectiveAt')),
          },
          text: `${readAs === '' ? '' : `Read as ${readAs}\n\n`}The first addresses of this key, for ${mode} payments:\n\n${shown}\n\n${note}${outcome}`,
          hasFailed: !yes,
        };
      },
    }),
    cancel: command({
      summary: 'Withdraws a key that was set and has not taken effect.',
      details:
        'The key in use stays the one for new payments, as if the other had never been set. The audit log and the webhook say so.',
      options: existing,
      async run({ database, depositKeyChanges, actor }, { merchant: merchantId, family, mode }) {
        const key = await database.write((transaction) =>
          depositKeyChanges.withdraw(transaction, { merchantId, mode }, family, actor),
        );
        if (!key) throw new UsageError(`No ${mode} deposit key for ${family} waits to take effect`);
        return { json: recordJson(key), text: `Withdrawn: ${shortKey(key)}. The key in use stays in use` };
      },
    }),
    skip: command({
      summary: 'Leaves out the next addresses of a key, so that none of them is given out.',
      details:
        'For a database that was restored from a backup: the addresses that were given out since are not in it, and would be given out again, to other payers. Stop the servers first, and skip more addresses than were given out since the backup. Then raise the gap limit of the wallet by as many. It counts for all merchants that use the same key, and cannot be undone.',
      options: {
        ...existing,
        count: option.integer('N', 'how many addresses', { min: 1, max: 1_000_000 }).required(),
      },
      async run(context, { merchant: merchantId, family, mode, count }) {
        const next = await context.database.write((transaction) =>
          skipAddresses(context, transaction, { merchantId, mode }, family, count),
        );
        return {
          json: { merchantId, mode, family, count, next },
          text: `Skipped ${count} addresses. The next one is that of index ${next}`,
        };
      },
    }),
    list: listCommand(noFilters, {
      summary:
        'Lists the deposit keys, oldest first, with the number of addresses that were given out. Replaced ones too, and pending ones with the time when they take effect.',
      what: 'deposit keys',
      rows: ({ database, depositKeys }, { merchantId }) => depositKeys.list(database.reader, merchantId),
      json: (key) => recordJson(key),
      line: keyLine,
    }),
  },
};

type Given = Readonly<Record<'xpub' | 'treasury', string | undefined>> & Pick<GivenKey, 'script'>;

async function givenKey(
  { xpub, script, treasury }: Given,
  family: Family,
  mode: Scope['mode'],
): Promise<{ readonly key: GivenKey; readonly readAs: string }> {
  if (treasury !== undefined && (xpub !== undefined || script !== undefined)) {
    throw new UsageError('Give --xpub or --treasury, not both');
  }
  if (treasury !== undefined) return { key: { treasury: treasury.trim() }, readAs: '' };
  if (xpub === undefined) throw new UsageError('--xpub is required, unless --treasury is given');
  const text = await textOf(xpub);
  try {
    const { readAs, ...key } = readWalletKey(text, { family, mode, script });
    return { key, readAs };
  } catch (error) {
    throw invalidField('xpub', errorMessage(error));
  }
}

/** Exports of wallets are small. */
const longestExport = 1_000_000;

/** A key as it is, `-` to read the standard input, or `@FILE`. */
async function textOf(given: string): Promise<string> {
  const [path] = given === '-' ? ['/dev/stdin'] : given.startsWith('@') ? [given.slice(1)] : [];
  if (path === undefined) return given;
  try {
    const content = await readFile(path, 'utf8');
    if (content.length <= longestExport) return content;
  } catch (error) {
    throw new UsageError(`--xpub: the file cannot be read: ${errorMessage(error)}`);
  }
  throw new UsageError('--xpub: the file is too large to be the export of a wallet');
}

type StoredKey = Awaited<ReturnType<typeof storeKey>>;

/** The person who sets a key decides where the coins arrive. */
async function storeKey(
  { database, depositKeys, depositKeyChanges, actor }: CommandContext,
  scope: Scope,
  family: Family,
  key: GivenKey,
  isAtOnce: boolean,
) {
  const { id: sourceId } = depositKeys.preview(scope, family, key, undefined);
  return database.write(async (transaction) => {
    const changes = await depositKeyChanges.set(transaction, scope, family, key, { actor, isAtOnce });
    const open = await openKeys(depositKeys, transaction, scope, family);
    return {
      /** In use or pending. */
      key: open.find((one) => one.sourceId === sourceId),
      withdrawn: changes.find(({ state }) => state === 'withdrawn'),
      /** False if the key was in use or pending already. */
      isNew: changes.some(({ state }) => isOpen(state)),
    };
  });
}

function storedNote({ key, withdrawn, isNew }: StoredKey, { mode }: Scope, family: Family): string {
  const note = withdrawn ? `The pending key ${shortKey(withdrawn)} was withdrawn. ` : '';
  const isPending = key?.state === 'pending';
  if (!isNew) {
    const since = isPending ? `takes effect at ${isoTime(key.effectiveAt)} already` : 'is in use already';
    return `${note}This key ${since}. ${withdrawn ? 'It stays in use' : 'Nothing was changed'}.`;
  }
  if (!isPending)
    return `${note}Stored. New ${mode} payments on ${family} networks get addresses of this key.`;
  return `${note}Stored. New ${mode} payments on ${family} networks get addresses of this key from ${isoTime(key.effectiveAt)} on. Until then they get those of the key in use, and "deposit-keys cancel" withdraws this one.`;
}

/** The key in use, and then the pending one. */
async function openKeys(
  depositKeys: CommandContext['depositKeys'],
  reader: Reader,
  { merchantId, mode }: Scope,
  family: Family,
): Promise<DepositKeyRecord[]> {
  return (await depositKeys.list(reader, merchantId))
    .filter((key) => key.mode === mode && key.family === family && isOpen(key.state))
    .sort((one, other) => one.effectiveAt - other.effectiveAt);
}

function unstoredNote({ treasury }: GivenKey): string {
  if (treasury === undefined) {
    return `Nothing was stored yet. Compare these with the first receiving addresses in the wallet. If they are the same,
run the command again with --yes. If they differ, do not use the key: payments would go to addresses that the
wallet does not show.`;
  }
  return `Nothing was stored yet. These are contracts that pay only to

  ${treasury}

and that cannot be changed. They are not audited. Check that you hold this wallet on every EVM network you receive on: a
multisig has to be deployed on each. If so, run the command again with --yes.`;
}

/** @returns the index of the next address. @throws UsageError if the merchant has no such key */
async function skipAddresses(
  { depositKeys, auditLog, actor }: CommandContext,
  transaction: Transaction,
  scope: Scope,
  family: Family,
  count: number,
): Promise<number> {
  const [key] = await openKeys(depositKeys, transaction, scope, family);
  if (!key) throw new UsageError(`The merchant has no ${scope.mode} deposit key for ${family}`);
  const first = await takeIndexes(transaction, key.sourceId, count);
  const next = first + count;
  await auditLog.record(transaction, {
    ...scope,
    actor,
    action: 'deposit_key.skipped',
    subjectId: key.id,
    before: { next: first },
    after: { next },
  });
  return next;
}

/** The other merchants that receive their payments on the same key. */
async function sharedWith(
  { database, depositKeys }: CommandContext,
  scope: Scope,
  family: Family,
  key: GivenKey,
): Promise<string[]> {
  const { id } = depositKeys.preview(scope, family, key, undefined);
  const others = (await depositKeys.list(database.reader)).filter(
    (other) =>
      (key.treasury === undefined ? other.sourceId === id : other.treasury === key.treasury) &&
      other.merchantId !== scope.merchantId &&
      isOpen(other.state),
  );
  return [...new Set(others.map((other) => other.merchantId))];
}

function sharingNote(merchantIds: readonly string[]): string {
  return `Careful: this is also the key of ${merchantIds.join(', ')}. Their coins arrive in the same wallet.\n\n`;
}

/** The first addresses, in the form of each of the family's configured networks. */
function firstAddresses(
  { connected, depositKeys }: CommandContext,
  scope: Scope,
  family: Family,
  key: GivenKey,
): { readonly index: number; readonly address: string }[] {
  const configured = connected
    .filter(({ network }) => network.mode === scope.mode && network.family === family)
    .map(({ network }) => network.addressNet);
  const nets: (AddressNet | undefined)[] = configured.length > 0 ? [...new Set(configured)] : [undefined];
  return nets.flatMap((net) => {
    const source = depositKeys.preview(scope, family, key, net);
    return Array.from({ length: previewed }, (_, index) => ({ index, address: source.derive(index) }));
  });
}

function keyLine(key: DepositKeyRecord): string {
  const { merchantId, mode, family, script, used, createdAt } = key;
  return [
    ...[merchantId, mode, family, shortKey(key), script ?? '', `${used} used`],
    ...[`since ${isoTime(createdAt)}`, stateText(key)],
  ]
    .filter((part) => part !== '')
    .join('  ');
}

function stateText({ state, effectiveAt, replacedAt }: DepositKeyRecord): string {
  const until = replacedAt === null ? '' : isoTime(replacedAt);
  switch (state) {
    case 'pending':
      return `pending until ${isoTime(effectiveAt)}`;
    case 'in_use':
      return until === '' ? 'in use' : `in use until ${until}`;
    case 'replaced':
      return `replaced ${until}`;
    case 'withdrawn':
      return `withdrawn ${until}`;
    default:
      return state satisfies never;
  }
}
