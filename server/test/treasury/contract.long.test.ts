/** The contracts on a real node: whatever anybody calls, money at a forwarder goes to its treasury, and to nobody else. */
import { randomBytes, randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeFunctionData, getAddress, toHex, type Hex } from 'viem';
import { createForwarderSource } from '../../src/core/addresses/forwarders.js';
import { startAnvil, type Anvil } from '../support/anvil.js';
import {
  deployFactory,
  factory,
  native,
  sweepCall,
  transact,
  type Batch,
  type Receipt,
} from '../support/forwarders.js';
import { roundsOf, startRound } from '../support/rounds.js';

const sequences = roundsOf({ usual: 40, soak: 400 });

const stranger = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const treasuries: readonly Hex[] = [
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
];

/** The forwarders of one merchant. */
function forwardersOf(merchantId: string, treasury: Hex) {
  const { forwarder, derive } = createForwarderSource({ merchantId, mode: 'live' }, getAddress(treasury));
  return {
    treasury,
    salt: (index: number) => (forwarder?.salt(index) ?? '0x') as Hex,
    address: (index: number) => derive(index) as Hex,
  };
}

/** A token can return false, or nothing, without a transfer. */
const hasPaid = (receipt: Receipt | undefined, asset: number) =>
  receipt?.status === '0x1' && (asset === 0 || receipt.logs.length > 0);

