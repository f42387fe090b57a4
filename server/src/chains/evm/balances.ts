/** Reads what addresses hold from the nodes of an EVM network: at a block where they keep its state, otherwise now. */
import type { AskedBalance, BalanceReading, BalanceSource } from '../balance-source.js';
import { NodeError } from '../../rpc/node-error.js';
import { unlessRefused, type BlockRef, type EvmClient } from './client.js';
import type { Dialect } from './dialect.js';
import type { EvmNodes } from './evm-nodes.js';
import { readSpending } from './spending.js';
import { groupBy } from '../../shared/group-by.js';

/** How often the newest balances are read again if a block came in between. */
const attempts = 3;
/** What nodes tell in one call of a token, and where each address is a call of its own. */
const mostAtOnce = 250;
const mostOneByOne = 15;

export function createBalanceSource(nodes: EvmNodes, dialect: Dialect): BalanceSource {
  async function readAll(evm: EvmClient, asked: readonly AskedBalance[], at: BlockRef): Promise<bigint[]> {
    const amounts = new Array<bigint>(asked.length).fill(0n);
    const places = asked.map(({ address, asset }, place) => {
      const token = asset.contract && dialect.readAddress(asset.contract);
      const hex = dialect.readAddress(address);
      if (hex === undefined) throw new Error(`${address} is not an address of this network`);
      return { token, hex, place };
    });
    await Promise.all(
      [...groupBy(places, ({ token }) => token)].map(async ([token, list]) => {
        const addresses = list.map(({ hex }) => hex);
        const read = dialect.hasBalancesAtBlock
          ? await evm.balances(token, addresses, at)
          : await Promise.all(addresses.map((address) => evm.newestBalance(token, address)));
        for (const [index, { place }] of list.entries()) amounts[place] = read[index] ?? 0n;
      }),
    );
    return amounts;
  }

  async function readNewest(evm: EvmClient, asked: readonly AskedBalance[]): Promise<BalanceReading> {
    for (let attempt = 1; attempt <= attempts; attempt += 1) {
      const before = await evm.head();
      const amounts = await readAll(evm, asked, 'latest');
      const { height, hash } = await evm.head();
      if (hash === before.hash) return { node: evm.name, height, hash: dialect.writeHash(hash), amounts };
    }
    throw new NodeError('inconsistent', `${evm.name} had a new block each time that balances were read`);
  }

  const rawHash = (hash: string) => (hash.startsWith('0x') ? hash : `0x${hash}`);

  return {
    nodes: nodes.clients.length,
    pageSize: dialect.hasBalancesAtBlock ? mostAtOnce : mostOneByOne,

    read: (asked, { height, hash }, except, signal) =>
      nodes.run(
        async (evm) => {
          if (dialect.hasBalancesAtBlock) {
            const amounts = await unlessRefused(readAll(evm, asked, { blockHash: rawHash(hash) }));
            if (amounts) return { node: evm.name, height, hash, amounts };
          }
          return readNewest(evm, asked);
        },
        signal,
        except,
      ),

    readOld: (asked, height, except, signal) =>
      nodes.run(
        async (evm) => {
          const header = dialect.hasBalancesAtBlock ? await evm.header(height) : undefined;
          const amounts = header && (await unlessRefused(readAll(evm, asked, { blockHash: header.hash })));
          return amounts && { node: evm.name, height, hash: dialect.writeHash(header.hash), amounts };
        },
        signal,
        except,
      ),

    sent: (address, signal) =>
      nodes.run((evm) => unlessRefused(evm.nonce(dialect.readAddress(address) ?? address, 'latest')), signal),

    async spending(address, since, upTo, signal) {
      const owner = dialect.readAddress(address);
      if (owner === undefined || !dialect.hasBalancesAtBlock) return undefined;
      const answers = await nodes.each(
        (evm) => readSpending(evm, owner, since, { ...upTo, hash: rawHash(upTo.hash) }),
        signal,
      );
      return answers.find((found) => found !== undefined);
    },

    blockAt: (height, signal) =>
      nodes.run(async (evm) => {
        const header = await evm.header(height);
        return (
          header && {
            hash: dialect.writeHash(header.hash),
            parentHash: dialect.writeHash(header.parentHash),
            time: header.time,
          }
        );
      }, signal),
  };
}
