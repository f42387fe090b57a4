/** `npm run contracts`: compiles contracts/ and writes what the server expects on chain, or checks that it is up to date. */
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { getContractAddress, getCreate2Address, keccak256 } from 'viem';

const help = `Compiles contracts/ and writes server/data/forwarder-factory.json (addresses, interface and bytecode) and
server/data/balance-reader.json.

  npm run contracts               write it
  npm run contracts -- --check    fail if it is out of date
  npm run contracts -- --input    print the compiler's standard JSON input, for explorers that verify the source
  npm run contracts -- --help     show this help`;

const fileOf = (/** @type {string} */ name) =>
  fileURLToPath(new URL(`../server/data/${name}.json`, import.meta.url));
const [option, ...more] = process.argv.slice(2);

if (more.length > 0 || (option !== undefined && option !== '--check' && option !== '--input')) {
  console.log(help);
  process.exit(option === '--help' && more.length === 0 ? 0 : 2);
}

const require = createRequire(import.meta.url);
const source = 'contracts/ForwarderFactory.sol';
const readerSource = 'contracts/BalanceReader.sol';

/** The sources by name, with everything that they import. */
async function readSources() {
  /** @type {Record<string, { content: string }>} */
  const sources = {};
  const waiting = [source, readerSource];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (sources[name]) continue;
    const path = name.startsWith('contracts/')
      ? fileURLToPath(new URL(`../${name}`, import.meta.url))
      : require.resolve(name);
    const content = await readFile(path, 'utf8');
    sources[name] = { content };
    for (const [, imported = ''] of content.matchAll(/^import .*?["'](.+?)["'];/gm)) {
      waiting.push(
        imported.startsWith('.') ? new URL(imported, `file:///${name}`).pathname.slice(1) : imported,
      );
    }
  }
  return Object.fromEntries(Object.entries(sources).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const input = {
  language: 'Solidity',
  sources: await readSources(),
  settings: {
    // Runs on every network: later versions use opcodes that some do not have.
    evmVersion: 'paris',
    optimizer: { enabled: true, runs: 1000 },
    // The address follows from the bytecode, so it may contain only the code.
    metadata: { appendCBOR: false, bytecodeHash: 'none' },
    outputSelection: {
      '*': {
        '*': [
          'abi',
          'evm.bytecode.object',
          'evm.deployedBytecode.object',
          'evm.deployedBytecode.immutableReferences',
        ],
      },
    },
  },
};

/** The code on chain: the constructor fills in the same address in every place. */
/** @param {{ object: string, immutableReferences: Record<string, { start: number, length: number }[]> }} code @param {string} address */
function codeOnChain({ object, immutableReferences }, address) {
  const word = address.slice(2).toLowerCase().padStart(64, '0');
  let code = object;
  for (const { start } of Object.values(immutableReferences).flat()) {
    code = code.slice(0, start * 2) + word + code.slice(start * 2 + 64);
  }
  return `0x${code}`;
}

async function compile() {
  const solc = require('solc');
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  const problems = (output.errors ?? []).map(
    (/** @type {{ formattedMessage: string }} */ e) => e.formattedMessage,
  );
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const factory = output.contracts[source].ForwarderFactory;
  const forwarder = output.contracts['contracts/Forwarder.sol'].Forwarder;
  /** @type {`0x${string}`} */
  const initCode = `0x${factory.evm.bytecode.object}`;
  // The proxy takes the salt before the code.
  const deployer = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
  const salt = /** @type {const} */ (`0x${'0'.repeat(64)}`);
  const address = getCreate2Address({ from: deployer, salt, bytecodeHash: keccak256(initCode) });
  const implementation = getContractAddress({ from: address, nonce: 1n });
  const artifact = {
    compiler: solc.version(),
    deployer,
    salt,
    address,
    implementation,
    initCode,
    code: codeOnChain(factory.evm.deployedBytecode, implementation),
    implementationCode: codeOnChain(forwarder.evm.deployedBytecode, address),
    abi: factory.abi,
  };
  const reader = { code: `0x${output.contracts[readerSource].BalanceReader.evm.bytecode.object}` };
  return Promise.all(
    Object.entries({ 'forwarder-factory': artifact, 'balance-reader': reader }).map(
      async ([name, content]) => {
        const file = fileOf(name);
        const style = await resolveConfig(file);
        return { file, text: await format(JSON.stringify(content), { ...style, parser: 'json' }) };
      },
    ),
  );
}

if (option === '--input') console.log(JSON.stringify(input, null, 2));
else {
  for (const { file, text } of await compile()) {
    if (option === undefined) await writeFile(file, text);
    else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
      console.error(`${file} is out of date. Run: npm run contracts`);
      process.exitCode = 1;
    }
  }
}
