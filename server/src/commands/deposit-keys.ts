/** `deposit-keys …`: the extended public keys and treasuries that merchants' addresses on real networks come from. */
import { takeIndexes } from '../addresses/address-pool.js';
import { scriptTypes, type DepositKeyRecord, type GivenKey } from '../addresses/deposit-keys.js';
import type { AddressNet, Family } from '../chains/networks.js';
import { isoTime } from '../shared/clock.js';
import type { Scope } from '../shared/scope.js';
import type { Transaction } from '../db/engine.js';
import { command, type Group } from './command.js';
import type { CommandContext } from './context.js';
import { UsageError } from './errors.js';
import * as option from './options.js';
import { listRecords, recordJson } from './records.js';

export const families = ['bitcoin', 'litecoin', 'evm', 'tron'] as const satisfies Family[];

const previewed = 3;

export const depositKeyCommands: Group = {
  name: 'deposit-keys',
  summary: "The extended public keys and treasuries that merchants' addresses on real networks come from.",
  commands: [
    command({
      name: 'set',
      summary: 'Sets the key of a wallet account that payments are received on.',
      details: `Without --yes it only shows the first ${previewed} addresses, to compare with the wallet. New payments get addresses of the new key; addresses of a former key stay watched. A running server uses the key within two seconds.

On EVM networks, a treasury can take the place of the key: the address of a wallet, hardware wallet or multisig. Each payment then gets the address of a contract that can pay to the treasury and nowhere else. No key exists for it, and one transaction sweeps up to 200 of them. A network is offered once the factory of these contracts is deployed on it: see "sweeps deploy". The contracts are not audited. docs/treasury.md says what can go wrong.`,
      options: {
        merchant: option.merchant('who receives the payments').required(),
        family: option
          .oneOf(families, 'bitcoin, litecoin, tron, or evm: Ethereum and all networks like it')
          .required(),
        xpub: option.text(
          'KEY',
          "the account's extended public key (xpub, ypub, zpub, Ltub, …). Never an extended private key: whoever sees one can spend everything. Needed, unless --treasury is given",
        ),
        script: option.oneOf(scriptTypes, "for Bitcoin and Litecoin, if the key's prefix leaves it open"),
        treasury: option.text(
          'ADDRESS',
          'where the payments end up, as the wallet shows it, with upper and lower case letters; for evm. It can never be changed for an address that was given out: you must hold it on every EVM network',
        ),
        mode: option.mode(
          'the mode of the payments. In test mode, the simulated networks have keys of their own',
        ),
        yes: option.flag('stores the key: the addresses are those of the wallet'),
      },
      async run(context, { merchant: merchantId, family, mode, yes, ...given }) {
        const scope = { merchantId, mode };
        const key = givenKey(given);
        const addresses = firstAddresses(context, scope, family, key);
        if (key.treasury !== undefined) await context.treasury.ensureUsable(key.treasury);
        const sharing = await sharedWith(context, scope, family, key);
        const isChanged =
          yes &&
          (await context.database.write((transaction) => setKey(context, transaction, scope, family, key)));
        const shown = addresses.map(({ index, address }) => `  ${index}  ${address}`).join('\n');
        const note = sharing.length > 0 ? sharingNote(sharing) : '';
        const outcome = yes ? storedNote(isChanged, scope, family) : unstoredNote(key);
        return {
          json: { merchantId, mode, family, addresses, sharedWith: sharing, isStored: yes, isChanged },
          text: `The first addresses of this key, for ${mode} payments:\n\n${shown}\n\n${note}${outcome}`,
          hasFailed: !yes,
        };
      },
    }),
    command({
      name: 'skip',
      summary: 'Leaves out the next addresses of a key, so that none of them is given out.',
      details:
        'For a database that was restored from a backup: the addresses that were given out since are not in it, and would be given out again, to other payers. Stop the servers first, and skip more addresses than were given out since the backup. Then raise the gap limit of the wallet by as many. It counts for all merchants that use the same key, and cannot be undone.',
      options: {
        merchant: option.merchant('whose key').required(),
        family: option.oneOf(families, 'the networks of the key').required(),
        mode: option.mode('the mode of the key'),
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
    command({
      name: 'list',
      summary:
        'Lists the deposit keys, oldest first, replaced ones too, with the number of addresses that were given out.',
      options: { merchant: option.merchant('only the keys of this merchant') },
      async run({ database, depositKeys }, { merchant }) {
        const keys = await depositKeys.list(database.reader, merchant);
        return listRecords(keys, (key) => recordJson(key), keyLine, 'There are no deposit keys');
      },
    }),
  ],
};

interface GivenOptions {
  readonly xpub: string | undefined;
  readonly script: (typeof scriptTypes)[number] | undefined;
  readonly treasury: string | undefined;
}

function givenKey({ xpub, script, treasury }: GivenOptions): GivenKey {
  if (treasury !== undefined && (xpub !== undefined || script !== undefined)) {
    throw new UsageError('Give --xpub or --treasury, not both');
  }
  if (treasury !== undefined) return { treasury: treasury.trim() };
  if (xpub === undefined) throw new UsageError('--xpub is required, unless --treasury is given');
  return { extendedPublicKey: xpub.trim(), script };
}

function storedNote(isChanged: boolean, { mode }: Scope, family: Family): string {
  return isChanged
    ? `Stored. New ${mode} payments on ${family} networks get addresses of this key.`
    : 'This key is in use already. Nothing was changed.';
}

function unstoredNote({ treasury }: GivenKey): string {
  if (treasury === undefined) {
    return `Nothing was stored yet. Compare these with the first receiving addresses in the wallet. If they are the same,
run the command again with --yes. If they differ, do not use the key: payments would go to addresses that the
wallet does not show.`;
  }
  return `Nothing was stored yet. These are contracts that pay to

  ${treasury}

and nowhere else, for ever. They are not audited. Check that you hold this wallet on every EVM network you receive on: a
multisig has to be deployed on each. If so, run the command again with --yes.`;
}

/** Sets the key and records it: whoever sets a key decides where the coins arrive. @returns whether it was another one */
async function setKey(
  { depositKeys, auditLog, actor }: CommandContext,
  transaction: Transaction,
  scope: Scope,
  family: Family,
  key: GivenKey,
): Promise<boolean> {
  const former = (await depositKeys.list(transaction, scope.merchantId)).find(
    (one) => one.mode === scope.mode && one.family === family && one.replacedAt === null,
  );
  const isChanged = await depositKeys.set(transaction, scope, family, key);
  await auditLog.record(transaction, {
    ...scope,
    actor,
    action: 'deposit_key.set',
    subjectId: family,
    before: former && keyFacts(former),
    after: keyFacts(key),
  });
  return isChanged;
}

/** @returns the index of the next address. @throws UsageError if the merchant has no such key */
async function skipAddresses(
  { depositKeys, auditLog, actor }: CommandContext,
  transaction: Transaction,
  scope: Scope,
  family: Family,
  count: number,
): Promise<number> {
  const key = (await depositKeys.list(transaction, scope.merchantId)).find(
    (one) => one.mode === scope.mode && one.family === family && one.replacedAt === null,
  );
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

function keyFacts({ extendedPublicKey, script, treasury }: GivenKey) {
  return treasury === undefined ? { extendedPublicKey, script: script ?? null } : { treasury };
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
      other.replacedAt === null,
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
  const { merchantId, mode, family, extendedPublicKey: xpub, script, used, createdAt, replacedAt } = key;
  const short = key.treasury ?? `${xpub?.slice(0, 12)}…${xpub?.slice(-6)}`;
  const state = replacedAt === null ? 'in use' : `replaced ${isoTime(replacedAt)}`;
  return [merchantId, mode, family, short, script ?? '', `${used} used`, `since ${isoTime(createdAt)}`, state]
    .filter((part) => part !== '')
    .join('  ');
}
