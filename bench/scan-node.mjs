/**
 * A node for the scan benchmark, in a thread of its own: an Ethereum JSON-RPC server with blocks of 300 transactions
 * between strangers, half of them transfers of a token. Messages set its height.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { parentPort } from 'node:worker_threads';

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const token = `0x${'70'.repeat(20)}`;
const transactions = 300;
let head = 1;

/** @param {string} text */
const hashOf = (text) => `0x${createHash('sha256').update(text).digest('hex')}`;
/** @param {string} text */
const addressOf = (text) => hashOf(text).slice(0, 42);
/** @param {number} height */
const blockHash = (height) => hashOf(`block ${height}`);
/** @param {number} value */
const hex = (value) => `0x${value.toString(16)}`;
/** @param {string} address */
const topic = (address) => `0x${address.slice(2).padStart(64, '0')}`;

/** @param {number} height @param {boolean} isFull */
function block(height, isFull) {
  const numbers = Array.from({ length: transactions }, (_, index) => index);
  return {
    number: hex(height),
    hash: blockHash(height),
    parentHash: blockHash(height - 1),
    timestamp: hex(Math.floor(Date.now() / 1000)),
    logsBloom: `0x${'f'.repeat(512)}`,
    transactions: numbers.map((index) => {
      const name = `${height} ${index}`;
      if (!isFull) return hashOf(name);
      const isToken = index % 2 === 1;
      return {
        hash: hashOf(name),
        from: addressOf(`from ${name}`),
        to: isToken ? token : addressOf(`to ${name}`),
        value: isToken ? '0x0' : hex(index + 1),
        input: isToken
          ? `0xa9059cbb${topic(addressOf(`to ${name}`)).slice(2)}${hex(index).slice(2).padStart(64, '0')}`
          : '0x',
        type: '0x2',
        gas: '0x5208',
        maxFeePerGas: '0x2540be400',
        nonce: hex(index),
        blockHash: blockHash(height),
        blockNumber: hex(height),
        transactionIndex: hex(index),
        r: hashOf(`r ${name}`),
        s: hashOf(`s ${name}`),
        v: '0x1',
      };
    }),
  };
}

/** The addresses are at the end of the call, after their number. @param {string} data */
function balancesOf(data) {
  for (let count = 1; count <= 500; count += 1) {
    const word = data.slice(-64 * (count + 1)).slice(0, 64);
    if (Number(`0x${word}`) === count) return `0x${'0'.repeat(64 * count)}`;
  }
  throw new Error('This call reads no balances');
}

/** @param {number} height */
function logs(height) {
  return Array.from({ length: transactions / 2 }, (_, index) => {
    const name = `${height} ${index * 2 + 1}`;
    return {
      address: token,
      topics: [transferTopic, topic(addressOf(`from ${name}`)), topic(addressOf(`to ${name}`))],
      data: topic(hex(index + 1)),
      blockHash: blockHash(height),
      blockNumber: hex(height),
      transactionHash: hashOf(name),
      transactionIndex: hex(index * 2 + 1),
      logIndex: hex(index),
      removed: false,
    };
  });
}

/** Answers are built once: the benchmark measures the scanner, not this node. @type {Map<string, string>} */
const made = new Map();

/** @param {string} method @param {any[]} parameters @returns {unknown} */
function answer(method, [first, second]) {
  switch (method) {
    case 'eth_chainId':
      return '0x1';
    case 'eth_call':
      // Without a contract, it is a call of code that reads balances: all of them are 0.
      return first.to === undefined ? balancesOf(first.data) : topic('0x6');
    case 'eth_getBlockByNumber': {
      if (first === 'finalized') return block(Math.max(0, head - 64), false);
      if (first === 'pending') return null;
      const height = first === 'latest' ? head : Number(first);
      return height > head ? null : block(height, second);
    }
    case 'eth_getLogs': {
      if (first.blockHash === undefined) {
        const [from, to] = [Number(first.fromBlock), Number(first.toBlock)];
        return Array.from({ length: to - from + 1 }, (_, index) => logs(from + index)).flat();
      }
      for (let height = head; height > 0; height -= 1)
        if (blockHash(height) === first.blockHash) return logs(height);
      return [];
    }
    default:
      return null;
  }
}

/** @param {{ id: unknown, method: string, params: unknown[] }} call */
function reply({ id, method, params }) {
  const key = `${method} ${JSON.stringify(params)} ${String(params[0]) === 'latest' || params[0] === 'finalized' ? head : ''}`;
  const result = made.get(key) ?? JSON.stringify(answer(method, params));
  made.set(key, result);
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(chunks).toString());
    response.setHeader('content-type', 'application/json');
    response.end(Array.isArray(body) ? `[${body.map(reply).join()}]` : reply(body));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  parentPort?.postMessage({ port: typeof address === 'object' && address ? address.port : 0 });
});
parentPort?.on('message', (/** @type {{ head: number }} */ message) => {
  head = message.head;
  // Before the block is requested, as on a real node.
  for (const params of [
    [hex(head), true],
    ['latest', false],
    ['finalized', false],
  ]) {
    reply({ id: 0, method: 'eth_getBlockByNumber', params });
  }
  const filter = { blockHash: blockHash(head), address: [token], topics: [transferTopic] };
  reply({ id: 0, method: 'eth_getLogs', params: [filter] });
  parentPort?.postMessage({ head });
});
