/** `keys …`: creates, lists and revokes API keys. */
import { isoTime } from '../shared/clock.js';
import type { KeyRecord } from '../merchants/keys.js';
import { keyScopes, type KeyScope } from '../shared/scope.js';
import {
  modeOf,
  oneOf,
  optional,
  rangeOf,
  required,
  text,
  UsageError,
  type Command,
  type Options,
} from './command.js';
import { table } from './table.js';

export const keyCommands: Readonly<Record<string, Command>> = {
  'keys create': {
    usage:
      'keys create --merchant ID --kind secret|public --mode test|live [--scope full|read|verify] [--expires DATE]',
    help: `Creates an API key and prints it. A secret key is never shown again: only its digest is stored.

  --merchant ID   the merchant that the key belongs to
  --kind KIND     secret, for the merchant's servers, or public, for pages
  --mode MODE     test: simulated networks, and the test networks in NETWORKS_FILE; live: real money
  --scope SCOPE   what a secret key may do: full (default); read: GET alone; verify: get, list and verify payments and transactions
  --expires DATE  the last day on which it works, or a time, in UTC (default: never)`,
    options: { merchant: text, kind: text, mode: text, scope: text, expires: text },
    positionals: [],
    async run({ database, merchants, keys, auditLog, clock, actor }, options) {
      const merchantId = required(options, 'merchant');
      const kind = oneOf(options, 'kind', ['secret', 'public']);
      const mode = modeOf(options);
      const scope = options['scope'] === undefined ? 'full' : oneOf(options, 'scope', keyScopes);
      if (kind === 'public' && scope !== 'full') {
        throw new UsageError('--scope is for secret keys: what a public key may do is always the same');
      }
      const expiresAt = expiryOf(options, clock.real());
      const created = await database.write(async (transaction) => {
        await merchants.retrieve(transaction, merchantId);
        const key = await keys.create(transaction, { merchantId, kind, mode, scope, expiresAt });
        await auditLog.record(transaction, {
          merchantId,
          mode,
          actor,
          action: 'key.created',
          subjectId: key.id,
          after: {
            kind,
            mode,
            scope,
            ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
            last4: key.key.slice(-4),
          },
        });
        return key;
      });
      return { json: created, text: `id   ${created.id}\nkey  ${created.key}` };
    },
  },
  'keys list': {
    usage: 'keys list [--merchant ID]',
    help: `Lists the API keys, oldest first, with their scope and expiry. Of secret keys it shows the last 4 characters. Public keys have no scope: what they may do is always the same.

  --merchant ID   only keys of this merchant`,
    options: { merchant: text },
    positionals: [],
    async run({ database, merchants, keys, clock }, options) {
      const merchantId = optional(options, 'merchant');
      if (merchantId !== undefined) await merchants.retrieve(database.reader, merchantId);
      const all = await keys.list();
      const listed = all.filter((key) => merchantId === undefined || key.merchantId === merchantId);
      const now = clock.real();
      const headings = ['ID', 'MERCHANT', 'MODE', 'KEY', 'SCOPE', 'STATE'];
      return {
        json: listed.map(keyJson),
        text:
          listed.length === 0
            ? 'There are no API keys'
            : table(
                headings,
                listed.map((key) => keyRow(key, now)),
              ),
      };
    },
  },
  'keys revoke': {
    usage: 'keys revoke ID',
    help: `Revokes an API key. Running servers accept it for up to 5 more seconds.

  ID   the key's id, as "keys list" shows it`,
    options: {},
    positionals: ['ID'],
    async run({ database, keys, auditLog, actor }, _options, [id = '']) {
      await database.write(async (transaction) => {
        const { merchantId, mode, kind, scope, key, revokedAt } = await keys.revoke(transaction, id);
        if (revokedAt !== null) return;
        const before = { kind, mode, scope, last4: key.slice(-4) };
        const entry = { merchantId, mode, actor, action: 'key.revoked', subjectId: id, before } as const;
        await auditLog.record(transaction, entry);
      });
      return { json: { id, revoked: true }, text: `Revoked ${id}` };
    },
  },
};

function expiryOf(options: Options, now: number): number | undefined {
  if (options['expires'] === undefined) return undefined;
  const { to } = rangeOf({ to: options['expires'] }, 'expires');
  if (to === undefined || to <= now) throw new UsageError('--expires must be in the future');
  return to;
}

function keyJson({ createdAt, expiresAt, revokedAt, ...key }: KeyRecord) {
  return {
    ...key,
    scope: scopeOf(key),
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
    createdAt: isoTime(createdAt),
    revokedAt: revokedAt === null ? null : isoTime(revokedAt),
  };
}

function keyRow(record: KeyRecord, now: number): string[] {
  const { id, merchantId, mode, key } = record;
  return [id, merchantId, mode, key, scopeOf(record) ?? '-', stateOf(record, now)];
}

/** Null for public keys, whose list of endpoints is fixed. */
function scopeOf({ kind, scope }: Pick<KeyRecord, 'kind' | 'scope'>): KeyScope | null {
  return kind === 'public' ? null : scope;
}

function stateOf({ expiresAt, revokedAt }: KeyRecord, now: number): string {
  if (revokedAt !== null) return `revoked ${isoTime(revokedAt)}`;
  if (expiresAt === null) return 'active';
  return `${expiresAt <= now ? 'expired' : 'expires'} ${isoTime(expiresAt)}`;
}
