/**
 * Payments on Tron through the whole server, on both engines. No Tron node can be run in a test: the node is a stand-in, anvil
 * that answers no more than java-tron documents. https://developers.tron.network/reference/json-rpc-api-overview
 */
import { reconciliation as reconciliationModule } from '../../../src/modules/reconciliation/module.js';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Hex } from 'viem';
import { toEvmAddress, toTronAddress } from '../../../src/modules/networks/tron/tron-dialect.js';
import { anvilChainId, startAnvil, type Anvil } from '../../support/anvil.js';
import { enginesOfQuick } from '../../support/engines.js';
import { startRealServer, type RealServer } from '../../support/real-money.js';

const { signal } = new AbortController();
const network = 'tron-nile';
const confirmations = 3;

interface Call {
  readonly id?: number;
  readonly method?: string;
  readonly params?: readonly unknown[];
  /** A transaction's id, in the HTTP API. */
  readonly value?: string;
}

/** Methods that java-tron's JSON-RPC does not have at all. */
const missing =
  /^eth_(getTransactionCount|sendRawTransaction|maxPriorityFeePerGas|feeHistory)$|^(debug|trace)_/;
/** Methods that it answers only for the newest block. */
const newestOnly = /^eth_(call|getBalance|getCode|getStorageAt)$/;

async function answerRpc(anvil: Anvil, { method = '', params = [] }: Call): Promise<unknown> {
  const [first, second] = params;
  if (missing.test(method)) throw new Error(`the method ${method} does not exist/is not available`);
  if (method === 'eth_getBlockByNumber' && first === 'pending') throw new Error('TAG pending not supported');
  if (newestOnly.test(method) && second !== 'latest') {
    throw new Error('QUANTITY not supported, just support TAG as latest');
  }
  if (method === 'eth_call' && (first as { to?: string }).to === undefined) {
    throw new Error('invalid contract address');
  }
  return anvil.rpc(method, params);
}

/** It does not keep internal transactions, so that only the balance shows what contracts send. */
async function answerHttp(anvil: Anvil, path: string, id = ''): Promise<unknown> {
  if (path !== '/wallet/gettransactionbyid') return undefined;
  const found = await anvil.rpc<{ from: string; to: string; value: string } | null>(
    'eth_getTransactionByHash',
    [`0x${id}`],
  );
  if (!found) return {};
  const value = {
    amount: Number(found.value),
    owner_address: `41${found.from.slice(2)}`,
    to_address: `41${found.to.slice(2)}`,
  };
  const contract = [{ type: 'TransferContract', parameter: { value } }];
  return { txID: id, ret: [{ contractRet: 'SUCCESS' }], raw_data: { contract } };
}

async function startStandIn(anvil: Anvil): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Call | readonly Call[];
      const path = new URL(request.url ?? '', 'http://node').pathname;
      const answerOne = (call: Call) =>
        answerRpc(anvil, call).then(
          (result) => ({ jsonrpc: '2.0', id: call.id, result }),
          (error: unknown) => ({
            jsonrpc: '2.0',
            id: call.id,
            error: { code: -32602, message: String(error) },
          }),
        );
      const answer = async () => {
        if (path !== '/jsonrpc') return answerHttp(anvil, path, (body as Call).value);
        return Array.isArray(body) ? Promise.all(body.map(answerOne)) : answerOne(body as Call);
      };
      answer().then(
        (result) => {
          response.statusCode = result === undefined ? 404 : 200;
          response.end(JSON.stringify(result ?? {}));
        },
        () => response.destroy(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

describe.each(enginesOfQuick)('payments on a stand-in of Tron, on $name', (engine) => {
  let anvil: Anvil;
  let node: Awaited<ReturnType<typeof startStandIn>>;
  let token: Hex;
  let splitter: Hex;
  let server: RealServer;

  beforeAll(async () => {
    anvil = await startAnvil();
    token = await anvil.deploy('SilentToken');
    splitter = await anvil.deploy('Splitter');
    await anvil.mine(5);
    node = await startStandIn(anvil);
    const assets = { USDT: { contract: toTronAddress(token), decimals: 6 } };
    server = await startRealServer({
      engine,
      networks: { [network]: { nodes: [node.url], chainId: anvilChainId, confirmations, assets } },
    });
  });
  afterAll(async () => {
    await server.stop();
    node.server.closeAllConnections();
    node.server.close();
    await anvil.stop();
  });

  const evmOf = (address: string) => (toEvmAddress(address) ?? '') as Hex;
  async function settle(): Promise<void> {
    await anvil.mine(confirmations);
    await server.scan(network);
  }

  it('Payments by wallets are credited once, in TRX and in USDT, each under its own address', async () => {
    const [trx, usdt] = [await server.lock('TRX', network), await server.lock('USDT', network)];
    expect(trx.address).toMatch(/^T/);
    await anvil.send(evmOf(trx.address), trx.amount);
    await anvil.call('SilentToken', token, 'transfer', [evmOf(usdt.address), usdt.amount]);
    await settle();
    for (const payment of [trx, usdt]) {
      const outcome = await server.look(payment);
      expect(outcome).toMatchObject({ state: 'settled', received: payment.amount });
      expect(outcome.receipts).toHaveLength(1);
    }
    await server.expectBooksInOrder();
  });

  it('Payments by a contract are found by the newest balance, and those found in blocks are not found again', async () => {
    const payment = await server.lock('TRX', network);
    await anvil.call('Splitter', splitter, 'pay', [[evmOf(payment.address)]], payment.amount);
    await vi.waitFor(
      async () => {
        await settle();
        await reconciliationModule.rules(server.app).advance(signal);
        expect((await server.look(payment)).state).toBe('settled');
      },
      { timeout: 15_000, interval: 20 },
    );
    const outcome = await server.look(payment);
    expect(outcome).toMatchObject({ received: payment.amount, events: ['payment.success'] });
    expect(await reconciliationModule.rules(server.app).differences()).toEqual([]);
    await server.expectBooksInOrder();
  });
});
