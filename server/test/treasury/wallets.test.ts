/** `ledger check --chain` for extended keys on an EVM network: the merchant's own wallet spends when it likes. */
import { randomBytes } from 'node:crypto';
import { HDKey } from '@scure/bip32';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerCheck } from '../../src/core/audit/check-report.js';
import { enginesOfQuick } from '../support/engines.js';
import { transact } from '../support/forwarders.js';
import { openTreasury, type TreasuryFixture } from './treasury-fixture.js';

describe.each(enginesOfQuick)('a wallet and the books on $name', (engine) => {
  let fixture: TreasuryFixture;
  beforeAll(async () => {
    fixture = await openTreasury(engine);
    const { server, merchantId } = fixture;
    const { depositKeys } = server.app;
    await server.database.write((transaction) =>
      depositKeys.set(transaction, { merchantId, mode: 'test' }, 'evm', {
        extendedPublicKey: HDKey.fromMasterSeed(randomBytes(32)).derive("m/44'/60'/0'").publicExtendedKey,
        script: undefined,
      }),
    );
    await depositKeys.refresh();
    await fixture.scan();
  });
  afterAll(() => fixture.stop());

  async function notes(): Promise<string[]> {
    const checks = await fixture.command<LedgerCheck[]>('ledger check --chain');
    expect(checks.flatMap(({ violations }) => violations)).toEqual([]);
    return checks.flatMap((check) => check.notes ?? []);
  }

  it('The books and the wallet are the same until the wallet moves coins on its own, which is reported', async () => {
    const [ether, usdt] = [await fixture.pay('ETH'), await fixture.pay('USDT')];
    const text = (units: bigint, decimals: number) => String(Number(units) / 10 ** decimals);
    const held = `The addresses of ${fixture.merchantId} hold`;
    expect(await notes()).toEqual([
      `${held} ${text(ether.amount, 18)} ETH, as the books say`,
      `${held} ${text(usdt.amount, 6)} USDT, as the books say`,
    ]);
    const elsewhere = '14dC79964da2C08b23698B3D3cc7Ca32193d9955';
    const call = `0xa9059cbb${elsewhere.padStart(64, '0')}${1_000_000n.toString(16).padStart(64, '0')}`;
    await fixture.anvil.rpc('anvil_impersonateAccount', [usdt.address]);
    await fixture.anvil.rpc('anvil_setBalance', [usdt.address, '0xde0b6b3a7640000']);
    await transact(fixture.anvil, fixture.token, call, usdt.address);
    expect((await notes())[1]).toMatch(
      new RegExp(`^${held} ${text(usdt.amount - 1_000_000n, 6)} USDT, the books say ${text(usdt.amount, 6)}`),
    );
  });
});
