/** Starts anvil, an Ethereum node for tests, and sends transactions on it. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  getAddress,
  http,
  type Hex,
  type Transport,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { foundry } from 'viem/chains';
import { spawnAnvil } from '../../../scripts/anvil.mjs';
import { compileContracts, type ContractName } from './contracts.js';

/** The first of anvil's published accounts. */
const senderKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
export const anvilChainId = 31337;

export interface Anvil {
  /** The JSON-RPC URL. */
  readonly url: string;
  readonly sender: Hex;
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
  mine(blocks?: number): Promise<void>;
  /** If on, each transaction gets a block at once, as it does by default. */
  automine(isOn: boolean): Promise<void>;
  /** Deploys a contract and returns its address. */
  deploy(name: ContractName, args?: readonly unknown[]): Promise<Hex>;
  /** Sends the native coin. Resolves when the transaction is in a block, if blocks are mined automatically. */
  send(to: string, value: bigint): Promise<Hex>;
  /** Calls a function of a contract in a transaction. */
  call(
    name: ContractName,
    contract: Hex,
    functionName: string,
    args: readonly unknown[],
    value?: bigint,
  ): Promise<Hex>;
  /** Signs a transfer of the native coin without sending it, with the sender's next nonce by default. */
  sign(to: string, value: bigint, nonce?: number): Promise<Hex>;
  /** Signs a call of a contract's function without sending it. */
  signCall(
    name: ContractName,
    contract: Hex,
    functionName: string,
    args: readonly unknown[],
    nonce: number,
  ): Promise<Hex>;
  /** Sends a signed transaction. */
  publish(transaction: Hex): Promise<Hex>;
  /** Replaces the last blocks. Transactions are put into the new blocks, by their number from 0. */
  reorg(depth: number, transactions?: readonly (readonly [Hex, number])[]): Promise<void>;
  stop(): Promise<void>;
}

const contracts = compileContracts();

/** @param port the port of an anvil that was stopped; a free one by default */
export async function startAnvil(port = 0): Promise<Anvil> {
  const { url, stop } = await spawnAnvil(port, ['--slots-in-an-epoch', '2']);
  const transport: Transport = http(url, { retryCount: 0 });
  const account = privateKeyToAccount(senderKey);
  const client = createPublicClient({ chain: foundry, transport });
  const wallet = createWalletClient({ account, chain: foundry, transport });
  // Fixed, so that viem need not ask for it.
  const fees = { gas: 1_000_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n } as const;

  const rpc = async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };

  let isAutomining = true;
  /** The answer to a transaction comes before its block. */
  async function mined(sent: Promise<Hex>): Promise<Hex> {
    const hash = await sent;
    while (isAutomining && !(await rpc('eth_getTransactionReceipt', [hash]))) await delay(5);
    return hash;
  }

  return {
    url,
    sender: account.address,
    rpc,
    async mine(blocks = 1) {
      if (blocks > 0) await rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
    },
    async automine(isOn) {
      await rpc('evm_setAutomine', [isOn]);
      isAutomining = isOn;
    },
    async deploy(name, args = []) {
      const hash = await mined(wallet.deployContract({ ...contracts[name], args, ...fees, gas: 3_000_000n }));
      const { contractAddress } = await client.getTransactionReceipt({ hash });
      if (!contractAddress) throw new Error(`${name} was not deployed`);
      return contractAddress;
    },
    send: (to, value) => mined(wallet.sendTransaction({ to: getAddress(to), value, ...fees })),
    call(name, to, functionName, args, value = 0n) {
      const data = encodeFunctionData({ abi: contracts[name].abi, functionName, args });
      return mined(wallet.sendTransaction({ to, data, value, ...fees }));
    },
    async sign(to, value, nonce) {
      const next = nonce ?? (await client.getTransactionCount({ address: account.address }));
      return wallet.signTransaction({ to: getAddress(to), value, nonce: next, ...fees });
    },
    signCall(name, to, functionName, args, nonce) {
      const data = encodeFunctionData({ abi: contracts[name].abi, functionName, args });
      return wallet.signTransaction({ to, data, nonce, ...fees });
    },
    publish: (transaction) => mined(rpc<Hex>('eth_sendRawTransaction', [transaction])),
    async reorg(depth, transactions = []) {
      await rpc('anvil_reorg', [depth, transactions]);
      // Its clock has stopped at the time of the dropped blocks.
      const { timestamp } = await rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false]);
      const behind = Math.ceil(Date.now() / 1000 - Number(timestamp));
      if (behind > 0) await rpc('evm_increaseTime', [behind]);
    },
    stop,
  };
}
