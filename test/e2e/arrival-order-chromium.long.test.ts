/** The widget's chunks in every order, in Chromium; a soak has it in Firefox and WebKit, and `late-code.e2e.soak.test.ts` late ones in each. */
import { testArrivalOrders } from './arrival-order.js';
import { openChromium } from './payer.js';
import { useStage } from './stage.js';

const stage = useStage();

testArrivalOrders(stage, () => openChromium(stage));
