/**
 * Compares the books with what the addresses of extended keys hold. These are addresses of the merchant's own wallet, which
 * spends when it likes, so a difference is no fault of the books. Without one, the wallet pays only what the server knows.
 */
import { fromChain } from '../chains/assets.js';
import type { ConnectedNetwork } from '../chains/connect.js';
import type { Reader } from '../db/engine.js';
import { sumUnits } from '../db/units.js';
import { groupBy } from '../shared/group-by.js';
import type { PsbtPayouts } from '../psbt-payouts/psbt-payouts.js';
import { inScope } from '../db/rows.js';

/** `books`, in units of the currency: confirmed receipts, less the transfers that were paid from the wallet. */
export type WalletBalance = NonNullable<Awaited<ReturnType<typeof compareWallets>>>['wallets'][number];

/**
 * The wallets that were ever paid to on the network.
 * @returns undefined if the nodes of this kind of network do not report balances of addresses
 * @throws NodesUnavailable
 */
export async function compareWallets(
  { reader, psbtPayouts }: { readonly reader: Reader; readonly psbtPayouts: Pick<PsbtPayouts, 'sumUnspent'> },
  connected: ConnectedNetwork,
  signal: AbortSignal,
) {
  const { network, chainAssets, evm, utxoNode } = connected;
  if (!evm && !utxoNode) return undefined;
  const height = evm
    ? await evm.run((node) => node.blockNumber(), signal)
    : ((await utxoNode?.height(signal)) ?? 0);
  const wallets: { merchantId: string; currency: string; books: bigint; chain: bigint }[] = [];
  for (const own of await paidWallets(reader, network)) {
    const [first] = own;
    const asset = first && chainAssets[first.currency];
    if (!asset) continue;
    const { merchantId, currency } = first;
    const scope = { merchantId, mode: network.mode };
    const at = { scope, network: network.code, currency };
    const inChain = async () => {
      if (!evm) return utxoNode ? psbtPayouts.sumUnspent(utxoNode, at, signal) : 0n;
      const addresses = own.map(({ address }) => address);
      const balances = await evm.run((node) => node.balances(asset.contract, addresses, height), signal);
      return fromChain(asset, sum(balances));
    };
    const books = sum(own.map(({ units }) => BigInt(units))) - (await sumPaid(reader, at));
    wallets.push({ merchantId, currency, books, chain: await inChain() });
  }
  return { height, wallets };
}

/** What the addresses of extended keys have received, by merchant and currency. */
async function paidWallets(reader: Reader, { mode, code }: ConnectedNetwork['network']) {
  const rows = await reader
    .selectFrom('receipts')
    .innerJoin('addresses', (join) =>
      join.onRef('addresses.address', '=', 'receipts.address').onRef('addresses.mode', '=', 'receipts.mode'),
    )
    .where((e) => e.and({ 'receipts.mode': mode, 'receipts.network': code, 'receipts.status': 'confirmed' }))
    .where('addresses.source_id', 'not like', 'forwarder:%')
    .groupBy(['receipts.merchant_id', 'receipts.currency', 'receipts.address'])
    .select(['receipts.merchant_id as merchantId', 'receipts.currency', 'receipts.address'])
    .select(sumUnits(reader, 'receipts.amount').as('units'))
    .orderBy('receipts.merchant_id')
    .orderBy('receipts.currency')
    .execute();
  return groupBy(rows, ({ merchantId, currency }) => `${merchantId}/${currency}`).values();
}

/** What the wallet has paid for transfers, with the network's fees. */
async function sumPaid(
  reader: Reader,
  { scope, network, currency }: Parameters<PsbtPayouts['sumUnspent']>[1],
): Promise<bigint> {
  const { amounts, fees } = await reader
    .selectFrom('transfers')
    .select([sumUnits(reader, 'amount').as('amounts'), sumUnits(reader, 'network_fee').as('fees')])
    .$call(inScope(scope))
    .where((e) => e.and({ network, currency, status: 'success', paid_from: null }))
    .executeTakeFirstOrThrow();
  return BigInt(amounts) + BigInt(fees);
}

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
