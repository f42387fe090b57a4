/** Merchants who are paid in real litecoins, wallets that sign for them, and the commands of an operator. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HDKey } from '@scure/bip32';
import { Transaction } from '@scure/btc-signer';
import type { ScriptType } from '../../src/core/addresses/bitcoin-scripts.js';
import type { TransferRow } from '../../src/core/db/schema.js';
import { findAnyTransfer } from '../../src/core/withdrawals/transfer-store.js';
import { commandContext, runWith } from '../support/command-context.js';
import type { TestEngine } from '../support/engines.js';
import type { LitecoinNode } from '../support/litecoin.js';
import { signWith, tpub } from '../support/sign-psbt.js';
import { startServer } from '../support/server.js';
import { openShop, type Order } from '../support/shop.js';
import { lenient } from '../../src/modules/psbt-payouts/build.js';
import { psbtPayouts } from '../../src/modules/psbt-payouts/module.js';
import { expectBooksInOrder } from '../support/violations.js';

export const network = 'litecoin-regtest';
const { signal } = new AbortController();

export interface ShownPsbt {
  readonly id: string;
  readonly state: string;
  readonly problem: string | null;
  readonly psbt: string;
  readonly changePath: string | null;
  readonly isBroadcast: boolean;
  readonly transfers: {
    readonly id: string;
    readonly status: string;
    readonly amount: string;
    readonly bearsFee: boolean;
  }[];
  readonly inputs: { readonly txHash: string; readonly outputIndex: number; readonly path: string }[];
  readonly versions: {
    readonly number: number;
    readonly fee: string;
    readonly change: string;
    readonly txHash: string;
    readonly isSettled: boolean;
  }[];
  readonly skipped: { readonly id: string; readonly reason: string }[];
}

/** @param psbt in base64 */
export const opened = (psbt: string): Transaction =>
  Transaction.fromPSBT(Buffer.from(psbt, 'base64'), lenient);

export type PayoutShop = Awaited<ReturnType<typeof openPayoutShop>>;
export type PayoutMerchant = Awaited<ReturnType<PayoutShop['merchant']>>;

