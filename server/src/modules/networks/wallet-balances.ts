/**
 * Compares the books with the coins at addresses of extended keys. These are addresses of the merchant's own wallet,
 * which spends when it likes, so a difference is no fault of the books. Without one, the wallet pays only what the
 * server knows.
 */
import { fromChain } from '../../core/chains/assets.js';
import type { ConnectedNetwork } from '../../core/chains/connected.js';
import { forwarderSources } from '../../core/addresses/owners.js';
import type { Reader } from '../../core/db/engine.js';
import { everyPage } from '../../core/db/pages.js';
import { filtersBy } from '../../core/db/plans.js';
import { sumUnits } from '../../core/db/units.js';
import type { CoinsOf, SumUnspent } from '../../core/hooks.js';
import { inScope } from '../../core/db/rows.js';

const pageSize = 500;

export interface WalletDeps {
  readonly reader: Reader;
  /** Undefined if no module can: networks of Bitcoin's kind are then not read. */
  readonly sumUnspent: SumUnspent | undefined;
}

/** `books`, in units of the currency: confirmed receipts, less the transfers that were paid from the wallet. */
export type WalletBalance = NonNullable<Awaited<ReturnType<typeof readWallets>>>['wallets'][number];

/**
 * The wallets that were ever paid to on the network.
 * @returns undefined if the nodes of this kind of network do not report balances of addresses
 * @throws NodesUnavailable
 */
export async function readWallets(
  { reader, sumUnspent }: WalletDeps,
  connected: ConnectedNetwork,
  signal: AbortSignal,
) {
  const { network, chainAssets, evm, utxoNode } = connected;
  if (!evm && !(utxoNode && sumUnspent)) return undefined;
  const height = evm
    ? await evm.run((node) => node.blockNumber(), signal)
    : ((await utxoNode?.height(signal)) ?? 0);
  const wallets: { merchantId: string; currency: string; books: bigint; chain: bigint }[] = [];
  for (const { merchantId, currency, units } of await paidWallets(reader, network)) {
    const asset = chainAssets[currency];
    if (!asset) continue;
    const scope = { merchantId, mode: network.mode };
    const at = { scope, network: network.code, currency };
    const inChain = async () => {
      if (!evm) return utxoNode && sumUnspent ? sumUnspent(connected, at, signal) : 0n;
      let total = 0n;
      for await (const page of paidAddresses(reader, at)) {
        const addresses = page.map(({ address }) => address);
        const balances = await evm.run((node) => node.balances(asset.contract, addresses, height), signal);
        total += balances.reduce((sum, balance) => sum + balance, 0n);
      }
      return fromChain(asset, total);
    };
    const books = BigInt(units) - (await sumPaid(reader, at));
    wallets.push({ merchantId, currency, books, chain: await inChain() });
  }
  return { height, wallets };
}

/** The sums that addresses of extended keys have received, by merchant and currency. */
const paidWallets = (reader: Reader, { mode, code }: ConnectedNetwork['network']) =>
  received(reader)
    .where((e) => e.and({ 'receipts.mode': mode, 'receipts.network': code }))
    .groupBy(['receipts.merchant_id', 'receipts.currency'])
    .select(['receipts.merchant_id as merchantId', 'receipts.currency'])
    .select(sumUnits(reader, 'receipts.amount').as('units'))
    .orderBy('receipts.merchant_id')
    .orderBy('receipts.currency')
    .execute();

/** The addresses of one of them, page by page. */
const paidAddresses = (reader: Reader, { scope: { merchantId, mode }, network, currency }: CoinsOf) =>
  everyPage<{ address: string }>(pageSize, (after) =>
    received(reader)
      .select('receipts.address')
      .distinct()
      .where('receipts.address', '>', after?.address ?? '')
      .where(
        filtersBy(reader, {
          'receipts.mode': mode,
          'receipts.network': network,
          'receipts.merchant_id': merchantId,
          'receipts.currency': currency,
        }),
      )
      .orderBy('receipts.address')
      .limit(pageSize)
      .execute(),
  );

/** Confirmed receipts at addresses of extended keys. */
const received = (reader: Reader) =>
  reader
    .selectFrom('receipts')
    .innerJoin('addresses', (join) =>
      join.onRef('addresses.address', '=', 'receipts.address').onRef('addresses.mode', '=', 'receipts.mode'),
    )
    .where('receipts.status', '=', 'confirmed')
    .where('addresses.source_id', 'not like', forwarderSources);

/** The sum that the wallet has paid for transfers, with the network's fees. */
async function sumPaid(reader: Reader, { scope, network, currency }: CoinsOf): Promise<bigint> {
  const { amounts, fees } = await reader
    .selectFrom('transfers')
    .select([sumUnits(reader, 'amount').as('amounts'), sumUnits(reader, 'network_fee').as('fees')])
    .$call(inScope(scope))
    .where((e) => e.and({ network, currency, status: 'success', paid_from: null }))
    .executeTakeFirstOrThrow();
  return BigInt(amounts) + BigInt(fees);
}
