/** A merchant with a treasury, through the whole server: offered only when it is safe, paid, planned and swept. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandContext, runWith } from '../support/command-context.js';
import { enginesOfTurn } from '../support/engines.js';
import { factory, transact } from '../support/forwarders.js';
import { startServer } from '../support/server.js';
import { evmNetworks } from '../../src/modules/treasury/context.js';
import { openTreasury, treasury, type TreasuryFixture } from './treasury-fixture.js';
import { treasury as treasuryModule } from '../../src/modules/treasury/module.js';

const signal = new AbortController().signal;

interface Plan {
  readonly items: readonly {
    address: string;
    currency: string;
    amount: string;
    skipped: string | null;
    worth: string;
    cost: string;
  }[];
}
interface Exported {
  readonly transactions: readonly { to: string; data: string }[];
}

describe.each(enginesOfTurn)('a treasury on $name', (engine) => {
  let fixture: TreasuryFixture;

  beforeAll(async () => {
    fixture = await openTreasury(engine, { isDeployed: false });
  });
  afterAll(() => fixture.stop());

  const offers = async () => {
    const { currencyOptions = [] } = await fixture.merchant.create();
    return currencyOptions.some(({ network }) => network === 'evm-dev');
  };
  const ready = async () => {
    const response = await fetch(`${fixture.server.url}/readyz`);
    const { message } = (await response.json()) as { message: string };
    return { status: response.status, message };
  };
  const plan = async () => (await fixture.command<Plan[]>('sweeps plan'))[0]?.items ?? [];
  const check = () =>
    runWith(commandContext(fixture.server), 'networks check --merchant', fixture.merchantId);

  it('A network is not offered before the factory is deployed, and the operator learns what to do', async () => {
    await fixture.setTreasury();
    expect(await offers()).toBe(false);
    await expect.poll(ready, { timeout: 15_000 }).toMatchObject({
      status: 200,
      message: expect.stringMatching(
        /evm-dev \(test\) is not offered to merchants with a treasury: .*sweeps deploy/,
      ) as string,
    });
    const { text } = await check();
    expect(text).toMatch(/PROBLEM +evm-dev: Not offered: the forwarder factory is not deployed/);
    expect(text).toContain('10 USD would be  payable in nothing: there is a problem, see above');
  });

  it('A network is not offered if other code is at the address of the factory', async () => {
    await fixture.anvil.rpc('anvil_setCode', [factory.address, '0x6001']);
    const { depositKeys } = fixture.server.app;
    const treasury = treasuryModule.rules(fixture.server.app);
    const fresh = await import('../../src/modules/treasury/forwarder-checks.js');
    const checks = fresh.createForwarderChecks({
      networks: evmNetworks(fixture.server.app.connected),
      depositKeys,
      log: { warn: () => {}, info: () => {} },
    });
    await checks.refresh(signal);
    expect(checks.problems()[0]?.problem).toMatch(/is not that of the forwarder factory/);
    await fixture.anvil.rpc('anvil_setCode', [factory.address, '0x']);
    expect(treasury.forwarderChecks.problems()).toHaveLength(1);
  });

  it('A network is offered once the printed transaction was sent', async () => {
    const printed = await fixture.command<{ isDeployed: boolean; transaction: { to: string; data: string } }>(
      'sweeps deploy --network evm-dev',
    );
    expect(printed.isDeployed).toBe(false);
    await transact(fixture.anvil, printed.transaction.to, printed.transaction.data);
    await expect.poll(offers, { timeout: 15_000, interval: 200 }).toBe(true);
    await expect.poll(ready, { timeout: 15_000 }).toMatchObject({ message: 'Ready' });
    expect((await check()).text).toContain('The forwarder factory is there, and derives the same addresses');
    expect(await fixture.command('sweeps deploy --network evm-dev')).toMatchObject({
      isDeployed: true,
    });
  });

  it('A treasury that is a contract on another network is offered only where it exists', async () => {
    const { findForwarderProblem } = await import('../../src/modules/treasury/forwarder-checks.js');
    const [here] = evmNetworks(fixture.server.app.connected);
    const [forwarders] = fixture.server.app.depositKeys.forwarders();
    if (!here || !forwarders) throw new Error('There is no network or treasury');
    const elsewhere = {
      ...here,
      evm: { ...here.evm, run: () => Promise.resolve('0x6001') as Promise<never> },
    };
    expect(await findForwarderProblem(here, forwarders, [elsewhere], signal)).toMatch(
      /is a contract on .* but not on/,
    );
    expect(await findForwarderProblem(here, forwarders, [], signal)).toBeUndefined();
  });

  it('A treasury gets the paid amounts when anybody sends the exported transactions', async () => {
    const paid = [await fixture.pay('ETH'), await fixture.pay('USDT')];
    expect((await plan()).map(({ address, currency, skipped }) => [address, currency, skipped])).toEqual(
      paid.map(({ address }, index) => [address, index === 0 ? 'ETH' : 'USDT', null]),
    );
    const exported = await fixture.command<Exported>('sweeps export --network evm-dev --format json');
    const before = [await fixture.balance('ETH', treasury), await fixture.balance('USDT', treasury)];
    for (const { to, data } of exported.transactions) {
      await transact(fixture.anvil, to, data, '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc');
    }
    expect((await fixture.balance('ETH', treasury)) - (before[0] ?? 0n)).toBe(paid[0]?.amount);
    expect((await fixture.balance('USDT', treasury)) - (before[1] ?? 0n)).toBe(paid[1]?.amount);
    expect(await plan()).toEqual([]);
    await fixture.booksInOrder();
  });

  it('A plan of sweeps leaves addresses with too little or with a waiting payment', async () => {
    const open = await fixture.lock('ETH');
    await fixture.sendTo(open.address, 'ETH', open.amount / 2n);
    const dust = await fixture.pay('ETH');
    await fixture.scan();
    await transact(
      fixture.anvil,
      factory.address,
      (await fixture.command<Exported>('sweeps export --network evm-dev --format json')).transactions[0]
        ?.data ?? '',
    );
    await fixture.sendTo(dust.address, 'ETH', 1000n);
    const all = await fixture.command<Plan[]>('sweeps plan --all');
    const left = new Map(all[0]?.items.map(({ address, skipped }) => [address, skipped]));
    expect([left.get(open.address), left.get(dust.address)]).toEqual(['open', 'small']);
  });

  it('A sweep is exported for a Safe, and all addresses with their salts', async () => {
    await fixture.pay('USDT');
    const safe = await fixture.command<{ chainId: string; transactions: { to: string; value: string }[] }>(
      'sweeps export --network evm-dev --format safe',
    );
    expect(safe).toMatchObject({
      version: '1.0',
      chainId: '31337',
      transactions: [{ to: factory.address, value: '0' }],
    });
    const { addresses } = await fixture.command<{ addresses: { index: number; salt: string }[] }>(
      `addresses export --merchant ${fixture.merchantId} --format json`,
    );
    expect(addresses.length).toBeGreaterThan(3);
    for (const { salt } of addresses) expect(salt).toMatch(/^0x[0-9a-f]{64}$/);
  });

  it('A treasury is refused if it is an address of this server', async () => {
    const { address } = await fixture.lock('USDT');
    await expect(fixture.setTreasury(address)).rejects.toThrow('deposit address of this server');
  });

  it('A treasury can be changed and restored without an address ever being used again', async () => {
    const first = await fixture.lock('USDT');
    await fixture.setTreasury('0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC');
    const second = await fixture.lock('USDT');
    await fixture.setTreasury();
    const third = await fixture.lock('USDT');
    expect(new Set([first.address, second.address, third.address]).size).toBe(3);
  });

  // The last, because it takes over the scan. Two servers in one process cannot share a SQLite file.
  if (engine.name === 'PostgreSQL') {
    it('A network is offered from the first request of another server on', async () => {
      const { server, networksFile } = fixture;
      const second = await startServer({
        engine,
        databaseUrl: server.databaseUrl,
        env: { NETWORKS_FILE: networksFile },
      });
      try {
        expect(treasuryModule.rules(second.app).forwarderChecks.problems()).toEqual([]);
      } finally {
        await second.stop();
      }
    });
  }
});
