/** `keys …`: creates, lists and revokes API keys. */
import { isoTime } from '../shared/clock.js';
import type { KeyRecord } from '../merchants/keys.js';
import { keyScopes } from '../shared/scope.js';
import { oneOf, rangeOf, required, text, UsageError, type Command, type Options } from './command.js';

export const keyCommands: Readonly<Record<string, Command>> = {
  'keys create': {
    usage:
      'keys create --merchant ID --kind secret|public --mode test|live [--scope full|read|verify] [--expires DATE]',
    help: `Creates an API key and prints it. A secret key is never shown again: only its digest is stored.

  --merchant ID   the merchant that the key belongs to
  --kind KIND     secret, for the merchant's servers, or public, for pages
  --mode MODE     test: simulated networks; live: real money
  --scope SCOPE   what a secret key may do: full (default); read: GET alone; verify: get, list and verify payments and transactions
  --expires DATE  the last day on which it works, or a time, in UTC (default: never)`,
    options: { merchant: text, kind: text, mode: text, scope: text, expires: text },
    positionals: [],
    async run({ database, merchants, keys, auditLog, clock, actor }, options) {
      const merchantId = required(options, 'merchant');
      const kind = oneOf(options, 'kind', ['secret', 'public']);
      const mode = oneOf(options, 'mode', ['test', 'live']);
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
    usage: 'keys list',
    help: 'Lists the API keys, oldest first, with their scope and expiry. Of secret keys it shows the last 4 characters.',
    options: {},
    positionals: [],
    async run({ keys, clock }) {
      const all = await keys.list();
      const now = clock.real();
      return {
        json: all.map(keyJson),
        text: all.map((key) => keyLine(key, now)).join('\n') || 'There are no API keys',
      };
    },
  },
  'keys revoke': {
    usage: 'keys revoke ID',
    help: 'Revokes an API key. Running servers accept it for up to 5 more seconds.',
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
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
    createdAt: isoTime(createdAt),
    revokedAt: revokedAt === null ? null : isoTime(revokedAt),
  };
}

function keyLine({ id, merchantId, key, scope, expiresAt, revokedAt }: KeyRecord, now: number): string {
  const notes = [
    ...(scope === 'full' ? [] : [scope]),
    ...(expiresAt === null ? [] : [`${expiresAt <= now ? 'expired' : 'expires'} ${isoTime(expiresAt)}`]),
    ...(revokedAt === null ? [] : ['revoked']),
  ];
  return [id, merchantId, key, ...notes].join('  ');
}
