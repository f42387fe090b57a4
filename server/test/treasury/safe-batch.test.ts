/** The batch file for Safe's transaction builder, which warns of a file whose checksum is not its own. */
import { expect, it } from 'vitest';
import { safeBatch, safeChecksum } from '../../src/modules/treasury/safe-batch.js';

it("a published file of Safe's own has the checksum that we compute", () => {
  // https://github.com/safe-global/safe-react-apps, cypress/fixtures/test-working-batch.json
  const to = '0x51A099ac1BF46D471110AA8974024Bfe518Fd6C4';
  const call = (name: string, type: string, newValue: string) => ({
    to,
    value: '0',
    data: null,
    contractMethod: { inputs: [{ internalType: type, name: 'newValue', type }], name, payable: false },
    contractInputsValues: { newValue },
  });
  const batch = {
    version: '1.0',
    chainId: '5',
    createdAt: 1671532788473,
    meta: {
      name: 'Transactions Batch',
      description: '',
      txBuilderVersion: '1.13.1',
      createdFromSafeAddress: '0xE96C43C54B08eC528e9e815fC3D02Ea94A320505',
      createdFromOwnerAddress: '',
    },
    transactions: [call('testBooleanValue', 'bool', 'true'), call('testAddressValue', 'address', to)],
  };
  const checksum = '0x783b24b06f925df195ac0e0103507caf6520cff278555c11e9b8edb43bc2a196';
  expect(safeChecksum(batch)).toBe(checksum);
  expect(safeChecksum({ ...batch, chainId: '1' })).not.toBe(checksum);
});

it('the file that we write has the checksum of its content when it is read back', () => {
  const batch = safeBatch('Payouts', 137, [{ to: '0x01', data: '0x', value: 5n }], 1);
  const read = JSON.parse(JSON.stringify(batch)) as typeof batch;
  const { checksum, ...meta } = read.meta;
  expect(checksum).toBe(safeChecksum({ ...read, meta }));
});
