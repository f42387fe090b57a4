/** Shows PSBTs, to commands and in the console. Amounts are decimals with every digit. */
import { fromUnits } from 'crypto-checkout/contract';
import type { Currencies } from '../../core/money/currencies.js';
import { isoTime } from '../../core/shared/clock.js';
import { paidAmounts } from './context.js';
import { attentionOf, type StoredPsbt } from './psbt-store.js';
import type { PsbtTable } from './tables.js';

export function viewPsbtRow(row: PsbtTable) {
  const { id, merchant_id: merchantId, mode, network, currency, state } = row;
  return {
    id,
    merchantId,
    mode,
    network,
    currency,
    state,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
    problem: attentionOf(row),
  };
}

export function viewPsbt(psbt: StoredPsbt, currencies: Pick<Currencies, 'known'>) {
  const { change_index: change, versions } = psbt;
  const { decimals } = currencies.known(psbt.currency);
  const amount = (units: bigint) => fromUnits(units, decimals);
  const newest = versions.at(-1);
  const paid = newest ? paidAmounts(psbt, newest) : [];
  return {
    ...viewPsbtRow(psbt),
    changePath: change === null ? null : `1/${change}`,
    transfers: psbt.transfers.map((row, position) => ({
      id: row.id,
      status: row.status,
      amount: amount(paid[position] ?? 0n),
      bearsFee: row.bears_fee,
      address: row.address,
    })),
    inputs: psbt.inputs.map((input) => ({
      txHash: input.tx_hash,
      outputIndex: input.output_index,
      amount: amount(input.amount),
      path: `${input.branch}/${input.derivation_index}`,
    })),
    versions: versions.map((version) => ({
      number: version.number,
      fee: amount(version.fee),
      virtualSize: version.virtual_size,
      change: amount(version.change_amount),
      txHash: version.tx_hash,
      importedAt: version.imported_at === null ? null : isoTime(version.imported_at),
      isSettled: version.number === psbt.settled_version,
    })),
  };
}

/** The newest version that a wallet can sign, in base64. */
export function newestOf({ versions }: StoredPsbt): string {
  return [...versions].reverse().find(({ psbt }) => psbt !== '')?.psbt ?? '';
}
