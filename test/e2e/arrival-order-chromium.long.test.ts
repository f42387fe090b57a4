/** The widget's chunks in every order, in Chromium. */
import { testArrivalOrders } from './arrival-order.js';
import { openChromium } from './payer.js';
import { useStage } from './stage.js';

const stage = useStage();

testArrivalOrders(stage, () => openChromium(stage));
