/** Deploys the forwarder factory on an anvil, and calls it as anybody may. */
import { readFileSync } from 'node:fs';
import { encodeFunctionData, type Abi, type Hex } from 'viem';
import type { Anvil } from './anvil.js';

interface Artifact {
  readonly deployer: Hex;
  readonly salt: Hex;
  readonly address: Hex;
  readonly implementation: Hex;
  readonly initCode: Hex;
  readonly code: Hex;
  readonly implementationCode: Hex;
  readonly abi: Abi;
}

export const factory = JSON.parse(
  readFileSync(new URL('../../data/forwarder-factory.json', import.meta.url), 'utf8'),
) as Artifact;

export interface Receipt {
  readonly transactionHash: Hex;
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly blockNumber: Hex;
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
}

/** Sends a transaction from one of anvil's unlocked accounts, and waits for its receipt. */
export async function transact(
  anvil: Anvil,
  to: string,
  data: string,
  from: string = anvil.sender,
  value = 0n,
): Promise<Receipt> {
  const hash = await anvil.rpc('eth_sendTransaction', [
    { from, to, data, value: `0x${value.toString(16)}`, gas: '0x1c9c380' },
  ]);
  for (;;) {
    const receipt = await anvil.rpc<Receipt | null>('eth_getTransactionReceipt', [hash]);
    if (receipt) return receipt;
  }
}

export async function deployFactory(anvil: Anvil): Promise<void> {
  await transact(anvil, factory.deployer, factory.salt + factory.initCode.slice(2));
}

export interface Batch {
  readonly treasury: Hex;
  readonly token: Hex;
  readonly salts: readonly Hex[];
}

/** The call that anybody can make, encoded by viem. */
export const sweepCall = (batches: readonly Batch[]): Hex =>
  encodeFunctionData({ abi: factory.abi, functionName: 'sweep', args: [batches] });

export const native: Hex = `0x${'0'.repeat(40)}`;