describe('the forwarder contracts', () => {
  let anvil: Anvil;
  let tokens: Hex[];
  let hostile: Hex;

  beforeAll(async () => {
    anvil = await startAnvil();
    await deployFactory(anvil);
    tokens = [
      await anvil.deploy('PlainToken', [18]),
      await anvil.deploy('SilentToken'),
      await anvil.deploy('FeeToken'),
    ];
    hostile = await anvil.deploy('HostileToken');
  });
  afterAll(() => anvil.stop());

  async function batch<T>(
    calls: readonly { method: string; params: readonly unknown[] }[],
    on = anvil,
  ): Promise<T[]> {
    const response = await fetch(on.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))),
    });
    const answers = (await response.json()) as { id: number; result: T }[];
    return answers.sort((a, b) => a.id - b.id).map(({ result }) => result);
  }

  const balanceCall = (token: Hex, owner: string) =>
    token === native
      ? { method: 'eth_getBalance', params: [owner, 'latest'] }
      : {
          method: 'eth_call',
          params: [
            { to: token, data: `0x70a08231${owner.slice(2).toLowerCase().padStart(64, '0')}` },
            'latest',
          ],
        };
  const balancesOf = async (token: Hex, owners: readonly string[], on = anvil) =>
    (
      await batch<Hex>(
        owners.map((owner) => balanceCall(token, owner)),
        on,
      )
    ).map(BigInt);
  const balanceOf = async (token: Hex, owner: string, on = anvil) =>
    (await balancesOf(token, [owner], on))[0] ?? -1n;
  const codeAt = (address: string) => anvil.rpc<Hex>('eth_getCode', [address, 'latest']);
  const transferData = (to: string, amount: bigint) =>
    encodeFunctionData({
      abi: [
        {
          type: 'function',
          name: 'transfer',
          inputs: [{ type: 'address' }, { type: 'uint256' }],
          outputs: [],
          stateMutability: 'nonpayable',
        },
      ],
      args: [to as Hex, amount],
    });
  const payForwarder = (token: Hex, to: string, amount: bigint, on = anvil): Promise<Receipt> =>
    token === native
      ? transact(on, to, '0x', on.sender, amount)
      : transact(on, token, transferData(to, amount));
  const sweep = (batches: readonly Batch[], from = stranger, on = anvil) =>
    transact(on, factory.address, sweepCall(batches), from);

  it('the contracts bring all money of 200 forwarders of two merchants to the right treasury when a stranger sweeps', async () => {
    const merchants = treasuries.map((treasury, index) => forwardersOf(`merchant-${index}`, treasury));
    const assets = [native, ...tokens];
    const before = await Promise.all(
      merchants.map(({ treasury }) => Promise.all(assets.map((token) => balanceOf(token, treasury)))),
    );
    const sums = merchants.map(() => assets.map(() => 0n));
    const first = Number(await anvil.rpc<Hex>('eth_getTransactionCount', [anvil.sender, 'latest']));
    await anvil.automine(false);
    const paid: { method: string; params: readonly unknown[] }[] = [];
    for (const [position, { address }] of merchants.entries()) {
      for (let index = 0; index < 100; index += 1) {
        const asset = index % assets.length;
        const amount = BigInt(randomInt(1_000_000, 2 ** 40));
        const token = assets[asset] ?? native;
        // The one with a fee arrives with a hundredth less, and gets there with a hundredth less again.
        const arrives = asset === 3 ? amount - amount / 100n : amount;
        const swept = asset === 3 ? arrives - arrives / 100n : arrives;
        const sum = sums[position];
        if (sum) sum[asset] = (sum[asset] ?? 0n) + swept;
        const nonce = toHex(first + paid.length);
        paid.push({
          method: 'eth_sendTransaction',
          params: [
            token === native
              ? { from: anvil.sender, to: address(index), value: toHex(amount), gas: '0x5208', nonce }
              : {
                  from: anvil.sender,
                  to: token,
                  data: transferData(address(index), amount),
                  gas: '0x186a0',
                  nonce,
                },
          ],
        });
      }
    }
    await batch(paid);
    await anvil.mine(3);
    await anvil.automine(true);

    const receipt = await sweep(
      merchants.flatMap(({ treasury, salt }) =>
        assets.map((token, asset) => ({
          treasury,
          token,
          salts: Array.from({ length: 100 }, (_, index) => index)
            .filter((index) => index % assets.length === asset)
            .map(salt),
        })),
      ),
    );
    expect(receipt.status).toBe('0x1');
    for (const [position, { treasury, address }] of merchants.entries()) {
      for (const [asset, token] of assets.entries()) {
        expect((await balanceOf(token, treasury)) - (before[position]?.[asset] ?? 0n)).toBe(
          sums[position]?.[asset],
        );
        const left = await balancesOf(
          token,
          Array.from({ length: 100 }, (_, index) => address(index)),
        );
        expect(left.every((balance) => balance === 0n)).toBe(true);
      }
    }
  });

  it('the contracts sweep a late payment too, in ether and in tokens', async () => {
    const { treasury, salt, address } = forwardersOf('late', treasuries[0] ?? native);
    const [token = native] = tokens;
    for (const asset of [native, token]) {
      for (const amount of [5n, 7n]) {
        const before = await balanceOf(asset, treasury);
        expect((await payForwarder(asset, address(0), amount)).status).toBe('0x1');
        await sweep([{ treasury, token: asset, salts: [salt(0)] }]);
        expect((await balanceOf(asset, treasury)) - before).toBe(amount);
      }
    }
  });

  it('the contracts deploy nothing at an address without money', async () => {
    const { treasury, salt, address } = forwardersOf('empty', treasuries[0] ?? native);
    const [token = native] = tokens;
    const { logs } = await sweep(
      [native, token].map((asset) => ({ treasury, token: asset, salts: [salt(0)] })),
    );
    expect(logs).toEqual([]);
    expect(await codeAt(address(0))).toBe('0x');
    await payForwarder(native, address(0), 1n);
    await sweep([{ treasury, token: native, salts: [salt(0)] }]);
    expect(await codeAt(address(0))).not.toBe('0x');
    // Once deployed, a transaction with gas for only a plain transfer fails, and the payer keeps the money.
    const before = await balanceOf(native, address(0));
    const failed = anvil.rpc('eth_sendTransaction', [
      { from: anvil.sender, to: address(0), value: '0x1', gas: '0x5208' },
    ]);
    await failed.catch(() => undefined);
    expect(await balanceOf(native, address(0))).toBe(before);
    expect((await payForwarder(native, address(0), 1n)).status).toBe('0x1');
  });

  it.each([
    ['takes it', 0, 1n],
    ['refuses ether', 1, 0n],
    ['burns all gas', 2, 0n],
    ['calls back', 3, 1n],
  ] as const)(
    'the contracts leave no other treasury stuck if one is a contract that %s',
    async (_, behaviour, expected) => {
      const treasury = await anvil.deploy('Treasury', [behaviour, factory.address]);
      const odd = forwardersOf(`treasury-${behaviour}`, treasury);
      const other = forwardersOf(`beside-${behaviour}`, treasuries[1] ?? native);
      const [token = native] = tokens;
      const salts = [0, 1].map(odd.salt);
      if (behaviour === 3) await anvil.call('Treasury', treasury, 'reenterWith', [token, salts]);
      for (const index of [0, 1])
        for (const asset of [native, token]) await payForwarder(asset, odd.address(index), 11n);
      await payForwarder(native, other.address(0), 13n);
      const before = await balanceOf(native, other.treasury);
      const { status, logs } = await sweep([
        { treasury, token: native, salts },
        { treasury, token, salts },
        { treasury: other.treasury, token: native, salts: [other.salt(0)] },
      ]);
      expect(status).toBe('0x1');
      expect((await balanceOf(native, other.treasury)) - before).toBe(13n);
      expect(await balanceOf(token, treasury)).toBe(22n);
      expect(await balanceOf(native, treasury)).toBe(22n * expected);
      // Coins that it does not take stay where they are.
      expect(await balancesOf(native, [0, 1].map(odd.address))).toEqual(
        [0, 1].map(() => 11n * (1n - expected)),
      );
      const refused = logs.filter(
        ({ address, data }) => address === factory.address.toLowerCase() && data === '0x',
      );
      expect(refused).toHaveLength(expected === 1n ? 0 : 2);
    },
  );

  it.each([
    ['reverts', 1],
    ['burns all gas', 2],
    ['returns false', 3],
  ])('the contracts leave no other asset stuck if a token %s', async (_, behaviour) => {
    const { treasury, salt, address } = forwardersOf(`token-${behaviour}`, treasuries[0] ?? native);
    await anvil.call('HostileToken', hostile, 'behave', [0, factory.address, treasury, []]);
    await payForwarder(hostile, address(0), 5n);
    await payForwarder(native, address(1), 6n);
    await anvil.call('HostileToken', hostile, 'behave', [behaviour, factory.address, treasury, []]);
    const before = await balanceOf(native, treasury);
    await sweep([
      { treasury, token: hostile, salts: [salt(0), salt(1)] },
      { treasury, token: native, salts: [salt(0), salt(1)] },
    ]);
    expect((await balanceOf(native, treasury)) - before).toBe(6n);
    expect(await balanceOf(hostile, address(0))).toBe(5n);
  });

  it('the contracts pay once when a token calls back from inside of a transfer', async () => {
    const { treasury, salt, address } = forwardersOf('reentrant', treasuries[0] ?? native);
    const salts = [0, 1].map(salt);
    await anvil.call('HostileToken', hostile, 'behave', [0, factory.address, treasury, salts]);
    for (const index of [0, 1])
      for (const asset of [native, hostile]) await payForwarder(asset, address(index), 9n);
    const before = await Promise.all([native, hostile].map((asset) => balanceOf(asset, treasury)));
    await anvil.call('HostileToken', hostile, 'behave', [4, factory.address, treasury, salts]);
    await sweep([{ treasury, token: hostile, salts }]);
    await anvil.call('HostileToken', hostile, 'behave', [0, factory.address, treasury, []]);
    await sweep([native, hostile].map((token) => ({ treasury, token, salts })));
    const after = await Promise.all([native, hostile].map((asset) => balanceOf(asset, treasury)));
    expect(after.map((amount, index) => amount - (before[index] ?? 0n))).toEqual([18n, 18n]);
  });

  it('a sweep with too little gas reverts as a whole rather than skip an address', async () => {
    const { treasury, salt, address } = forwardersOf('little-gas', treasuries[0] ?? native);
    await payForwarder(native, address(0), 5n);
    const data = sweepCall([{ treasury, token: native, salts: [salt(0)] }]);
    const starved = anvil.rpc('eth_call', [{ to: factory.address, data, gas: '0x40000' }, 'latest']);
    await expect(starved).rejects.toThrow();
    expect(await anvil.rpc('eth_call', [{ to: factory.address, data, gas: '0x80000' }, 'latest'])).toBe(
      `0x${'0'.repeat(64)}`,
    );
    const estimate = await anvil.rpc<Hex>('eth_estimateGas', [{ to: factory.address, data }]);
    const hash = await anvil.rpc('eth_sendTransaction', [
      { from: stranger, to: factory.address, data, gas: estimate },
    ]);
    await expect.poll(() => anvil.rpc('eth_getTransactionReceipt', [hash])).toMatchObject({ status: '0x1' });
    expect(await balanceOf(native, address(0))).toBe(0n);
  });

  it('a forwarder has the same address on a second network, and fetches money sent to the wrong one', async () => {
    const second = await startAnvil();
    try {
      const { treasury, salt, address } = forwardersOf('two-networks', treasuries[0] ?? native);
      await payForwarder(native, address(0), 3n);
      await payForwarder(native, address(0), 4n, second);
      await deployFactory(second);
      for (const [on, amount] of [
        [anvil, 3n],
        [second, 4n],
      ] as const) {
        const before = await balanceOf(native, treasury, on);
        await sweep([{ treasury, token: native, salts: [salt(0)] }], stranger, on);
        expect((await balanceOf(native, treasury, on)) - before).toBe(amount);
      }
    } finally {
      await second.stop();
    }
  });

  it(
    `the contracts let no value go elsewhere, over ${sequences} random sequences of hostile calls`,
    { timeout: 60_000 + sequences * 500 },
    async () => {
      const contract = await anvil.deploy('Treasury', [3, factory.address]);
      const parties = [...treasuries, contract].map((treasury, index) =>
        forwardersOf(`invariant-${index}`, treasury),
      );
      const [plain = native, silent = native] = tokens;
      const assets = [native, plain, silent, hostile];
      const thieves = [
        '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
        '0x976EA74026E726554dB657fA54763abd0C3a0aa9',
      ] as const;
      const places = parties.flatMap(({ treasury, address }) => [treasury, ...[0, 1, 2].map(address)]);
      const one = <T>(list: readonly T[]): T => list[randomInt(list.length)] as T;
      const start = await Promise.all(assets.map((token) => balancesOf(token, places)));
      const thiefStart = await Promise.all(assets.slice(1).map((token) => balancesOf(token, thieves)));
      const forwarderAbi = [
        {
          type: 'function',
          name: 'sweep',
          inputs: [{ type: 'address' }, { type: 'uint256' }],
          outputs: [],
          stateMutability: 'nonpayable',
        },
      ] as const;

      interface Step {
        readonly from: Hex;
        readonly to: Hex;
        readonly data?: Hex;
        readonly value?: bigint;
        readonly credit?: { readonly asset: number; readonly party: number; readonly amount: bigint };
      }
      const anyBatch = (): Batch => {
        const party = one(parties);
        return {
          // A thief names itself, or the wrong treasury for a salt.
          treasury: one([party.treasury, party.treasury, one(parties).treasury, ...thieves]),
          token: one([...assets, factory.address, party.address(0)]),
          salts: Array.from({ length: randomInt(4) }, () =>
            one([party.salt(randomInt(3)), one(parties).salt(0), toHex(randomBytes(32))]),
          ),
        };
      };
      const steps: readonly (() => Step)[] = [
        () => {
          const [party, asset, amount] = [
            randomInt(parties.length),
            randomInt(4),
            BigInt(randomInt(1, 1000)),
          ];
          const to = parties[party]?.address(randomInt(3)) ?? native;
          const token = assets[asset] ?? native;
          const credit = { asset, party, amount };
          return token === native
            ? { from: anvil.sender, to, value: amount, credit }
            : { from: anvil.sender, to: token, data: transferData(to, amount), credit };
        },
        () => ({
          from: one(thieves),
          to: factory.address,
          data: sweepCall(Array.from({ length: randomInt(1, 4) }, anyBatch)),
        }),
        () => {
          const { treasury, token, salts } = anyBatch();
          return {
            from: one(thieves),
            to: factory.address,
            data: encodeFunctionData({
              abi: factory.abi,
              functionName: 'sweepOne',
              args: [treasury, token, salts[0] ?? toHex(0, { size: 32 })],
            }),
          };
        },
        () => ({
          from: one(thieves),
          to: one([one(parties).address(randomInt(3)), factory.implementation]),
          data: encodeFunctionData({ abi: forwarderAbi, args: [one(assets), BigInt(randomInt(1000))] }),
        }),
        () => ({
          from: one(thieves),
          to: one([one(parties).address(randomInt(3)), factory.implementation, factory.address]),
          data: toHex(randomBytes(randomInt(1, 100))),
        }),
        () => ({
          from: one(thieves),
          to: hostile,
          data: encodeFunctionData({
            abi: [
              {
                type: 'function',
                name: 'behave',
                inputs: [{ type: 'uint8' }, { type: 'address' }, { type: 'address' }, { type: 'bytes32[]' }],
                outputs: [],
                stateMutability: 'nonpayable',
              },
            ],
            args: [
              one([0, 1, 3, 4]),
              factory.address,
              one(parties).treasury,
              [one(parties).salt(0), one(parties).salt(1)],
            ],
          }),
        }),
        () => ({
          from: one(thieves),
          to: contract,
          data: encodeFunctionData({
            abi: [
              {
                type: 'function',
                name: 'reenterWith',
                inputs: [{ type: 'address' }, { type: 'bytes32[]' }],
                outputs: [],
                stateMutability: 'nonpayable',
              },
            ],
            args: [one(assets), [parties[2]?.salt(0) ?? '0x', parties[2]?.salt(1) ?? '0x']],
          }),
        }),
      ];

      const senders = [anvil.sender, ...thieves];
      const counts = await batch<Hex>(
        senders.map((sender) => ({ method: 'eth_getTransactionCount', params: [sender, 'latest'] })),
      );
      const nonces = new Map<string, number>(senders.map((sender, index) => [sender, Number(counts[index])]));
      const credited = assets.map(() => parties.map(() => 0n));
      await anvil.automine(false);
      for (let round = 0; round < sequences; round += 1) {
        if (round % 100 === 0) startRound('hostile calls', round, sequences);
        const sequence = Array.from({ length: randomInt(2, 9) }, () => one(steps)());
        const nonceOf = (from: string) => nonces.get(from) ?? 0;
        const hashes = await batch<Hex>(
          sequence.map(({ from, to, data, value }) => {
            const nonce = toHex(nonceOf(from));
            nonces.set(from, nonceOf(from) + 1);
            const call = {
              from,
              to,
              data: data ?? '0x',
              value: toHex(value ?? 0n),
              gas: toHex(2_500_000),
              nonce,
            };
            return { method: 'eth_sendTransaction', params: [call] };
          }),
        );
        await anvil.mine();
        const receipts = await batch<Receipt>(
          hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
        );
        for (const [index, { credit }] of sequence.entries()) {
          const row = credit && credited[credit.asset];
          if (credit && row && hasPaid(receipts[index], credit.asset))
            row[credit.party] = (row[credit.party] ?? 0n) + credit.amount;
        }
        const now = await batch<Hex>(
          assets.flatMap((token) => places.map((place) => balanceCall(token, place))),
        );
        for (const asset of assets.keys()) {
          for (const party of parties.keys()) {
            // The treasury, and its three forwarders.
            const sum = (values: readonly bigint[] | undefined) =>
              (values ?? []).slice(party * 4, party * 4 + 4).reduce((total, value) => total + value, 0n);
            const held = sum(now.slice(asset * places.length, (asset + 1) * places.length).map(BigInt));
            expect(held - sum(start[asset])).toBe(credited[asset]?.[party]);
          }
        }
      }
      await anvil.automine(true);
      expect(await Promise.all(assets.slice(1).map((token) => balancesOf(token, thieves)))).toEqual(
        thiefStart,
      );
      expect(credited.flat().some((amount) => amount > 0n)).toBe(true);
    },
  );
});
