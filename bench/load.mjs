/** Sends the requests of one scenario as fast as they are answered, and measures them. */
import autocannon from 'autocannon';

/**
 * One request of a scenario. The first step takes its payment from `paymentIds`, unless it creates one.
 * @typedef {object} Step
 * @property {string} method
 * @property {(paymentId: string) => string} path
 * @property {string} [body] JSON
 * @property {boolean} [makesPayment] the request creates the payment for the steps after it
 */

/**
 * @typedef {object} Load
 * @property {string} url
 * @property {string} key
 * @property {Step[]} steps every connection runs them in this order, again and again
 * @property {number} count how many times all steps are run; a multiple of `connections`
 * @property {number} connections
 * @property {readonly string[]} [paymentIds] at least `count` payments; each is used once
 */

/**
 * @typedef {object} Measurement
 * @property {number} perSecond runs of all steps per second
 * @property {number} p95Ms 95th percentile of the time of one run of all steps
 * @property {string[]} paymentIds the payments that were used
 */

/**
 * @param {Load} load
 * @returns {Promise<Measurement>}
 * @throws if any request failed: the time of a failure says nothing
 */
export async function measure({ url, key, steps, count, connections, paymentIds: pool = [] }) {
  /** @type {string[]} */
  const paymentIds = [];
  let taken = 0;
  const requests = steps.map(({ method, path, body, makesPayment }, index) => {
    /** @type {import('autocannon').Request} */
    const request = {
      method,
      ...(body !== undefined && { body }),
      setupRequest: (request, context) => {
        if (index === 0 && !makesPayment) {
          context.id = pool[taken++] ?? 'none-left';
          paymentIds.push(context.id);
        }
        return { ...request, path: path(context.id ?? 'none-made') };
      },
    };
    if (makesPayment) {
      request.onResponse = (_status, text, context) => {
        context.id = /"id":"([^"]+)"/.exec(text)?.[1] ?? 'none-made';
        paymentIds.push(context.id);
      };
    }
    return request;
  });

  const started = performance.now();
  let ended = started;
  /** @type {number[]} */
  const durations = [];
  /** @type {Map<object, number[]>} */
  const unfinished = new Map();
  const run = autocannon({
    url,
    connections,
    amount: count * steps.length,
    sampleInt: 20,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    requests,
  });
  run.on('response', (client, _status, _bytes, milliseconds) => {
    ended = performance.now();
    const parts = [...(unfinished.get(client) ?? []), milliseconds];
    if (parts.length < steps.length) return void unfinished.set(client, parts);
    unfinished.delete(client);
    durations.push(parts.reduce((sum, part) => sum + part, 0));
  });
  const { errors, timeouts, statusCodeStats } = await run;

  const statuses = Object.keys(statusCodeStats).join(', ');
  if (errors > 0 || timeouts > 0 || statuses !== '200' || durations.length !== count) {
    throw new Error(`${url}: HTTP ${statuses || 'none'}, ${errors} errors, ${timeouts} timeouts`);
  }
  return {
    perSecond: (count * 1000) / (ended - started),
    p95Ms: percentile(durations, 0.95),
    paymentIds,
  };
}

/**
 * @param {readonly number[]} values
 * @param {number} share 0 to 1
 * @returns {number} the smallest value that is greater than or equal to this share of the values
 */
export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** @param {readonly number[]} values */
export const median = (values) => percentile(values, 0.5);

/**
 * @template {string} Field
 * @param {readonly Readonly<Record<Field, number>>[]} rows
 * @param {Field} field
 */
export const medianOf = (rows, field) => median(rows.map((row) => row[field]));
