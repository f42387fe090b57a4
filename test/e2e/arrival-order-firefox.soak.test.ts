/** The widget's chunks in every order, in Firefox. */
import { describe, inject } from 'vitest';
import { testArrivalOrders } from './arrival-order.js';
import { openFirefox } from './payer.js';
import { useStage } from './stage.js';

const stage = useStage();

describe.skipIf(inject('firefoxPath') === undefined)('in Firefox', () => {
  testArrivalOrders(stage, () => openFirefox());
});
