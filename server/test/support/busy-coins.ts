/**
 * The payments of a busy shop that came in coins, on a Litecoin Core of its own, and the payouts by PSBT that spent most of them: one
 * of each is made through the API, and copied by the database itself.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HDKey } from '@scure/bip32';
import { expect } from 'vitest';
import { copyOf, type Sql } from '../../../bench/fill-lists.mjs';
import { litecoinRegtest, type LitecoinNode } from './litecoin.js';
import type { Records } from './records.js';
import type { TestServer } from './server.js';
import { signWith, tpub } from './sign-psbt.js';
import { psbtPayouts } from '../../src/modules/psbt-payouts/module.js';

const { mode, network, currency } = litecoinRegtest;
const { signal } = new AbortController();
/** The wallet that signs for the shop. */
const account = HDKey.fromMasterSeed(Buffer.alloc(32, 7), tpub).derive("m/84'/1'/0'");

export interface CoinTemplates {
  readonly payment: string;
  readonly psbt: string;
  readonly transfer: string;
}

/** Less than one payment, in litecoins. */
const small = 0.005;

interface Shop {
  readonly server: TestServer;
  readonly records: Records;
  command(line: string, ...words: string[]): Promise<unknown>;
}

interface Exported {
  readonly id: string;
  readonly psbt: string;
}

/** A shop's actions with coins. */
function coinsOf({ server, records, command }: Shop, node: LitecoinNode) {
  const own = ['--merchant', server.bootstrapped.merchantId, '--network', network, '--mode', mode];
  const scan = () => server.app.scanner.scanNow({ mode, network });
  return {
    scan,
    locked: async () => records.shop.choose(await records.payment(), { currency, network }),
    /** Pays all of them in one transaction. */
    pay: (list: readonly { readonly address: string; readonly amount: number | string | undefined }[]) =>
      node.rpc(
        'sendmany',
        '',
        Object.fromEntries(list.map(({ address, amount }) => [address, String(amount)])),
      ),
    async confirm(): Promise<void> {
      await node.mine(2);
      await scan();
      await psbtPayouts.rules(server.app).follow(signal);
    },
    async transfer(amount: number): Promise<string> {
      const walletAddress = await node.rpc<string>('getnewaddress');
      const body = { amount, currency, walletAddress, walletNetwork: network };
      return (await records.shop.withdraw(body)).id;
    },
    export: (...more: string[]) =>
      command('transfers psbt export', ...own, '--fee-rate', '2', ...more) as Promise<Exported>,
    bump: (id: string) => command('transfers psbt bump', id, '--fee-rate', '20') as Promise<Exported>,
    async import({ psbt }: Exported): Promise<void> {
      const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
      const file = join(directory, 'signed.psbt');
      try {
        await writeFile(file, signWith(account, psbt));
        await command('transfers psbt import', file);
      } finally {
        await rm(directory, { recursive: true });
      }
    },
  };
}

export async function makeCoinTemplates(shop: Shop, node: LitecoinNode): Promise<CoinTemplates> {
  const { server } = shop;
  const { merchantId } = server.bootstrapped;
  await server.database.write((transaction) =>
    server.app.depositKeys.set(
      transaction,
      { merchantId, mode },
      'litecoin',
      { extendedPublicKey: account.publicExtendedKey, script: 'p2wpkh' },
      true,
    ),
  );
  await server.app.depositKeys.refresh();
  const coins = coinsOf(shop, node);
  await coins.scan();
  const payment = await coins.locked();
  await coins.pay([payment]);
  await coins.confirm();
  const transfer = await coins.transfer(small);
  const exported = await coins.export();
  await coins.import(exported);
  await coins.confirm();
  const { state } = await psbtPayouts.rules(server.app).retrieve(exported.id);
  expect(state).toBe('settled');
  return { payment: payment.id, psbt: exported.id, transfer };
}

/** Of forty payments, eight are paid in coins. A PSBT has spent seven of them, and one in twenty PSBTs was discarded. */
export const coinShare = 's.i % 10 in (4, 5)';
const isUnspent = 's.i % 40 = 4';

