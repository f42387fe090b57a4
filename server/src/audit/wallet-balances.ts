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
  for (const { merchantId, currency, addresses } of await paidWallets(reader, network)) {
    const asset = chainAssets[currency];
    if (!asset) continue;
    const scope = { merchantId, mode: network.mode };
    const at = { scope, network: network.code, currency };
    const inChain = async () => {
      if (!evm) return utxoNode ? psbtPayouts.sumUnspent(utxoNode, at, signal) : 0n;
      const balances = await evm.run((node) => node.balances(asset.contract, addresses, height), signal);
      return fromChain(asset, sum(balances));
    };
    wallets.push({ merchantId, currency, books: await onBooks(reader, at), chain: await inChain() });
  }
  return { height, wallets };
}

async function paidWallets(reader: Reader, { mode, code }: ConnectedNetwork['network']) {
  const rows = await atWallets(reader)
    .select(['receipts.merchant_id as merchantId', 'receipts.currency', 'receipts.address'])
    .where((e) => e.and({ 'receipts.mode': mode, 'receipts.network': code }))
    .distinct()
    .orderBy('receipts.merchant_id')
    .orderBy('receipts.currency')
    .execute();
  const wallets = groupBy(rows, ({ merchantId, currency }) => `${merchantId}/${currency}`);
  return [...wallets.values()].flatMap((own) => {
    const [first] = own;
    return first ? { ...first, addresses: own.map(({ address }) => address) } : [];
  });
}

async function onBooks(
  reader: Reader,
  { scope, network, currency }: Parameters<PsbtPayouts['sumUnspent']>[1],
): Promise<bigint> {
  const received = await atWallets(reader)
    .select(sumUnits(reader, 'receipts.amount').as('units'))
    .where((e) => e.and({ 'receipts.merchant_id': scope.merchantId, 'receipts.mode': scope.mode }))
    .where((e) => e.and({ 'receipts.network': network, 'receipts.currency': currency }))
    .executeTakeFirstOrThrow();
  const paid = await reader
    .selectFrom('transfers')
    .select([sumUnits(reader, 'amount').as('amounts'), sumUnits(reader, 'network_fee').as('fees')])
    .$call(inScope(scope))
    .where((e) => e.and({ network, currency, status: 'success', paid_from: null }))
    .executeTakeFirstOrThrow();
  return BigInt(received.units) - BigInt(paid.amounts) - BigInt(paid.fees);
}

/** Confirmed receipts at addresses of extended keys. */
function atWallets(reader: Reader) {
  return reader
    .selectFrom('receipts')
    .innerJoin('addresses', (join) =>
      join.onRef('addresses.address', '=', 'receipts.address').onRef('addresses.mode', '=', 'receipts.mode'),
    )
    .where('receipts.status', '=', 'confirmed')
    .where('addresses.source_id', 'not like', 'forwarder:%');
}

const sum = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
