/** Random histories, as many as a soak asks for. */
import { roundsOf } from '../support/rounds.js';
import { testHistories } from './histories.js';

testHistories(roundsOf({ usual: 40, soak: 500 }));