/** @param settings of the network; by default, the node itself is its only one */
export async function openPayoutShop(
  engine: TestEngine,
  node: LitecoinNode,
  settings: { readonly nodes: readonly string[]; readonly crossCheckAbove?: string } = { nodes: [node.url] },
) {
  const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
  const file = join(directory, 'networks.json');
  await writeFile(file, JSON.stringify({ networks: { [network]: settings } }));
  const server = await startServer({ engine, env: { NETWORKS_FILE: file } });
  await server.app.scanner.scanNow({ mode: 'test', network });

  /** A merchant with a key of a wallet of their own. */
  async function merchant(script: ScriptType = 'p2wpkh') {
    const account = HDKey.fromMasterSeed(randomBytes(32), tpub).derive("m/84'/1'/0'");
    const { id, key } = await server.database.write(async (transaction) => {
      const made = await server.app.merchants.create(transaction, { name: 'Shop' });
      const scope = { merchantId: made.id, mode: 'test' } as const;
      await server.app.depositKeys.set(transaction, scope, 'litecoin', {
        extendedPublicKey: account.publicExtendedKey,
        script,
      });
      const secret = await server.app.keys.create(transaction, { ...scope, kind: 'secret' });
      return { id: made.id, key: secret.key };
    });
    await server.app.depositKeys.refresh();

    const api = openShop(server, key);
    const ask = <T>(method: string, path: string, body?: object) =>
      api.ask<T>(method, path, body && { body });

    let address: string | undefined;
    return {
      id,
      account,
      ask,
      /** Locks a payment in litecoins. */
      lock: (order: Order) => api.lock({ currency: 'LTC', network, ...order }),

      /** Pays the merchant in as many transactions. */
      async fund(...amounts: string[]): Promise<void> {
        if (address === undefined) {
          const wallet = await ask<{ addresses: { network: string; address: string }[] }>(
            'POST',
            '/v1/wallets',
            { currency: 'LTC', label: 'Till' },
          );
          address = wallet.addresses.find((one) => one.network === network)?.address ?? '';
        }
        for (const amount of amounts) await node.pay(address, amount);
        await node.mine(2);
        await scan();
      },

      /** Asks for transfers to new addresses of the node's wallet, or to given ones. */
      async transfers(...amounts: (string | { amount: string; to: string })[]): Promise<TransferRow[]> {
        const ids: string[] = [];
        for (const given of amounts) {
          const { amount, to } =
            typeof given === 'string'
              ? { amount: given, to: await node.rpc<string>('getnewaddress') }
              : given;
          const { id: transferId } = await ask<{ id: string }>('POST', '/v1/transfers', {
            amount: Number(amount),
            currency: 'LTC',
            walletAddress: to,
            walletNetwork: network,
          });
          ids.push(transferId);
        }
        return Promise.all(ids.map(transfer));
      },

      export(options: Record<string, string | undefined> = {}): Promise<ShownPsbt> {
        const given: typeof options = { merchant: id, network, mode: 'test', 'fee-rate': '2', ...options };
        const words = Object.entries(given).flatMap(([name, value]) =>
          value === undefined ? [] : `--${name}=${value}`,
        );
        return command('transfers psbt export', ...words) as Promise<ShownPsbt>;
      },

      /** Signs as a wallet does that has the account's private keys. */
      sign: (psbt: string, sighash?: number) => signWith(account, psbt, sighash),

      /** Signs another transaction with the first coin of each PSBT, as somebody with the same wallet can. */
      signOther(
        psbts: readonly ShownPsbt[],
        outputs: readonly Parameters<Transaction['addOutput']>[0][],
      ): Transaction {
        const other = new Transaction(lenient);
        for (const { psbt } of psbts) other.addInput(opened(psbt).getInput(0));
        for (const output of outputs) other.addOutput(output);
        const signed = opened(signWith(account, Buffer.from(other.toPSBT(0)).toString('base64')));
        signed.finalize();
        return signed;
      },
    };
  }

  const scan = () => server.app.scanner.scanNow({ mode: 'test', network });
  const follow = () => psbtPayouts.rules(server.app).follow(signal);

  const run = (line: string, ...words: string[]) => runWith(commandContext(server), line, ...words);
  const command = async (line: string, ...words: string[]) => (await run(line, ...words)).json;

  async function transfer(id: string): Promise<TransferRow> {
    const row = await findAnyTransfer(server.database.reader, id);
    if (!row) throw new Error(`There is no transfer ${id}`);
    return row;
  }

  let files = 0;
  return {
    /** The number of transfers that `/metrics` shows as exported. */
    async exported(): Promise<number> {
      const [count] = psbtPayouts.rules(server.app).figures();
      return (await count?.read())?.[0]?.[1] ?? 0;
    },

    server,
    merchant,
    scan,
    follow,
    /** Mines what waits, deep enough, and lets the server look. */
    async confirm(blocks = 2): Promise<void> {
      await node.mine(blocks);
      await scan();
      await follow();
    },
    run,
    command,
    transfer,
    show: (id: string) => command('transfers psbt show', id) as Promise<ShownPsbt>,
    bump: (id: string, feeRate: string) =>
      command('transfers psbt bump', id, '--fee-rate', feeRate) as Promise<ShownPsbt>,
    discard: (id: string) => command('transfers psbt discard', id) as Promise<ShownPsbt>,

    /** @param content a PSBT in base64, or a transaction in hexadecimal digits */
    async import(content: string | Uint8Array): Promise<ShownPsbt> {
      const path = join(directory, `signed-${(files += 1)}`);
      await writeFile(path, content);
      return (await command('transfers psbt import', path)) as ShownPsbt;
    },
    path: (name: string) => join(directory, name),
    read: (name: string) => readFile(join(directory, name)),

    async statuses(rows: readonly TransferRow[]): Promise<string[]> {
      return Promise.all(rows.map(async ({ id }) => (await transfer(id)).status));
    },

    /** The books balance, and custody is what the chain has on the merchant's addresses. */
    async expectBooksInOrder(): Promise<void> {
      await expectBooksInOrder(server.database);
    },

    async custody(merchantId: string): Promise<bigint> {
      const row = await server.database.reader
        .selectFrom('ledger_accounts')
        .select('balance')
        .where('kind', '=', 'custody')
        .where('merchant_id', '=', merchantId)
        .executeTakeFirst();
      return BigInt(row?.balance ?? '0');
    },

    async close(): Promise<void> {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
