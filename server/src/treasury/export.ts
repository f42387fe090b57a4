/** Writes sweeps and payouts of a treasury for the wallets that can make them. */

/** A transaction without value unless it names one, in wei. */
export interface WalletCall {
  readonly to: string;
  readonly data: string;
  readonly value?: bigint;
}

/**
 * A batch for the transaction builder of Safe, which reads it from a file.
 * https://github.com/safe-global/safe-react-apps, `apps/tx-builder`: `BatchFile`
 * @param createdAt epoch milliseconds
 */
export function safeBatch(
  name: string,
  chainId: number,
  calls: readonly WalletCall[],
  createdAt: number,
): Readonly<Record<string, unknown>> {
  return {
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
}
