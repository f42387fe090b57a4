/** The contracts that tests deploy, compiled once and kept in the cache of node_modules. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Abi, Hex } from 'viem';

export interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
}

export type ContractName =
  ('PlainToken' | 'SilentToken' | 'FeeToken' | 'HostileToken') | ('Splitter' | 'Treasury' | 'ContractWallet');

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts: Readonly<
    Record<string, Readonly<Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>>
  >;
}

const sourceUrl = new URL('contracts.sol', import.meta.url);
const cacheUrl = new URL('../../../node_modules/.cache/test-contracts/', import.meta.url);

export function compileContracts(): Readonly<Record<ContractName, Artifact>> {
  const source = readFileSync(sourceUrl, 'utf8');
  const file = new URL(`${createHash('sha256').update(source).digest('hex').slice(0, 16)}.json`, cacheUrl);
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<ContractName, Artifact>;
  } catch {
    const compiled = compile(source);
    mkdirSync(cacheUrl, { recursive: true });
    // Test processes that run side by side must not read a half-written file.
    const unfinished = `${fileURLToPath(file)}.${process.pid}`;
    writeFileSync(unfinished, JSON.stringify(compiled));
    renameSync(unfinished, file);
    return compiled;
  }
}

function compile(source: string): Record<ContractName, Artifact> {
  // Loaded only when needed: it is a compiler of 9 MB.
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string };
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: { 'contracts.sol': { content: source } },
        settings: {
          evmVersion: 'paris',
          optimizer: { enabled: true, runs: 200 },
          outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
        },
      }),
    ),
  ) as CompilerOutput;
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  const contracts = Object.entries(output.contracts['contracts.sol'] ?? {}).map(
    ([name, { abi, evm }]) => [name, { abi, bytecode: `0x${evm.bytecode.object}` }] as const,
  );
  return Object.fromEntries(contracts) as Record<ContractName, Artifact>;
}