/** @param paid when the payments were made, by their number */
export async function fillCoins(
  sql: Sql,
  payments: number,
  templates: CoinTemplates,
  paid: { readonly at: string; readonly hash: string },
): Promise<void> {
  const psbts = sql.series(Math.floor(payments / 40));
  const template = (table: string, column: string, id: string) =>
    `${psbts} join ${table} t on t.${column} = '${id}' order by s.i`;
  const id = sql.id('s.i');
  const transferId = sql.id('10000000 + s.i');
  const at = paid.at.replaceAll('s.i', '(s.i * 40)');
  const isDiscarded = 's.i % 20 = 19';
  const isHeld = `case when ${isDiscarded} then 0 else 1 end`;
  await copyOf(sql, 'transfers', template('transfers', 'id', templates.transfer), {
    id: transferId,
    created_at: at,
    updated_at: at,
    tx_hash: `${id} || '${'0'.repeat(37)}d'`,
  });
  await copyOf(sql, 'psbts', template('psbts', 'id', templates.psbt), {
    id,
    created_at: at,
    updated_at: at,
    confirmed_at: at,
    change_index: '100 + s.i',
    state: `case when ${isDiscarded} then 'discarded' else 'settled' end`,
  });
  await copyOf(sql, 'psbt_transfers', template('psbt_transfers', 'psbt_id', templates.psbt), {
    psbt_id: id,
    transfer_id: transferId,
    is_held: isHeld,
  });
  await copyOf(sql, 'psbt_versions', template('psbt_versions', 'psbt_id', templates.psbt), {
    psbt_id: id,
    tx_hash: `${id} || '${'0'.repeat(37)}d'`,
    change_amount: `'500'`,
    created_at: at,
  });
  await copyOf(
    sql,
    'psbt_inputs',
    `${sql.series(Math.floor(payments / 40) * 40)} join psbt_inputs t on t.psbt_id = '${templates.psbt}' and t.position = 0
     where ${coinShare} and not (${isUnspent}) order by s.i`,
    {
      psbt_id: sql.id('s.i / 40'),
      position: 's.i % 40',
      tx_hash: paid.hash,
      is_held: isHeld.replaceAll('s.i', '(s.i / 40)'),
      amount: `'' || (1000 + s.i)`,
      derivation_index: '1000 + s.i',
    },
  );
  // As the server marks the coins that it is paid, and the change of payouts that it settles.
  await sql.run(
    `insert into unspent_coins (mode, network, merchant_id, source_id, tx_hash, output_index, amount, branch, derivation_index)
     select t.mode, t.network, t.merchant_id, p.source_id, ${paid.hash}, t.output_index, 1000 + s.i, 0, 1000 + s.i
     from ${sql.series(payments)} join receipts t on t.payment_id = '${templates.payment}' join psbts p on p.id = '${templates.psbt}'
     where ${coinShare} and (${isUnspent} or ${isDiscarded.replaceAll('s.i', '(s.i / 40)')})`,
  );
  await sql.run(
    `insert into unspent_coins (mode, network, merchant_id, source_id, tx_hash, output_index, amount, branch, derivation_index)
     select p.mode, p.network, p.merchant_id, p.source_id, v.tx_hash, 1, 500, 1, p.change_index
     from psbts p join psbt_versions v on v.psbt_id = p.id where p.state = 'settled' and p.id <> '${templates.psbt}'`,
  );
}

/** Payments in coins, their scans, and payouts of every kind. */
export async function liveWithCoins(
  shop: Shop,
  node: LitecoinNode,
  during: (name: string) => void,
): Promise<void> {
  const coins = coinsOf(shop, node);
  for (const count of [1, 50]) {
    during(`locks of ${count} in coins`);
    const locked: Awaited<ReturnType<typeof coins.locked>>[] = [];
    for (let made = 0; made < count; made += 1) locked.push(await coins.locked());
    await coins.pay(locked);
    during(`pending scan of ${count} in coins`);
    await coins.scan();
    during(`scan of ${count} in coins`);
    await node.mine(1);
    await coins.scan();
    during(`confirming scan of ${count} in coins`);
    await coins.confirm();
  }
  during('transfers in coins');
  for (let made = 0; made < 3; made += 1) await coins.transfer(small);
  during('export of a PSBT');
  const first = await coins.export();
  during('look at PSBTs');
  await shop.command('transfers psbt show', first.id);
  await shop.command('transfers psbt list');
  await shop.command('transfers psbt list', '--merchant', shop.server.bootstrapped.merchantId);
  during('discard of a PSBT');
  await shop.command('transfers psbt discard', first.id);
  during('export after a discarded PSBT');
  const second = await coins.export();
  during('import of a PSBT');
  await coins.import(second);
  during('bump of a PSBT');
  const bumped = await coins.bump(second.id);
  await coins.import(bumped);
  during('PSBT in a block');
  await node.mine(1);
  await coins.scan();
  await psbtPayouts.rules(shop.server.app).follow(signal);
  during('reorganisation with a PSBT');
  await node.reorg(1, 'waiting');
  await coins.scan();
  await psbtPayouts.rules(shop.server.app).follow(signal);
  during('confirmation of a PSBT');
  await coins.confirm();
  const { state } = await psbtPayouts.rules(shop.server.app).retrieve(second.id);
  expect(state).toBe('settled');
  during('figures of PSBTs');
  for (const { read } of psbtPayouts.rules(shop.server.app).figures()) await read();
  // Waits while the commands run.
  await coins.transfer(small);
  await coins.export();
}
