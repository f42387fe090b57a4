/**
 * Measures the time from a block that the node reported to the server to the webhooks of the payments in it, with anvil
 * as the node.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { HDKey } from '@scure/bip32';
import { spawnAnvil } from '../scripts/anvil.mjs';
import { startApiServer } from '../scripts/api-server.mjs';
import { createDatabase } from './create-database.mjs';
import { percentile } from './load.mjs';

const aimMs = 500;
const rounds = 15;
const paymentsPerRound = 5;
const cli = fileURLToPath(new URL('../server/dist/cli.js', import.meta.url));
const run = promisify(execFile);

/**
 * @param {string} engine
 * @param {string} directory
 * @param {(() => Promise<void>)[]} stops
 */
export async function measureWebhooks(engine, directory, stops) {
  const { url: anvilUrl, stop } = await spawnAnvil();
  stops.push(stop);
  const node = await startProxy(anvilUrl, stops);
  const hooks = await startReceiver(stops);
  const networksFile = join(directory, 'networks.json');
  writeFileSync(
    networksFile,
    JSON.stringify({ networks: { 'evm-dev': { nodes: [node.url], confirmations: 1 } } }),
  );
  const databaseUrl = await createDatabase(engine, directory, stops);
  const server = await startApiServer({ databaseUrl, env: { NETWORKS_FILE: networksFile } });
  stops.push(server.stop);
  /** @param {string[]} args */
  const command = async (...args) => {
    const env = { ...process.env, DATABASE_URL: databaseUrl };
    return JSON.parse((await run(process.execPath, [cli, ...args, '--json'], { env })).stdout);
  };
  const [{ id: merchantId }] = await command('merchants', 'list');
  await command('merchants', 'update', merchantId, '--webhook-url', hooks.url);
  const { publicExtendedKey } = HDKey.fromMasterSeed(new Uint8Array(32).fill(5)).derive("m/44'/60'/0'");
  await command(
    ...['deposit-keys', 'set', '--merchant', merchantId, '--mode', 'test', '--family', 'evm'],
    ...['--xpub', publicExtendedKey, '--yes'],
  );
  const [sender] = await rpc(anvilUrl, 'eth_accounts', []);
  await rpc(anvilUrl, 'evm_setAutomine', [false]);

  /** @param {string} method @param {string} path @param {object} [body] */
  const ask = async (method, path, body) => {
    const response = await fetch(server.url + path, {
      method,
      headers: { Authorization: `Bearer ${server.secretKey}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { data, message } = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${message}`);
    return data;
  };
  // The server reads keys set by the command within a second.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  /** @type {number[]} */
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    /** @type {string[]} */
    const ids = [];
    for (let count = 0; count < paymentsPerRound; count += 1) {
      const { payment } = await ask('POST', '/v1/payments/checkout', { amount: 10, baseCurrency: 'USD' });
      await ask('PATCH', `/v1/payments/${payment.id}/currency/set/ETH/evm-dev`);
      const { amount, addressInformation } = await ask('PATCH', `/v1/payments/${payment.id}/currency/lock`);
      const value = `0x${(BigInt(Math.round(amount * 1e8)) * 10n ** 10n).toString(16)}`;
      await rpc(anvilUrl, 'eth_sendTransaction', [{ from: sender, to: addressInformation.address, value }]);
      ids.push(payment.id);
    }
    await rpc(anvilUrl, 'evm_mine', []);
    const height = Number(await rpc(anvilUrl, 'eth_blockNumber', []));
    await hooks.until(ids);
    const seenAt = node.seenAt(height);
    for (const id of ids) times.push((hooks.arrivedAt(id) ?? Infinity) - (seenAt ?? 0));
  }
  console.log(
    `${engine}: from a block to the webhooks of its ${paymentsPerRound} payments ${percentile(times, 0.5).toFixed(0)} ms, p95 ${percentile(times, 0.95).toFixed(0)} ms (aim: at most ${aimMs})`,
  );
}

/**
 * Forwards everything to the node, and notes when it first reported each block. @param {string} target @param {(() =>
 * Promise<void>)[]} stops
 */
async function startProxy(target, stops) {
  /** @type {Map<number, number>} */
  const seen = new Map();
  const url = await listen(stops, async (body) => {
    const response = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const text = await response.text();
    const now = Date.now();
    const asked = JSON.parse(body);
    for (const { method, params } of Array.isArray(asked) ? asked : [asked]) {
      if (method !== 'eth_getBlockByNumber' || params[1] !== true) continue;
      const height = Number(params[0]);
      if (!seen.has(height)) seen.set(height, now);
    }
    return text;
  });
  return { url, seenAt: (/** @type {number} */ height) => seen.get(height) };
}

/** @param {(() => Promise<void>)[]} stops */
async function startReceiver(stops) {
  /** @type {Map<string, number>} */
  const arrived = new Map();
  const url = await listen(stops, async (body) => {
    const { type, data } = JSON.parse(body);
    if (type === 'payment.success' && !arrived.has(data.id)) arrived.set(data.id, Date.now());
    return '{}';
  });
  return {
    url,
    arrivedAt: (/** @type {string} */ id) => arrived.get(id),
    async until(/** @type {string[]} */ ids) {
      for (const deadline = Date.now() + 60_000; !ids.every((id) => arrived.has(id));) {
        if (Date.now() > deadline) throw new Error('The webhooks did not arrive within 60 s');
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    },
  };
}

/** @param {(() => Promise<void>)[]} stops @param {(body: string) => Promise<string>} answer */
async function listen(stops, answer) {
  const server = createServer(async (request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = await answer(Buffer.concat(chunks).toString()).catch(() => undefined);
    response.writeHead(text === undefined ? 502 : 200, { 'content-type': 'application/json' }).end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`;
}

/** @param {string} url @param {string} method @param {unknown[]} params */
async function rpc(url, method, params) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = await response.json();
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}
