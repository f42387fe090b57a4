/** kill -9 while the command line exports or imports a PSBT: nothing stays reserved for nothing, and nothing is paid twice. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNodeProxy, type NodeProxy } from '../support/core-proxy.js';
import { enginesOfSoak } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { network, openPayoutShop, type PayoutShop } from './fixture.js';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

describe.skipIf(!hasLitecoind).each(enginesOfSoak)('kill -9 around a PSBT, on $name', (engine) => {
  let node: LitecoinNode;
  let proxy: NodeProxy;
  let shop: PayoutShop;
  let networksFile: string;

  beforeAll(async () => {
    node = await startLitecoin();
    proxy = await startNodeProxy(node.url);
    shop = await openPayoutShop(engine, node);
    networksFile = shop.path('through-the-proxy.json');
    await writeFile(networksFile, JSON.stringify({ networks: { [network]: { nodes: [proxy.url] } } }));
  });
  afterAll(async () => {
    await shop.close();
    await proxy.close();
    await node.stop();
  });

  /** Runs a command in a process of its own, and kills it when it calls a method of the node, before that is answered. */
  async function killAt(
    method: string,
    args: readonly string[],
    atCall: (params: readonly unknown[]) => Promise<unknown>,
  ): Promise<void> {
    const child = spawn(process.execPath, [cli, ...args], {
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: shop.server.databaseUrl,
        NETWORKS_FILE: networksFile,
      },
      stdio: 'ignore',
    });
    const exited = once(child, 'exit');
    const called = new Promise<readonly unknown[]>((resolve, reject) => {
      proxy.behave = (calls) => {
        const call = calls.find((one) => one.method === method);
        if (!call) return undefined;
        resolve(call.params);
        return 'stall';
      };
      child.once('exit', (code) =>
        reject(new Error(`The command ended with ${String(code)} before it called ${method}`)),
      );
    });
    await atCall(await called);
    child.kill('SIGKILL');
    expect(await exited).toEqual([null, 'SIGKILL']);
    proxy.behave = undefined;
  }

  it.each([
    ['before the node has the transaction', () => Promise.resolve()],
    [
      'after the node took it, before it could say so',
      ([raw]: readonly unknown[]) => node.rpc('sendrawtransaction', raw, 0),
    ],
  ] as const)('between store and broadcast, %s: paid once', async (_, atCall) => {
    const merchant = await shop.merchant();
    await merchant.fund('0.5');
    const rows = await merchant.transfers('0.1', '0.05');
    const exported = await merchant.export();
    const file = shop.path(`${exported.id}.psbt`);
    await writeFile(file, merchant.sign(exported.psbt));
    await killAt('sendrawtransaction', ['transfers', 'psbt', 'import', file], atCall);
    expect(await shop.show(exported.id)).toMatchObject({ state: 'sent' });
    expect(await shop.statuses(rows)).toEqual(['processing', 'processing']);
    await shop.follow();
    const txHash = exported.versions[0]?.txHash ?? '';
    expect(await node.rpc<string[]>('getrawmempool')).toContain(txHash);
    // An operator who does not know imports it once more.
    expect(await shop.import(merchant.sign(exported.psbt))).toMatchObject({ isBroadcast: true });
    await shop.confirm();
    expect(await shop.statuses(rows)).toEqual(['success', 'success']);
    for (const { address, amount } of rows) {
      const received = await node.rpc<number>('getreceivedbyaddress', address);
      expect(Math.round(received * 1e8)).toBe(Number(amount));
    }
    await shop.expectBooksInOrder();
  });

  it('between store and broadcast of a bumped one: the higher fee wins', async () => {
    const merchant = await shop.merchant();
    await merchant.fund('0.5');
    const rows = await merchant.transfers('0.1');
    const exported = await merchant.export();
    await shop.import(merchant.sign(exported.psbt));
    const bumped = await shop.bump(exported.id, '9');
    const file = shop.path(`${exported.id}-2.psbt`);
    await writeFile(file, Buffer.from(merchant.sign(bumped.psbt), 'base64'));
    await killAt('sendrawtransaction', ['transfers', 'psbt', 'import', file], () => Promise.resolve());
    await shop.follow();
    const txHash = bumped.versions[1]?.txHash ?? '';
    expect(await node.rpc<string[]>('getrawmempool')).toContain(txHash);
    await shop.confirm();
    expect((await shop.transfer(rows[0]?.id ?? '')).tx_hash).toBe(txHash);
    await shop.expectBooksInOrder();
  });

  it('A kill during an export leaves nothing reserved', async () => {
    const merchant = await shop.merchant();
    await merchant.fund('0.5');
    const rows = await merchant.transfers('0.1');
    await killAt(
      'getrawtransaction',
      [
        ...['transfers', 'psbt', 'export', '--merchant', merchant.id],
        ...['--network', network, '--mode', 'test', '--fee-rate', '2'],
      ],
      () => Promise.resolve(),
    );
    const exported = await merchant.export();
    expect(exported.transfers.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    expect(exported.changePath).toBe('1/0');
  });

  it('The real program exports for a pipe, and imports from it', async () => {
    const merchant = await shop.merchant();
    await merchant.fund('0.5');
    await merchant.transfers('0.1');
    const run = async (args: readonly string[], input = '') => {
      const child = spawn(process.execPath, [cli, 'transfers', 'psbt', ...args], {
        env: {
          PATH: process.env['PATH'],
          DATABASE_URL: shop.server.databaseUrl,
          NETWORKS_FILE: networksFile,
        },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      const output = { stdout: '', stderr: '' };
      child.stdout.on('data', (chunk) => (output.stdout += String(chunk)));
      child.stderr.on('data', (chunk) => (output.stderr += String(chunk)));
      child.stdin.end(input);
      const [code] = (await once(child, 'close')) as [number];
      return { code, ...output };
    };
    const exported = await run([
      ...['export', '--merchant', merchant.id, '--network', network],
      ...['--mode', 'test', '--fee-rate', '2'],
    ]);
    expect(exported.code).toBe(0);
    expect(exported.stderr).toMatch(/pays +0.1 LTC to rltc1/);
    expect(exported.stdout).toMatch(/^cHNidP\S+\n$/);
    const refused = await run(['import', '-'], exported.stdout);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Only 0 of 1 inputs are signed');
    const imported = await run(['import', '-'], merchant.sign(exported.stdout.trim()));
    expect(imported.code).toBe(0);
    expect(imported.stdout).toMatch(/^Broadcast as [0-9a-f]{64}\./);
    const help = await run(['--help']);
    expect(help.stdout + help.stderr).toContain('transfers psbt export');
  });
});
