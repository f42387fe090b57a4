/** `addresses …`: exports the deposit addresses of a merchant, for its wallet and its bookkeeping. */
import { exportAddresses, type ExportedAddress, type ExportedKey } from '../chains/addresses/export.js';
import { isoTime } from '../shared/clock.js';
import { amountOf } from './amounts.js';
import { formatOf, modeOf, oneOf, required, text, type Command } from './command.js';
import { families } from './deposit-keys.js';

export const addressCommands: Readonly<Record<string, Command>> = {
  'addresses export': {
    usage:
      'addresses export --merchant ID [--family bitcoin|litecoin|evm|tron] --mode test|live --format csv|json',
    help: `Prints all addresses that were given out from the merchant's deposit keys: index, path below the account, address,
payment or wallet, and what was received. Bitcoin and Litecoin keys come with the output descriptor and its range,
for a wallet to import: wallets by themselves look only 20 unused addresses ahead. Addresses of a treasury come with
the salt that empties them, see docs/treasury.md.

  --merchant ID   whose addresses
  --family F      only addresses of this family
  --mode MODE     test or live
  --format F      csv or json`,
    options: { merchant: text, family: text, mode: text, format: text },
    positionals: [],
    async run({ database, merchants, depositKeys }, options) {
      const merchantId = required(options, 'merchant');
      const format = formatOf(options);
      const family = options['family'] === undefined ? undefined : oneOf(options, 'family', families);
      const scope = { merchantId, mode: modeOf(options) };
      await merchants.retrieve(database.reader, merchantId);
      const { keys, addresses } = await exportAddresses({
        reader: database.reader,
        depositKeys,
        scope,
        family,
      });
      const json = { keys: keys.map(keyJson), addresses: addresses.map(addressJson) };
      return {
        json,
        text: format === 'json' ? JSON.stringify(json, null, 2) : csvOf(keys, addresses),
      };
    },
  },
};

function keyJson({ key, descriptor, range }: ExportedKey) {
  return {
    id: key.id,
    family: key.family,
    ...(key.treasury === undefined
      ? { extendedPublicKey: key.extendedPublicKey }
      : { treasury: key.treasury }),
    ...(key.script && { script: key.script }),
    ...(descriptor !== undefined && { descriptor }),
    range,
    createdAt: isoTime(key.createdAt),
    replacedAt: key.replacedAt === null ? null : isoTime(key.replacedAt),
  };
}

function addressJson({ keyId, received, createdAt, ...address }: ExportedAddress) {
  return {
    ...address,
    key: keyId,
    received: received.map(({ currency, amount }) => ({
      currency,
      amount: amountOf(amount.toString(), currency),
    })),
    createdAt: isoTime(createdAt),
  };
}

function csvOf(keys: readonly ExportedKey[], addresses: readonly ExportedAddress[]): string {
  const byId = new Map(keys.map((exported) => [exported.key.id, exported]));
  const header = 'index,path,address,currency,network,payment,wallet,received,created,descriptor,range,salt';
  const rows = addresses.map((address) => {
    const key = byId.get(address.keyId);
    const received = address.received.map(
      ({ currency, amount }) => `${amountOf(amount.toString(), currency)} ${currency}`,
    );
    return [
      address.index,
      address.path,
      address.address,
      address.currency,
      address.network,
      address.paymentId ?? '',
      address.walletId ?? '',
      received.join('; '),
      isoTime(address.createdAt),
      key?.descriptor ?? '',
      key ? key.range.join('-') : '',
      address.salt ?? '',
    ].map((value) => quoted(String(value)));
  });
  return [header, ...rows.map((row) => row.join(','))].join('\n');
}

/** RFC 4180. Descriptors hold quotes and commas. */
function quoted(value: string): string {
  return /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
