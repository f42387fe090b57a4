/** Refuses an address as a treasury if coins would be lost there or move in a circle, or if its key is on the server. */
import { addr } from 'micro-eth-signer';
import type { DepositKeyRecord, DepositKeys } from '../../core/addresses/deposit-keys.js';
import { isEvm } from '../../core/families/kinds.js';
import { invalidField } from '../../core/shared/problem.js';
import type { TreasuryContext } from './context.js';
import { readGasKey } from './key-file.js';
import { hasSigned } from './gas-transactions.js';

/**
 * The number of addresses before and after the next one of each key that are checked. All that were given out are
 * known anyway.
 */
const nearby = 100;

/** Checks that need more than the address. Problem: `validation_error`. @throws if the gas key cannot be opened */
export async function ensureUsableTreasury(deps: TreasuryContext, treasury: string): Promise<void> {
  const { database, connected, depositKeys, gasKey } = deps;
  const lower = treasury.toLowerCase();
  const refused = (reason: string) =>
    invalidField('treasury', `${reason}. The treasury must be a wallet of yours`);
  for (const { network, chainAssets } of connected) {
    const token = Object.values(chainAssets).find(({ contract }) => contract?.toLowerCase() === lower);
    if (token) {
      throw refused(`This is the contract of ${token.currency} on ${network.name}: coins would be lost`);
    }
  }
  const gasAddress = gasKey && addr.fromPrivateKey(await readGasKey(gasKey));
  if (gasAddress?.toLowerCase() === lower || (await hasSigned(database.reader, lower))) {
    throw refused(
      'This is the gas key, which is on the server: anyone who takes over the server would have the money',
    );
  }
  for (const key of await depositKeys.list(database.reader)) {
    if (isEvm(key.family) && derivesNearby(depositKeys, key, lower)) {
      throw refused('This is a deposit address of this server: its contracts would pay coins in a circle');
    }
  }
}

function derivesNearby({ preview }: Pick<DepositKeys, 'preview'>, key: DepositKeyRecord, lower: string) {
  const source = preview(key, key.family, key, undefined);
  const first = Math.max(0, key.used - nearby);
  return Array.from({ length: key.used + nearby - first }, (_, index) => first + index).some(
    (index) => source.derive(index).toLowerCase() === lower,
  );
}
