/** The prices that are written without Intl, for the tests that hold them against the Intl of each engine. */
import { prices as ar } from '../../src/messages/ar.js';
import { prices as es } from '../../src/messages/es.js';
import { prices as fr } from '../../src/messages/fr.js';
import { prices as ha } from '../../src/messages/ha.js';
import { prices as ig } from '../../src/messages/ig.js';
import { prices as pt } from '../../src/messages/pt.js';
import { prices as sw } from '../../src/messages/sw.js';
import { prices as yo } from '../../src/messages/yo.js';
import { prices as zh } from '../../src/messages/zh.js';
import { englishPrices } from '../../src/money/price.js';

export const styles = { ...englishPrices, ...ar, ...es, ...fr, ...ha, ...ig, ...pt, ...sw, ...yo, ...zh };
export const currencies = ['USD', 'NGN', 'EUR', 'GBP', 'GHS', 'KES', 'ZAR'];
export const amounts = [
  0,
  0.5,
  '7',
  49.9,
  '49.90',
  '049.900',
  999.99,
  1234.5,
  12345,
  1234567.891,
  '123456789012.345',
];
