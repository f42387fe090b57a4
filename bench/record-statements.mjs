/** Records the statements that a request sends to PostgreSQL, and which of them travel together, by a proxy in front of it. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * @typedef {object} Statement
 * @property {string} text
 * @property {(string | null)[]} values
 */
/**
 * On one connection: a transaction, or one statement outside. The statements of a flight are sent without waiting for an answer.
 * @typedef {Statement[][]} Unit
 */

/**
 * @param {string} databaseUrl of a PostgreSQL
 * @param {(() => Promise<void>)[]} stops
 */
export async function recordStatements(databaseUrl, stops) {
  const url = new URL(databaseUrl);
  const [port, host] = [Number(url.port || 5432), url.hostname];
  /** @type {Unit[]} */
  let units = [];
  const proxy = createServer((near) => {
    const far = connect(port, host);
    const read = flightsOf();
    /** @type {Unit | undefined} */
    let transaction;
    near.on('data', (bytes) => {
      for (const flight of read(bytes)) {
        if (flight[0]?.text.startsWith('begin')) transaction = [];
        if (transaction) transaction.push(flight);
        else units.push([flight]);
        if (!transaction || !/^(commit|rollback)$/.test(flight.at(-1)?.text ?? '')) continue;
        units.push(transaction);
        transaction = undefined;
      }
      far.write(bytes);
    });
    far.on('data', (bytes) => near.write(bytes));
    for (const [one, other] of /** @type {const} */ ([
      [near, far],
      [far, near],
    ])) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  stops.push(async () => void proxy.close());
  const address = proxy.address();
  const local = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  return {
    url: Object.assign(new URL(url), { host: local }).href,
    /** All units so far. @throws if a statement was prepared before the recording */
    all() {
      if (units.flat(2).some(({ text }) => text === '')) throw new Error('A statement has no text');
      return units;
    },
    /** The units since the last call that have this text among their values: not those of jobs. @param {string} text */
    take(text) {
      const found = units.filter((unit) =>
        unit.flat().some(({ values }) => values.some((value) => value?.includes(text))),
      );
      units = [];
      return found;
    },
  };
}

/**
 * Reads the messages of a client in the extended protocol. A flight ends with its Sync.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 * @returns {(bytes: Buffer) => Statement[][]}
 */
function flightsOf() {
  /** @type {Map<string, string>} */
  const prepared = new Map();
  let rest = Buffer.alloc(0);
  let isStarted = false;
  /** @type {Statement[]} */
  let flight = [];
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    /** @type {Statement[][]} */
    const flights = [];
    for (;;) {
      // The first message has no type.
      const start = isStarted ? 1 : 0;
      if (rest.length < start + 4 || rest.length < start + rest.readInt32BE(start)) return flights;
      const end = start + rest.readInt32BE(start);
      const [type, message] = [rest.toString('latin1', 0, start), rest.subarray(start + 4, end)];
      rest = rest.subarray(end);
      isStarted = true;
      const [first, second] = message.toString('utf8').split('\0');
      if (type === 'P') prepared.set(first ?? '', second ?? '');
      if (type === 'B') flight.push({ text: prepared.get(second ?? '') ?? '', values: valuesOf(message) });
      if (type !== 'S') continue;
      flights.push(flight);
      flight = [];
    }
  };
}

/** @param {Buffer} bind @returns {(string | null)[]} */
function valuesOf(bind) {
  let at = bind.indexOf(0, bind.indexOf(0) + 1) + 1;
  const formats = bind.readInt16BE(at);
  at += 2 + 2 * formats;
  const count = bind.readInt16BE(at);
  at += 2;
  return Array.from({ length: count }, () => {
    const length = bind.readInt32BE(at);
    at += 4;
    if (length < 0) return null;
    at += length;
    return bind.toString('utf8', at - length, at);
  });
}
