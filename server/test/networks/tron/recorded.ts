/**
 * Replies of a Tron node in the documented forms: https://developers.tron.network/reference/json-rpc-api-overview and
 * https://developers.tron.network/reference/gettransactionbyid. Field by field as java-tron writes them, with short made-up
 * values.
 */
import { transferTopic } from '../../../src/modules/networks/evm/token.js';

export interface RecordedTransaction {
  readonly hash: string;
  readonly type: string;
  readonly to: string | null;
  readonly value: string;
  readonly status: '0x0' | '0x1';
  /** `amount` of the contract's parameter in the HTTP API. */
  readonly amount?: number;
}

interface Question {
  readonly method?: string;
  readonly params?: readonly unknown[];
  /** A transaction's id, in the HTTP API. */
  readonly value?: string;
}

const digits = (digit: string, length: number) => `0x${digit.repeat(length)}`;
const usdtContract = '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c';
const sender = digits('1', 40);
const parentHash = `0x0000000003fe56c1${'a'.repeat(48)}`;
const blockHash = `0x0000000003fe56c2${'b'.repeat(48)}`;
const blockNumber = '0x3fe56c2';

const transactions = {
  trx: {
    hash: digits('c', 64),
    type: 'TransferContract',
    to: digits('2', 40),
    value: '0xbebc20',
    status: '0x1',
    amount: 12_500_000,
  },
  usdt: {
    hash: digits('d', 64),
    type: 'TriggerSmartContract',
    to: usdtContract,
    value: '0x0',
    status: '0x1',
  },
  // A worthless token of TRC-10: JSON-RPC shows its amount as if it were TRX.
  trc10: {
    hash: digits('e', 64),
    type: 'TransferAssetContract',
    to: digits('4', 40),
    value: '0xe8d4a51000',
    status: '0x1',
    amount: 1_000_000_000_000,
  },
  vote: {
    hash: digits('f', 64),
    type: 'VoteWitnessContract',
    to: digits('5', 40),
    value: '0x3e8',
    status: '0x1',
  },
  failed: {
    hash: digits('6', 64),
    type: 'TriggerSmartContract',
    to: digits('7', 40),
    value: '0xf4240',
    status: '0x0',
  },
} as const satisfies Record<string, RecordedTransaction>;

const all: readonly RecordedTransaction[] = Object.values(transactions);

function header(full: boolean) {
  return {
    baseFeePerGas: '0x0',
    difficulty: '0x0',
    extraData: '0x',
    gasLimit: '0x160227b88',
    gasUsed: '0x360d92',
    hash: blockHash,
    logsBloom: digits('0', 512),
    miner: digits('9', 40),
    mixHash: digits('0', 64),
    nonce: digits('0', 16),
    number: blockNumber,
    parentHash,
    receiptsRoot: digits('0', 64),
    sha3Uncles: digits('0', 64),
    size: '0x1a3',
    stateRoot: '0x',
    timestamp: '0x672cf6c0',
    totalDifficulty: '0x0',
    transactions: all.map((transaction, index) =>
      full
        ? {
            blockHash,
            blockNumber,
            from: sender,
            gas: '0x0',
            gasPrice: '0x1a4',
            hash: transaction.hash,
            input: '0x',
            nonce: null,
            r: digits('8', 64),
            s: digits('8', 64),
            to: transaction.to,
            transactionIndex: `0x${index}`,
            type: '0x0',
            v: '0x1b',
            value: transaction.value,
          }
        : transaction.hash,
    ),
    transactionsRoot: digits('3', 64),
    uncles: [],
  };
}

const usdtLog = {
  address: usdtContract,
  blockHash,
  blockNumber,
  data: `0x${(49_990_000).toString(16).padStart(64, '0')}`,
  logIndex: '0x0',
  removed: false,
  topics: [transferTopic, `0x${sender.slice(2).padStart(64, '0')}`, `0x${'3'.repeat(40).padStart(64, '0')}`],
  transactionHash: transactions.usdt.hash,
  transactionIndex: '0x1',
};

