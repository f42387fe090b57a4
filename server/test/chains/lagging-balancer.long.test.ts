/** Nodes behind balancers, one of whose backends is three blocks behind: what both have is read, and nothing of it is lost. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Hex } from 'viem';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { sqlite } from '../support/engines.js';
import { startLaggingBalancer, type LaggingBalancer } from '../support/lagging-balancer.js';
import { startRealServer, type RealServer } from '../support/real-money.js';

const network = 'evm-dev';
const lag = 3;
const confirmations = 2;

let anvil: Anvil;
let balancers: LaggingBalancer[];
let token: Hex;
let server: RealServer;

beforeAll(async () => {
  anvil = await startAnvil();
  token = await anvil.deploy('PlainToken', [6]);
  await anvil.mine(5);
  balancers = await Promise.all([1, 2].map(() => startLaggingBalancer(anvil.url, lag)));
  const nodes = balancers.map(({ url }) => url);
  const assets = { USDC: { contract: token, decimals: 6 } };
  server = await startRealServer({
    engine: sqlite,
    networks: { [network]: { nodes, confirmations, assets, crossCheckAbove: '1 USD' } },
  });
});
afterAll(async () => {
  await server.stop();
  await Promise.all(balancers.map((balancer) => balancer.close()));
  await anvil.stop();
});

const heightOf = (status = server.app.scanner.status()) =>
  status.find((one) => one.network === network)?.height ?? 0;

it(
  'The scan keeps up with the blocks that all backends have, and credits each payment once',
  { timeout: 180_000 },
  async () => {
    const payment = await server.lock('USDC', network);
    await anvil.call('PlainToken', token, 'transfer', [payment.address, payment.amount]);
    let furthest = 0;
    for (let block = 0; block < 40; block += 1) {
      await anvil.mine(block % 4 === 0 ? 5 : 1);
      await server.scan(network).catch(() => {});
      const head = Number(await anvil.rpc('eth_blockNumber'));
      if (block > 3) furthest = Math.max(furthest, head - heightOf());
    }
    expect(furthest).toBeLessThanOrEqual(lag + 5);
    const outcome = await server.look(payment);
    expect(outcome).toMatchObject({ state: 'settled', received: payment.amount });
    expect(outcome.receipts).toHaveLength(1);
    await server.expectBooksInOrder();
  },
);
