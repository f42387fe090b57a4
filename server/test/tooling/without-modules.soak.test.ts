/** Each module can be left out. */
import { describe } from 'vitest';
import { testEachCut } from './without-modules.js';

describe('The product', testEachCut);
