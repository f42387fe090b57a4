/** `keys …`: creates, lists and revokes API keys. */
import { isoTime } from '../shared/clock.js';
import type { KeyRecord } from '../merchants/keys.js';
import { oneOf, required, text, type Command } from './command.js';

export const keyCommands: Readonly<Record<string, Command>> = {
  'keys create': {
    usage: 'keys create --merchant ID --kind secret|public --mode test|live',
    help: 'Creates an API key and prints it. A secret key is never shown again: only its digest is stored.',
    options: { merchant: text, kind: text, mode: text },
    positionals: [],
    async run({ database, merchants, keys }, options) {
      const merchantId = required(options, 'merchant');
      const kind = oneOf(options, 'kind', ['secret', 'public']);
      const mode = oneOf(options, 'mode', ['test', 'live']);
      const created = await database.write(async (transaction) => {
        await merchants.retrieve(transaction, merchantId);
        return keys.create(transaction, { merchantId, kind, mode });
      });
      return { json: created, text: `id   ${created.id}\nkey  ${created.key}` };
    },
  },
  'keys list': {
    usage: 'keys list',
    help: 'Lists the API keys, oldest first. Of secret keys it shows the last 4 characters.',
    options: {},
    positionals: [],
    async run({ keys }) {
      const all = await keys.list();
      return { json: all.map(keyJson), text: all.map(keyLine).join('\n') || 'There are no API keys' };
    },
  },
  'keys revoke': {
    usage: 'keys revoke ID',
    help: 'Revokes an API key. Running servers accept it for up to 5 more seconds.',
    options: {},
    positionals: ['ID'],
    async run({ keys }, _options, [id = '']) {
      await keys.revoke(id);
      return { json: { id, revoked: true }, text: `Revoked ${id}` };
    },
  },
};

function keyJson({ createdAt, revokedAt, ...key }: KeyRecord) {
  return { ...key, createdAt: isoTime(createdAt), revokedAt: revokedAt === null ? null : isoTime(revokedAt) };
}

function keyLine({ id, merchantId, key, revokedAt }: KeyRecord): string {
  return `${id}  ${merchantId}  ${key}${revokedAt === null ? '' : '  revoked'}`;
}
