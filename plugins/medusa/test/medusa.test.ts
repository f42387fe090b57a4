/** Purchases in a real Medusa on PostgreSQL, paid at the real payment server on its simulated networks. */
import { afterAll, beforeAll, describe } from 'vitest';
import { afterPayment } from './scenarios/after-payment.js';
import { attacks } from './scenarios/attacks.js';
import { carts } from './scenarios/carts.js';
import { failures } from './scenarios/failures.js';
import { money } from './scenarios/money.js';
import { provider } from './scenarios/provider.js';
import { storefront } from './scenarios/storefront.js';
import { freePort } from './support/processes.js';
import { startStage, type Stage } from './support/stage.js';

let stage: Stage | undefined;
let storefrontPort = 0;
beforeAll(async () => {
  storefrontPort = await freePort();
  stage = await startStage(`http://127.0.0.1:${storefrontPort}`);
});
afterAll(() => stage?.close());

const started = (): Stage => {
  if (stage === undefined) throw new Error('Medusa did not start');
  return stage;
};

describe('money', () => money(started));
describe('an order', () => afterPayment(started));
describe('a cart', () => carts(started));
describe('the provider', () => provider(started));
describe('the storefront', () => storefront(started, () => storefrontPort));
describe('somebody who has not paid', () => attacks(started));
// The last: these start the servers again.
describe('a failure', () => failures(started));
