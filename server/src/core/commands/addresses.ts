/** `addresses …`: exports the deposit addresses of a merchant, for its wallet and its bookkeeping. */
import { csvLine, families } from 'crypto-checkout/contract';
import { exportAddresses, type ExportedAddress, type ExportedKey } from '../addresses/export.js';
import { isoTime } from '../shared/clock.js';
import { command, type Group } from './command.js';
import * as option from './options.js';
import { amountOf, amountText, recordJson } from './records.js';

export const addressCommands: Group = {
  name: 'addresses',
  summary: 'Deposit addresses, for the wallet that holds their keys.',
  commands: {
    export: command({
      summary:
        "Prints all addresses that were given out from the merchant's deposit keys: index, path below the account, address, payment or wallet, and what was received.",
      details:
        'Bitcoin and Litecoin keys come with the output descriptor and its range, for a wallet to import: without them, wallets look only 20 unused addresses ahead. Addresses of contracts come with the salt that empties them.',
      options: {
        merchant: option.merchant('whose addresses').required(),
        format: option.format(['csv', 'json'], 'csv: one address on each line; json: the keys as well'),
        family: option.oneOf(families, 'only addresses of this family'),
        mode: option.mode('the mode of the addresses'),
      },
      async run({ database, depositKeys }, { merchant: merchantId, mode, family, format }) {
        const scope = { merchantId, mode };
        const { reader } = database;
        const { keys, addresses } = await exportAddresses({ reader, depositKeys, scope, family });
        const json = { keys: keys.map(keyJson), addresses: addresses.map(addressJson) };
        return { json, text: format === 'json' ? JSON.stringify(json, null, 2) : csvOf(keys, addresses) };
      },
    }),
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
    ...recordJson(key, 'createdAt', 'replacedAt'),
  };
}

function addressJson({ keyId, received, createdAt, ...address }: ExportedAddress) {
  return {
    ...address,
    key: keyId,
    received: received.map(({ currency, amount }) => ({
      currency,
      amount: amountOf(amount, currency),
    })),
    createdAt: isoTime(createdAt),
  };
}

function csvOf(keys: readonly ExportedKey[], addresses: readonly ExportedAddress[]): string {
  const byId = new Map(keys.map((exported) => [exported.key.id, exported]));
  const header = 'index,path,address,currency,network,payment,wallet,received,created,descriptor,range,salt';
  const rows = addresses.map(({ keyId, paymentId: payment, walletId: wallet, createdAt, ...address }) => {
    const { descriptor, range = [] } = byId.get(keyId) ?? {};
    const received = address.received.map(({ currency, amount }) => amountText(amount, currency)).join('; ');
    const created = isoTime(createdAt);
    const row = { ...address, payment, wallet, received, created, descriptor, range: range.join('-') };
    return csvLine(header.split(',').map((name) => String(Reflect.get(row, name) ?? '')));
  });
  return `${header}\r\n${rows.join('')}`.trimEnd();
}
