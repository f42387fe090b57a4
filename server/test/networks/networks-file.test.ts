/** The networks file: presets, overrides, and errors that give the path of the key and no value. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAddress } from '../../src/core/addresses/formats.js';
import { parseNetworks } from '../../src/modules/networks/networks-file.js';
import { networkPresets } from '../../src/core/chains/presets.js';
import { ConfigError, readConfig } from '../../src/core/config.js';
import { networkSettings } from '../../src/modules/networks/settings.js';
import { currencies } from '../../src/core/money/currency-list.js';

const nodes = ['https://node.example.com/'];
const parse = (networks: unknown, environment = {}) => parseNetworks({ networks }, environment);
const only = (networks: Record<string, unknown>, environment = {}) => {
  const [network] = parse(networks, environment);
  if (!network) throw new Error('No network');
  return network;
};
function problems(content: unknown, environment = {}): string[] {
  try {
    parseNetworks(content, environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message.split('\n');
  }
}

describe('Presets', () => {
  it('The least is a node', () => {
    expect(only({ polygon: { nodes } })).toMatchObject({
      network: {
        mode: 'live',
        code: 'polygon',
        name: 'Polygon',
        family: 'evm',
        confirmations: 12,
        explorer: 'https://polygonscan.com/tx/{txHash}',
        assets: { USDC: { minAmount: '0.1', withdrawalFee: '0' } },
      },
      identity: { chainId: 137 },
      nodes,
      chainAssets: {
        POL: { decimals: 18 },
        USDC: { contract: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', decimals: 6 },
      },
    });
  });

  it.each([
    ['live', ['arbitrum', 'base', 'bitcoin', 'bsc', 'ethereum', 'litecoin', 'optimism', 'polygon', 'tron']],
    [
      'test',
      [
        'base-sepolia',
        'bitcoin-regtest',
        'bitcoin-testnet4',
        'evm-dev',
        'litecoin-regtest',
        'litecoin-testnet',
        'sepolia',
        'tron-nile',
      ],
    ],
  ])('The known networks of %s mode stay in it', (mode, codes) => {
    const found = Object.entries(networkPresets).filter(([, preset]) => preset.mode === mode);
    // An added network is no mistake: the next test has its mode.
    expect(found.map(([code]) => code)).toEqual(expect.arrayContaining(codes));
  });

  it('A preset is live if its addresses are those of real money, and of test mode otherwise', () => {
    for (const [code, { mode, addressNet }] of Object.entries(networkPresets))
      expect(mode, code).toBe(addressNet === 'main' ? 'live' : 'test');
  });

  it('Every preset is complete, and no two are the same chain', () => {
    const identities = Object.values(networkPresets).map(({ identity }) => JSON.stringify(identity));
    expect(new Set(identities).size).toBe(identities.length);
    const codes = currencies.filter(({ type }) => type === 'crypto').map(({ code }) => code);
    for (const [code, preset] of Object.entries(networkPresets)) {
      const [native, ...tokens] = Object.values(preset.assets);
      expect(native?.contract, code).toBeUndefined();
      expect(tokens.every(({ contract }) => contract !== undefined)).toBe(true);
      expect(codes).toEqual(expect.arrayContaining(Object.keys(preset.assets)));
      if (!('genesisHash' in preset.identity)) continue;
      const { genesisHash, checkpoint } = preset.identity;
      expect(genesisHash).toMatch(/^[0-9a-f]{64}$/);
      // Coins that split off keep the first block.
      if (preset.mode === 'live') expect(checkpoint?.hash, code).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  it('Every contract is an address with the right checksum', () => {
    for (const [code, preset] of Object.entries(networkPresets)) {
      for (const { contract } of Object.values(preset.assets)) {
        if (contract === undefined) continue;
        expect(parseAddress(preset, contract), code).toBe(contract);
      }
    }
  });
});

describe('Overrides', () => {
  it('Depths by value, and the limit above which two nodes must agree', () => {
    const two = ['https://one.example.com', 'https://two.example.com'];
    const confirmations = [{ upTo: '5000 EUR', confirmations: 3 }, { require: 'finalized' }];
    expect(only({ base: { nodes: two, confirmations, crossCheckAbove: '7 ETH' } }).network).toMatchObject({
      confirmations: 3,
      depths: [{ upTo: { amount: '5000', currency: 'EUR' }, confirmations: 3 }, { confirmations: null }],
      crossCheckAbove: { amount: '7', currency: 'ETH' },
    });
    expect(only({ base: { nodes: two } }).network).toMatchObject({
      confirmations: 12,
      depths: [{ upTo: { amount: '1000', currency: 'USD' }, confirmations: 12 }, { confirmations: null }],
      crossCheckAbove: { amount: '1000', currency: 'USD' },
    });
    expect(only({ base: { nodes: two, crossCheckAbove: false } }).network.crossCheckAbove).toBeUndefined();
    expect(only({ base: { nodes } }).network.crossCheckAbove).toBeUndefined();
    expect(only({ base: { nodes, confirmations: 5 } }).network).toMatchObject({ confirmations: 5 });
    expect(only({ base: { nodes, confirmations: 5 } }).network.depths).toBeUndefined();
  });

  it('Each value can be replaced, and an asset left out or added', () => {
    const found = only(
      {
        arbitrum: {
          nodes: ['https://one.example.com', 'https://two.example.com'],
          headers: { 'X-Api-Key': '{env:KEY}' },
          name: 'Arbitrum',
          confirmations: 64,
          blockSeconds: 0.25,
          chainId: 421_614,
          explorer: {
            tx: 'https://scan.example.com/tx/{txHash}',
            address: 'https://scan.example.com/{address}',
          },
          assets: {
            USDT: false,
            USDC: { minAmount: 5, withdrawalFee: '0.25' },
            BNB: { contract: '0xB8c77482e45F1F44dE1745F52C74426C631bDD52', decimals: 18 },
          },
        },
      },
      { KEY: 'secret' },
    );
    expect(found.network).toMatchObject({
      name: 'Arbitrum',
      confirmations: 64,
      explorer: 'https://scan.example.com/tx/{txHash}',
    });
    expect(found).toMatchObject({
      identity: { chainId: 421_614 },
      blockSeconds: 0.25,
      headers: { 'X-Api-Key': 'secret' },
    });
    const preset = Object.keys(networkPresets['arbitrum']?.assets ?? {});
    expect(preset).toEqual(expect.arrayContaining(['ETH', 'USDT', 'USDC']));
    expect(Object.keys(found.network.assets)).toEqual([...preset.filter((one) => one !== 'USDT'), 'BNB']);
    expect(found.network.assets['USDC']).toMatchObject({ minAmount: '5', withdrawalFee: '0.25' });
    expect(found.chainAssets['BNB']).toEqual({
      currency: 'BNB',
      contract: '0xB8c77482e45F1F44dE1745F52C74426C631bDD52',
      decimals: 18,
      unitDecimals: 18,
    });
  });

  it('Credentials come from the environment', () => {
    const environment = { POLYGON_KEY: 'abc', RPC_PASSWORD: 'p%40ss' };
    expect(
      only({ polygon: { nodes: ['https://node.example.com/v2/{env:POLYGON_KEY}'] } }, environment),
    ).toMatchObject({
      nodes: ['https://node.example.com/v2/abc'],
    });
    expect(
      only({ bitcoin: { nodes: ['http://rpc:{env:RPC_PASSWORD}@127.0.0.1:8332'] } }, environment),
    ).toMatchObject({
      nodes: ['http://rpc:p%40ss@127.0.0.1:8332'],
    });
  });

  it.each([
    [
      'by its preset',
      { base: { nodes } },
      { chainId: 8453, coin: 'ETH', rpcUrl: 'https://mainnet.base.org' },
    ],
    ['with none in its preset', { ethereum: { nodes } }, { chainId: 1, coin: 'ETH' }],
    ['with none by choice', { base: { nodes, walletRpcUrl: false } }, { chainId: 8453, coin: 'ETH' }],
    [
      'by its own URL',
      { polygon: { nodes, walletRpcUrl: 'https://rpc.example.com/' } },
      { chainId: 137, coin: 'POL', rpcUrl: 'https://rpc.example.com/' },
    ],
    ['as another chain under its name', { base: { nodes, chainId: 5 } }, { chainId: 5, coin: 'ETH' }],
    [
      'whose own coin is not paid with',
      { polygon: { nodes, assets: { POL: false } } },
      { chainId: 137, coin: 'POL', rpcUrl: 'https://polygon-rpc.com' },
    ],
    ['that is no EVM network', { tron: { nodes } }, undefined],
    ['without chain ids', { bitcoin: { nodes } }, undefined],
  ])('Wallets get these facts about a network %s', (_, networks, evm) => {
    expect(only(networks).network.evm).toEqual(evm);
  });

  it('Test networks have no usual block time, not even a configured one, for nothing is usual there', () => {
    expect(only({ base: { nodes } }).network.blockSeconds).toBe(2);
    expect(only({ base: { nodes, blockSeconds: 3 } }).network.blockSeconds).toBe(3);
    for (const [code, { mode }] of Object.entries(networkPresets)) {
      if (mode === 'live') continue;
      expect(only({ [code]: { nodes } }).network, code).not.toHaveProperty('blockSeconds');
      expect(only({ [code]: { nodes, blockSeconds: 3 } }).network, code).not.toHaveProperty('blockSeconds');
    }
  });

  it('Wallets get nothing from the configured nodes, whose URLs can hold credentials', () => {
    const [network] = parse({ base: { nodes: ['https://node.example.com/hunter2'] } });
    expect(JSON.stringify(network?.network)).not.toContain('hunter2');
  });

  it('A network can be configured without an explorer', () => {
    const { network } = only({ polygon: { nodes, explorer: false } });
    expect([network.explorer, network.blockExplorer]).toEqual([undefined, undefined]);
  });
});

const contract = '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359';

describe('Errors', () => {
  it.each([
    [[], 'the file: '],
    [{}, 'networks: is required'],
    [{ networks: {}, extra: 1 }, 'extra: is not a known key'],
    [{ networks: { doge: { nodes } } }, 'networks.doge: is not known; known are tron, ethereum'],
    [{ networks: { polygon: {} } }, 'networks.polygon.nodes: is required'],
    [
      { networks: { polygon: { nodes, sweeps: { minValue: '1', maxGasPriceGwei: '2' } } } },
      'networks.polygon.sweeps.dailyBudget: must be a decimal',
    ],
    [
      {
        networks: {
          polygon: { nodes, sweeps: { minValue: '1.234', maxGasPriceGwei: '2', dailyBudget: '3' } },
        },
      },
      'networks.polygon.sweeps.minValue: must have at most 2 decimals',
    ],
    [
      {
        networks: { litecoin: { nodes, sweeps: { minValue: '1', maxGasPriceGwei: '2', dailyBudget: '3' } } },
      },
      'networks.litecoin.sweeps: is only for EVM networks',
    ],
    [
      { networks: { polygon: { nodes: nodes[0] } } },
      'networks.polygon.nodes: must be a list: put the node in [ ]',
    ],
    [{ networks: { polygon: { nodes: [] } } }, 'networks.polygon.nodes: must have at least one node'],
    [
      { networks: { polygon: { nodes: ['ws://secret.example.com'] } } },
      'networks.polygon.nodes[0]: must be a URL',
    ],
    [{ networks: { polygon: { nodes: [...nodes, 5] } } }, 'networks.polygon.nodes[1]: must be a URL'],
    [
      { networks: { polygon: { nodes: ['https://example.com/{env:MISSING}'] } } },
      'networks.polygon.nodes[0]: the environment variable MISSING is not set',
    ],
    [
      { networks: { polygon: { nodes, headers: { Key: '{env:MISSING}' } } } },
      'networks.polygon.headers.Key: the env',
    ],
    [
      { networks: { polygon: { nodes, confirmation: 3 } } },
      'networks.polygon.confirmation: is not a known key',
    ],
    [
      {
        networks: { base: { nodes, confirmations: [{ upTo: '5', confirmations: 1 }, { confirmations: 2 }] } },
      },
      'networks.base.confirmations[0].upTo: must be an amount and a currency',
    ],
    [
      { networks: { base: { nodes, confirmations: [{ confirmations: 2 }, { require: 'finalized' }] } } },
      'networks.base.confirmations[0]: must have upTo: it is not the last one',
    ],
    [
      { networks: { base: { nodes, confirmations: [{ upTo: '5 USD', confirmations: 2 }] } } },
      'networks.base.confirmations[0]: must not have upTo: it is the last one',
    ],
    [
      { networks: { bitcoin: { nodes, confirmations: [{ require: 'finalized' }] } } },
      'networks.bitcoin.confirmations[0]: cannot require finality',
    ],
    [
      { networks: { base: { nodes, crossCheckAbove: '1000 USD' } } },
      'networks.base.crossCheckAbove: needs two nodes',
    ],
    [
      { networks: { base: { nodes, crossCheckAbove: '1000' } } },
      'networks.base.crossCheckAbove: must be an amount and a currency',
    ],
    [
      { networks: { polygon: { nodes, confirmations: 0 } } },
      'networks.polygon.confirmations: must be an integer',
    ],
    [
      { networks: { polygon: { nodes, confirmations: '3' } } },
      'networks.polygon.confirmations: must be an integer',
    ],
    [
      { networks: { polygon: { nodes, blockSeconds: -1 } } },
      'networks.polygon.blockSeconds: must be a number',
    ],
    [
      { networks: { polygon: { nodes, genesisHash: '0'.repeat(64) } } },
      'networks.polygon.genesisHash: is for Bitcoin',
    ],
    [{ networks: { bitcoin: { nodes, chainId: 1 } } }, 'networks.bitcoin.chainId: is not for this network'],
    [{ networks: { bitcoin: { nodes, genesisHash: 'abc' } } }, 'networks.bitcoin.genesisHash: must be 64'],
    [
      {
        networks: {
          polygon: {
            nodes,
            explorer: { tx: 'https://example.com', address: 'https://example.com/{address}' },
          },
        },
      },
      'networks.polygon.explorer.tx: must be an http or https URL with {txHash}',
    ],
    ...['http://rpc.example.com', 'https://user:secret@rpc.example.com', 'wss://rpc.example.com', '', 5].map(
      (walletRpcUrl): [unknown, string] => [
        { networks: { polygon: { nodes, walletRpcUrl } } },
        'networks.polygon.walletRpcUrl: must be false, or an https URL without credentials',
      ],
    ),
    [
      { networks: { polygon: { nodes, assets: { DOGE: {} } } } },
      'networks.polygon.assets.DOGE: is not a coin of this',
    ],
    [
      { networks: { polygon: { nodes, assets: { EUR: {} } } } },
      'networks.polygon.assets.EUR: is not a coin of this',
    ],
    [
      { networks: { polygon: { nodes, assets: { USDC: true } } } },
      'networks.polygon.assets.USDC: must be false, or',
    ],
    [
      { networks: { base: { nodes, assets: { USDT: { contract } } } } },
      'networks.base.assets.USDT.decimals: is required with a contract',
    ],
    [
      { networks: { polygon: { nodes, assets: { USDT: { contract } } } } },
      'networks.polygon.assets.USDT.decimals: is required with a contract',
    ],
    [
      { networks: { base: { nodes, assets: { USDT: { contract: `${contract}0`, decimals: 6 } } } } },
      'networks.base.assets.USDT.contract: must be the address of the token',
    ],
    [
      { networks: { base: { nodes, assets: { USDT: { decimals: 6 } } } } },
      'networks.base.assets.USDT.contract: must be the address of the token',
    ],
    [
      { networks: { polygon: { nodes, assets: { POL: { decimals: 6 } } } } },
      "networks.polygon.assets.POL: is the network's own coin",
    ],
    [
      { networks: { bitcoin: { nodes, assets: { USDT: { contract, decimals: 6 } } } } },
      'networks.bitcoin.assets.USDT: cannot be added',
    ],
    [
      { networks: { bitcoin: { nodes, assets: { BTC: false } } } },
      'networks.bitcoin.assets: must leave at least one asset',
    ],
  ])('%j: %s', (content, expected) => {
    const found = problems(content);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
    expect(found[0]).not.toMatch(/secret|example\.com\/\{env/);
  });

  it('All problems are reported at once', () => {
    expect(
      problems({ networks: { polygon: { nodes: ['x'] }, base: { nodes: ['y'] }, nowhere: { nodes } } }),
    ).toHaveLength(3);
  });
});

describe('NETWORKS_FILE', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  async function file(text: string): Promise<string> {
    const path = join(directory, 'networks.json');
    await writeFile(path, text);
    return path;
  }

  it('The configuration holds its networks', async () => {
    const path = await file('{"networks":{"polygon":{"nodes":["https://node.example.com/{env:KEY}"]}}}');
    const { networks } = readConfig({ NETWORKS_FILE: path, KEY: 'k' }, networkSettings);
    expect(networks.map(({ network, nodes: urls }) => [network.code, urls])).toEqual([
      ['polygon', ['https://node.example.com/k']],
    ]);
  });

  it.each([
    [
      '{"networks":{"polygon":{"nodes":["https://user:hunter2@x"',
      'NETWORKS_FILE: line 1, column 58: a ] is expected',
    ],
    [
      '{"networks":{"polygon":{"nodes":["hunter2"]},"x":{"nodes":["https://hunter2"]}}}',
      'NETWORKS_FILE: networks.polygon.nodes[0]: must be a URL',
    ],
  ])('%s: the server does not start, and does not show the value', async (text, expected) => {
    const path = await file(text);
    const read = () => readConfig({ NETWORKS_FILE: path }, networkSettings);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(expected);
    expect(read).not.toThrow('hunter2');
  });

  it('A file that is missing is named as missing', () => {
    expect(() => readConfig({ NETWORKS_FILE: join(directory, 'none.json') }, networkSettings)).toThrow(
      'it does not exist',
    );
  });
});
