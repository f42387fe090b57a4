/** Leaves out one module at a time. The long tests leave out several, which shows the same in half as many builds. */
import { describe } from 'vitest';
import { modules } from '../../src/modules.js';
import { goingWith, testCuts } from './without-modules.js';

describe('The product', () => {
  testCuts(modules.map(({ name }) => goingWith(name)));
});
