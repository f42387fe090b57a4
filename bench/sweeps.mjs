/**
 * `npm run bench -- sweeps`: gas per address of sweeps by the forwarder factory, compared with funding each address and
 * emptying it.
 */
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { HDKey } from '@scure/bip32';
import { spawnAnvil } from '../scripts/anvil.mjs';
import { createForwarderSource } from '../server/dist/core/addresses/forwarders.js';
import { createAddressSource } from '../server/dist/core/addresses/address-sources.js';
import { forwarderFactory } from '../server/dist/core/addresses/forwarder-factory.js';
import { transferData } from '../server/dist/modules/networks/evm/abi.js';
import { nativeToken, sweepData } from '../server/dist/modules/treasury/factory.js';

const help = `Usage: npm run bench -- sweeps [options]        (after npm run build)

Pays 1, 10 and 100 deposit addresses on an Ethereum node of this machine (anvil), in a token and in ether, and sweeps them:
the first time, which deploys a contract at each address, and a second time. For comparison the classic way, in the same run:
fund each address with gas, then send its balance from there. Then the time to derive an address.

  --help   show this help`;

const { values: options } = parseArgs({
  options: { help: { type: 'boolean', default: false } },
  args: process.argv.slice(3),
});
const treasury = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const payer = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

if (options.help) console.log(help);
else await main();

/** An ERC-20 with the same storage writes and logs as USDC. */
function tokenCode() {
  const solc = createRequire(import.meta.url)('solc');
  const content = `// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
contract Token is ERC20("Token", "T") { constructor() { _mint(msg.sender, type(uint128).max); } }`;
  const input = {
    language: 'Solidity',
    sources: { 'Token.sol': { content } },
    settings: {
      evmVersion: 'paris',
      optimizer: { enabled: true, runs: 1000 },
      outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
    },
  };
  const require = createRequire(import.meta.url);
  const { readFileSync } = require('node:fs');
  const output = JSON.parse(
    solc.compile(JSON.stringify(input), {
      import: (/** @type {string} */ path) => ({ contents: readFileSync(require.resolve(path), 'utf8') }),
    }),
  );
  return `0x${output.contracts['Token.sol'].Token.evm.bytecode.object}`;
}

async function main() {
  const anvil = await spawnAnvil();
  try {
    /** @param {string} method @param {unknown[]} params */
    const rpc = async (method, params = []) => {
      const response = await fetch(anvil.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      const { result, error } = await response.json();
      if (error) throw new Error(`${method}: ${error.message}`);
      return result;
    };
    /** @param {string | undefined} to @param {string} data @param {string} from @param {bigint} value */
    const send = async (to, data, from = payer, value = 0n) => {
      const call = { from, to, data, value: `0x${value.toString(16)}`, gas: '0x1c9c380' };
      // A plain transfer to a contract needs more than to an account.
      const hash = await rpc('eth_sendTransaction', [data === '0x' ? { ...call, gas: '0xea60' } : call]);
      for (;;) {
        const receipt = await rpc('eth_getTransactionReceipt', [hash]);
        if (!receipt) continue;
        if (receipt.status !== '0x1') throw new Error('A transaction failed');
        return { gas: Number(receipt.gasUsed), contract: receipt.contractAddress };
      }
    };
    const deployed = await send(
      forwarderFactory.deployer,
      forwarderFactory.salt + forwarderFactory.initCode.slice(2),
    );
    const { contract: token } = await send(undefined, tokenCode());
    console.log(`factory: ${deployed.gas.toLocaleString('en')} gas, once per network\n`);
    await rpc('anvil_setBalance', [payer, `0x${(10n ** 24n).toString(16)}`]);
    // As in production: the treasury has held both before.
    await send(token, transferData(treasury, 1n));
    console.log('gas per address           1         10        100');
    const sizes = [1, 10, 100];
    /** @type {Record<string, number[]>} */
    const rows = {};
    let next = 0;
    for (const size of sizes) {
      for (const [asset, contract] of [
        ['token', token],
        ['ether', nativeToken],
      ]) {
        const source = createForwarderSource({ merchantId: 'BENCH', mode: 'live' }, treasury);
        const indexes = Array.from({ length: size }, () => next++);
        const salts = indexes.map((index) => source.forwarder?.salt(index) ?? '');
        for (const round of ['first sweep', 'later sweep']) {
          for (const index of indexes) await pay(asset, source.derive(index), contract);
          const { gas } = await send(
            forwarderFactory.address,
            sweepData([{ treasury, token: contract, salts }]),
          );
          (rows[`${asset}, ${round}`] ??= []).push(gas / size);
        }
        let classic = 0;
        for (const index of indexes) {
          const address = `0x11223344${(index + 1_000_000).toString(16).padStart(32, '0')}`;
          await rpc('anvil_impersonateAccount', [address]);
          await pay(asset, address, contract);
          if (asset === 'token') {
            classic += (await send(address, '0x', payer, 10n ** 18n)).gas;
            classic += (await send(token, transferData(treasury, 1000n), address)).gas;
          } else {
            await rpc('anvil_setBalance', [address, `0x${(10n ** 18n).toString(16)}`]);
            classic += (await send(treasury, '0x', address, 10n ** 17n)).gas;
          }
        }
        (rows[`${asset}, classic`] ??= []).push(classic / size);
      }
    }
    for (const [name, values] of Object.entries(rows).sort(([a], [b]) => (a < b ? -1 : 1))) {
      console.log(
        `${name.padEnd(20)}${values.map((gas) => Math.round(gas).toLocaleString('en').padStart(10)).join(' ')}`,
      );
    }
    console.log(`
classic: ether is sent by each address itself. A token needs gas sent there first: two transactions per address, a key on
the server, and what is left of the gas stays.`);

    /** @param {string} asset @param {string} address @param {string} contract */
    async function pay(asset, address, contract) {
      if (asset === 'token') await send(contract, transferData(address, 1000n));
      else await send(address, '0x', payer, 1000n);
    }
  } finally {
    await anvil.stop();
  }
  measureDerivation();
}

function measureDerivation() {
  const forwarders = createForwarderSource({ merchantId: 'BENCH', mode: 'live' }, treasury);
  const xpub = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/44'/60'/0'").publicExtendedKey;
  const count = 1000;
  /** @param {{ derive: (index: number) => string }} source */
  const time = (source) => {
    for (let index = 0; index < 200; index += 1) source.derive(index);
    const start = performance.now();
    for (let index = 0; index < count; index += 1) source.derive(index);
    return (performance.now() - start) / count;
  };
  const own = time(forwarders);
  const extended = time(createAddressSource('live', 'evm', xpub));
  console.log(
    `\nms per address, of ${count}: forwarder ${own.toFixed(3)}, extended key ${extended.toFixed(3)}`,
  );
}
