/** The plug-in in a real Vendure shop with a real crypto-checkout server: one of each for all tests, since a shop starts slowly. */
import { describe } from 'vitest';
import { testAttempts } from './attempts.js';
import { testBrowser } from './browser.js';
import { testFailures } from './failures.js';
import { testLateEvents } from './late-events.js';
import { testPurchases } from './purchases.js';
import { useShop } from './stage.js';

const stage = useShop();

describe('purchases', () => testPurchases(stage));
describe('further attempts', () => testAttempts(stage));
describe('late events', () => testLateEvents(stage));
describe('in a browser', () => testBrowser(stage));
describe('failures and attacks', () => testFailures(stage));