function answerJsonRpc({ method, params = [] }: Question): unknown {
  const [first, full] = params;
  const found = all.find(({ hash }) => hash === first);
  switch (method) {
    case 'eth_chainId':
      return '0x2b6653dc';
    case 'eth_getBlockByNumber':
      if (first === 'latest' || first === blockNumber) return header(full === true);
      if (first === 'finalized') return { ...header(false), number: '0x3fe56c1', hash: parentHash };
      return new Error('TAG pending not supported');
    case 'eth_getLogs':
      return [usdtLog];
    case 'eth_call':
      return `0x${'6'.padStart(64, '0')}`;
    case 'eth_getTransactionReceipt':
      return (
        found && {
          blockHash,
          blockNumber,
          contractAddress: null,
          cumulativeGasUsed: '0x0',
          effectiveGasPrice: '0x1a4',
          from: sender,
          gasUsed: '0x0',
          logs: found === transactions.usdt ? [usdtLog] : [],
          logsBloom: digits('0', 512),
          status: found.status,
          to: found.to,
          transactionHash: found.hash,
          transactionIndex: '0x0',
          type: '0x0',
        }
      );
    default:
      return new Error(`the method ${method} does not exist/is not available`);
  }
}

const sent = (to: string, value: object, more: object = {}) => ({
  caller_address: `41${usdtContract.slice(2)}`,
  transferTo_address: `41${to.repeat(40)}`,
  note: '63616c6c',
  callValueInfo: [value],
  hash: '5'.repeat(64),
  ...more,
});

function blockInfo(): { id: string }[] {
  return all.map(({ hash, status }) => ({
    id: hash.slice(2),
    fee: 345_000,
    blockNumber: 67_000_002,
    blockTimeStamp: 1_731_000_000_000,
    contractResult: [''],
    receipt: { net_usage: 345, result: status === '0x1' ? 'SUCCESS' : 'REVERT' },
    ...(hash === transactions.usdt.hash && {
      internal_transactions: [
        sent('a', { callValue: 7_000_000 }),
        sent('a', { callValue: 1_000_000, tokenId: '1000001' }),
        sent('a', { callValue: 2_000_000 }, { rejected: true }),
        sent('a', { callValue: 3_000_000 }, { note: '64656c656761746563616c6c' }),
        sent('a', {}),
        sent('b', { callValue: 4_000_000 }),
        sent('a', { callValue: 5_000_000 }, { note: '73756963696465' }),
      ],
    }),
    ...(hash === transactions.failed.hash && {
      result: 'FAILED',
      internal_transactions: [sent('a', { callValue: 6_000_000 })],
    }),
  }));
}

function answerHttp(path: string, { value }: Question): unknown {
  if (path === '/wallet/gettransactioninfobyblocknum') return blockInfo();
  if (path === '/wallet/gettransactioninfobyid') return blockInfo().find(({ id }) => id === value) ?? {};
  const found = all.find(({ hash }) => hash === `0x${value}`);
  if (!found) return {};
  return {
    ret: [{ contractRet: found.status === '0x1' ? 'SUCCESS' : 'REVERT' }],
    signature: ['8'.repeat(130)],
    txID: value,
    raw_data: {
      contract: [
        {
          parameter: {
            // Not every node knows the parameters of every type.
            ...(found.amount !== undefined && {
              value: {
                amount: found.amount,
                owner_address: `41${sender.slice(2)}`,
                to_address: found.to && `41${found.to.slice(2)}`,
              },
            }),
            type_url: `type.googleapis.com/protocol.${found.type}`,
          },
          type: found.type,
        },
      ],
      ref_block_bytes: '5670',
      ref_block_hash: '8'.repeat(16),
      expiration: 1_731_000_057_000,
      timestamp: 1_730_999_997_000,
    },
    raw_data_hex: '0a02',
  };
}

/** The node's reply at a path; an Error for a JSON-RPC error. */
export const recorded = Object.assign(
  (path: string, question: Question): unknown =>
    path === '/jsonrpc' ? answerJsonRpc(question) : answerHttp(path, question),
  { transactions },
);
