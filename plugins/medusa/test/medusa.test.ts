/** Purchases in a real Medusa on PostgreSQL, paid at the real payment server on its simulated networks. */
import { afterAll, beforeAll, describe } from 'vitest';
import { attacks } from './scenarios/attacks.js';
import { carts } from './scenarios/carts.js';
import { failures } from './scenarios/failures.js';
import { money } from './scenarios/money.js';
import { startStage, type Stage } from './support/stage.js';

let stage: Stage | undefined;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.close());

const started = (): Stage => {
  if (stage === undefined) throw new Error('Medusa did not start');
  return stage;
};

describe('money', () => money(started));
describe('a cart', () => carts(started));
describe('somebody who has not paid', () => attacks(started));
// The last: these start the servers again.
describe('a failure', () => failures(started));
