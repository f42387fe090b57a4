/** The widget's chunks in every order, in WebKit. */
import { describe, inject } from 'vitest';
import { testArrivalOrders } from './arrival-order.js';
import { openWebkit } from './payer.js';
import { useStage } from './stage.js';

const stage = useStage();

describe.skipIf(inject('webkitPrograms') === undefined)('in WebKit', () => {
  testArrivalOrders(stage, openWebkit);
});
