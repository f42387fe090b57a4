/** Writes sweeps and payouts of a treasury as a batch for Safe's transaction builder, which reads it from a file. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hexOf } from '../networks/evm/abi.js';

/** A transaction without value unless it names one, in wei. */
export interface WalletCall {
  readonly to: string;
  readonly data: string;
  readonly value?: bigint;
}

/**
 * With the checksum by which the builder detects if a file was changed since it was written.
 * https://github.com/safe-global/safe-react-apps, `apps/tx-builder`: `BatchFile`, `checksum.ts`
 * @param createdAt epoch milliseconds
 */
export function safeBatch(name: string, chainId: number, calls: readonly WalletCall[], createdAt: number) {
  const batch = {
    version: '1.0',
    chainId: String(chainId),
    createdAt,
    meta: { name, description: '', txBuilderVersion: '1.16.5' },
    transactions: calls.map(({ to, data, value = 0n }) => ({
      to,
      value: value.toString(),
      data: data === '0x' ? null : data,
      contractMethod: null,
      contractInputsValues: null,
    })),
  };
  return { ...batch, meta: { ...batch.meta, checksum: safeChecksum(batch) } };
}

/** The importer of a batch may rename it, so the name does not count. @param batch without a checksum */
export function safeChecksum(batch: Readonly<Record<string, unknown>> & { readonly meta: object }): string {
  return hexOf(keccak_256(utf8ToBytes(serialize({ ...batch, meta: { ...batch.meta, name: null } }))));
}

/** Not JSON, but the form that Safe uses: for an object, first its sorted names, and then its values, each with a comma. */
function serialize(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(serialize).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  const values = entries.map(([, one]) => `${serialize(one)},`).join('');
  return `{${JSON.stringify(entries.map(([name]) => name))}${values}}`;
}
