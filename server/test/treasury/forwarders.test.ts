/** Forwarders: this server and the contract derive the same addresses, and a treasury that loses money is refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeFunctionResult, encodeFunctionData, keccak256, toHex, type Hex } from 'viem';
import { createForwarderSource } from '../../src/core/addresses/forwarders.js';
import { sweepData } from '../../src/modules/treasury/factory.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import { deployFactory, factory, native, sweepCall } from '../support/forwarders.js';

const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const scope = { merchantId: 'MERCHANT', mode: 'live' } as const;
const derive = (
  owner: typeof scope | { merchantId: string; mode: 'test' | 'live' },
  index: number,
  to = treasury,
) => createForwarderSource(owner, to).derive(index);

describe('forwarders', () => {
  let anvil: Anvil;
  beforeAll(async () => {
    anvil = await startAnvil();
    await deployFactory(anvil);
  });
  afterAll(() => anvil.stop());

  it('the factory of the forwarders has the committed code at the committed address', async () => {
    expect(await anvil.rpc('eth_getCode', [factory.address, 'latest'])).toBe(factory.code);
    expect(await anvil.rpc('eth_getCode', [factory.implementation, 'latest'])).toBe(
      factory.implementationCode,
    );
  });

  it('1,000 forwarders have the addresses that the contract derives', async () => {
    const source = createForwarderSource(scope, treasury);
    const indexes = Array.from({ length: 1000 }, (_, index) => (index < 900 ? index : 2 ** 32 - index));
    const calls = indexes.map((index) => ({
      jsonrpc: '2.0',
      id: index,
      method: 'eth_call',
      params: [
        {
          to: factory.address,
          data: encodeFunctionData({
            abi: factory.abi,
            functionName: 'addressOf',
            args: [treasury, keccak256(toHex(`crypto-checkout/forwarder/live/MERCHANT/${index}`))],
          }),
        },
        'latest',
      ],
    }));
    const response = await fetch(anvil.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls),
    });
    const answers = (await response.json()) as { result: Hex }[];
    const own = indexes.map((index) => source.derive(index));
    expect(own).toEqual(
      answers.map(({ result }) =>
        decodeFunctionResult({ abi: factory.abi, functionName: 'addressOf', data: result }),
      ),
    );
    expect(new Set(own).size).toBe(1000);
  });

  it('a forwarder shares no address with another merchant, mode, treasury or index', () => {
    const addresses = [
      derive(scope, 0),
      derive(scope, 1),
      derive({ ...scope, mode: 'test' }, 0),
      derive({ ...scope, merchantId: 'OTHER' }, 0),
      derive(scope, 0, '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'),
    ];
    expect(new Set(addresses).size).toBe(addresses.length);
    expect(() => derive(scope, -1)).toThrow('no address');
  });

  it.each([
    ['a text that is no address', 'hunter2', /must be an address/],
    ['an address without a checksum', treasury.toLowerCase(), /no checksum/],
    ['a mistyped address', treasury.replace('C8', 'c8'), /checksum of this address is wrong/],
    ['the zero address', native, /Nobody can spend/],
    ['a burn address', '0x000000000000000000000000000000000000dEaD', /Nobody can spend/],
    ['a precompiled contract', `0x${'0'.repeat(39)}4`, /Nobody can spend/],
    ['the factory', factory.address, /contract of the forwarders/],
    ['the contract that they delegate to', factory.implementation, /contract of the forwarders/],
    ['the deployment proxy', factory.deployer, /contract of the forwarders/],
    ['a token', '0xdAC17F958D2ee523a2206206994597C13D831ec7', /contract of USDT on Ethereum/],
  ])('forwarders cannot pay to %s', (_, given, reason) => {
    expect(() => createForwarderSource(scope, given)).toThrow(reason);
  });

  it('forwarders are swept by the same call that viem encodes', () => {
    const salts = [1, 2, 3].map((n) => keccak256(toHex(n)));
    const batches = [
      { treasury, token: native, salts },
      { treasury, token: factory.address, salts: salts.slice(1) },
      { treasury: factory.deployer, token: native, salts: [] },
    ] as const;
    expect(sweepData(batches)).toBe(sweepCall(batches));
  });
});
