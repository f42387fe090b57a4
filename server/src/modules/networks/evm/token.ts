/** ERC-20: transfer logs and transfer calls. */
import type { EvmLog } from './replies.js';
import type { WantedLogs } from './wanted-logs.js';

/** keccak256 of `Transfer(address,address,uint256)`. */
export const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** The selector of `transfer(address,uint256)`, and of its arguments the twelve zero bytes before the address. */
const transferCall = `0xa9059cbb${'0'.repeat(24)}`;

/** All transfers of tokens. @param contracts in lower case */
export const transferLogs = (contracts: readonly string[]): WantedLogs[] =>
  contracts.length === 0 ? [] : [{ address: contracts, topics: [transferTopic] }];

export interface TokenTransfer {
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/** A transfer log with both addresses indexed, as ERC-20 says. Undefined for other logs, such as those of an NFT. */
export function readTransferLog({ topics, data }: EvmLog): TokenTransfer | undefined {
  const [topic, from, to, ...rest] = topics;
  if (topic !== transferTopic || from === undefined || to === undefined || rest.length > 0) return undefined;
  if (!/^0x[0-9a-f]{64}$/.test(data)) return undefined;
  return { from: `0x${from.slice(26)}`, to: `0x${to.slice(26)}`, amount: BigInt(data) };
}

/** The arguments of a call of `transfer(address,uint256)`. Undefined for other calls. */
export function readTransferCall(input: string): Pick<TokenTransfer, 'to' | 'amount'> | undefined {
  const call = input.toLowerCase();
  // Longer input is accepted by contracts too.
  if (!call.startsWith(transferCall) || !/^0x[0-9a-f]{136,}$/.test(call)) return undefined;
  return { to: `0x${call.slice(34, 74)}`, amount: BigInt(`0x${call.slice(74, 138)}`) };
}
