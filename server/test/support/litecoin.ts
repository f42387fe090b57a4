/** A real Litecoin Core on a regtest network of its own, with a wallet that has coins to pay with. */
import { inject } from 'vitest';
import { startLitecoind, type Litecoind } from '../../../scripts/find-litecoind.mjs';

const litecoindPath = inject('litecoindPath');
/** True if tests on Litecoin Core can run. If not, the global setup prints the reason, and fails if CI=true. */
export const hasLitecoind = litecoindPath !== '';

export const litecoinRegtest = {
  mode: 'test',
  network: 'litecoin-regtest',
  family: 'litecoin',
  addressNet: 'regtest',
  genesisHash: '530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9',
  currency: 'LTC',
} as const;

export interface LitecoinNode extends Litecoind {
  rpc<T = unknown>(method: string, ...params: unknown[]): Promise<T>;
  /** Adds blocks with everything that waits. Returns their hashes. */
  mine(count?: number): Promise<string[]>;
  /**
   * Replaces the last blocks by as many and one more. Their transactions are put into the first of those, or wait
   * again.
   */
  reorg(depth: number, transactions: 'mined again' | 'waiting'): Promise<void>;
  /** Pays from the wallet. Returns the transaction's id. */
  pay(address: string, amount: string, isReplaceable?: boolean): Promise<string>;
  /** Replaces a waiting transaction by one that pays the same coins to another address, with a higher fee. */
  replace(txid: string, address: string): Promise<string>;
  /** Signs and sends a raw transaction whose outputs are given, funded by the wallet. */
  sendRaw(hex: string): Promise<string>;
}

export async function startLitecoin(): Promise<LitecoinNode> {
  const node = await startLitecoind(litecoindPath);
  const { origin, username, password } = new URL(node.url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

  async function rpc<T>(method: string, ...params: unknown[]): Promise<T> {
    const response = await fetch(origin, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ method, params }),
      signal: AbortSignal.timeout(15_000),
    });
    const { result, error } = (await response.json()) as { result: T; error: { message: string } | null };
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  await rpc('createwallet', 'w', false, false, '', false, false, true);
  const own = await rpc<string>('getnewaddress');
  // The first ten rewards can be spent: each pays a transaction of its own.
  await rpc('generatetoaddress', 110, own);

  const mine = (count = 1) => rpc<string[]>('generatetoaddress', count, own);
  const sign = async (hex: string): Promise<string> => {
    const signed = await rpc<{ hex: string }>('signrawtransactionwithwallet', hex);
    return rpc<string>('sendrawtransaction', signed.hex, 0);
  };

  return {
    ...node,
    rpc,
    async kill() {
      // Writes the blocks and the mempool to the disk, which a node does automatically only now and then.
      await rpc('gettxoutsetinfo');
      await rpc('savemempool');
      await node.kill();
    },
    mine,
    async reorg(depth, transactions) {
      const height = await rpc<number>('getblockcount');
      const lowest = await rpc<string>('getblockhash', height - depth + 1);
      await rpc('invalidateblock', lowest);
      // To another address: with the same one, the new block can be the one that has just been made invalid.
      const other = await rpc<string>('getnewaddress');
      for (let made = 0; made <= depth; made += 1) {
        if (transactions === 'mined again') await rpc('generatetoaddress', 1, other);
        else await rpc('generateblock', other, []);
      }
    },
    pay: (address, amount, isReplaceable = false) =>
      rpc('sendtoaddress', address, amount, '', '', false, isReplaceable),
    async replace(txid, address) {
      const { vin } = await rpc<{ vin: { txid: string; vout: number }[] }>('getrawtransaction', txid, true);
      const inputs = vin.map(({ txid: spent, vout }) => ({ txid: spent, vout, sequence: 0 }));
      let total = 0;
      for (const { txid: spent, vout } of inputs) {
        // As it was before the transaction that waits.
        const { value } = await rpc<{ value: number }>('gettxout', spent, vout, false);
        total += value;
      }
      return sign(await rpc('createrawtransaction', inputs, [{ [address]: (total - 0.01).toFixed(8) }]));
    },
    async sendRaw(hex) {
      const funded = await rpc<{ hex: string }>('fundrawtransaction', hex);
      return sign(funded.hex);
    },
  };
}
