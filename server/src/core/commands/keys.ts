/** `keys …`: creates, lists and revokes API keys. */
import { isoTime } from '../shared/clock.js';
import type { KeyRecord } from '../merchants/keys.js';
import { keyScopes } from 'crypto-checkout/contract';
import { command, type Group } from './command.js';
import { UsageError } from './errors.js';
import * as option from './options.js';
import { listCommand, noFilters } from './read-commands.js';
import { recordJson } from './records.js';

export const keyCommands: Group = {
  name: 'keys',
  summary: 'API keys, for servers and for pages.',
  commands: {
    create: command({
      summary: 'Creates an API key and prints it.',
      details: 'A secret key is never shown again: only its digest is stored.',
      options: {
        merchant: option.merchant('the merchant that the key belongs to').required(),
        kind: option
          .oneOf(['secret', 'public'], "secret, for the merchant's servers, or public, for pages")
          .required(),
        mode: option.mode(
          'test: simulated networks, and test networks that are configured; live: real money',
        ),
        scope: option
          .oneOf(
            keyScopes,
            'what a secret key may do: full; read: only GET; verify: get, list and verify payments and transactions; refunds: the same, and all about refunds',
          )
          .default('full'),
        label: option.text('TEXT', 'what it is for, as "keys list" shows it'),
        expires: option.date('to', 'the last day on which it works, or a time, in UTC (default: never)'),
      },
      async run({ database, accountChanges, clock, actor }, { merchant, kind, mode, scope, label, expires }) {
        if (kind === 'public' && scope !== 'full') {
          throw new UsageError('--scope is only for secret keys: the permissions of public keys are fixed');
        }
        if (expires !== undefined && expires <= clock.real()) {
          throw new UsageError('--expires must be in the future');
        }
        const owner = { merchantId: merchant, mode, kind, scope, label, expiresAt: expires };
        const created = await database.write((transaction) =>
          accountChanges.createKey(transaction, owner, actor),
        );
        return { json: created, text: `id   ${created.id}\nkey  ${created.key}` };
      },
    }),
    list: listCommand(noFilters, {
      summary:
        'Lists the API keys, oldest first, with their use, when they were made and last used, their scope and their expiry.',
      details:
        'Secret keys are shown by their last 4 characters. Public keys have no scope: their permissions are fixed. The last use is written every three minutes.',
      what: 'API keys',
      async rows({ keys, clock }, { merchantId }) {
        const all = await keys.list();
        const listed = all.filter((key) => merchantId === undefined || key.merchantId === merchantId);
        return listed.map((key) => ({ key, state: stateOf(key, clock.real()) }));
      },
      json: ({ key }) => recordJson(key),
      columns: {
        ID: ({ key }) => key.id,
        MERCHANT: ({ key }) => key.merchantId,
        MODE: ({ key }) => key.mode,
        KEY: ({ key }) => key.key,
        LABEL: ({ key }) => key.label || '-',
        CREATED: ({ key }) => isoTime(key.createdAt),
        'LAST USED': ({ key }) => (key.lastUsedAt === null ? 'never' : isoTime(key.lastUsedAt)),
        SCOPE: ({ key }) => key.scope ?? '-',
        STATE: ({ state }) => state,
      },
    }),
    revoke: command({
      summary: 'Revokes an API key.',
      details: 'Running servers accept it for up to 5 more seconds.',
      args: { id: option.id('the key\'s id, as "keys list" shows it') },
      async run({ database, accountChanges, actor }, { id }) {
        await database.write((transaction) => accountChanges.revokeKey(transaction, id, actor));
        return { json: { id, revoked: true }, text: `Revoked ${id}` };
      },
    }),
  },
};

function stateOf({ expiresAt, revokedAt }: KeyRecord, now: number): string {
  if (revokedAt !== null) return `revoked ${isoTime(revokedAt)}`;
  if (expiresAt === null) return 'active';
  return `${expiresAt <= now ? 'expired' : 'expires'} ${isoTime(expiresAt)}`;
}
