/**
 * The number of rounds of tests with random timing or random input: few in `npm test` and `npm run test:long`, and many
 * in `npm run soak`, which sets `SOAK`. It runs every test file that imports this module.
 */
import { env, stderr } from 'node:process';

const soak = readSoak(env['SOAK']);

export interface Rounds {
  /** In `npm test`, or in `npm run test:long` if the file is a long one. */
  readonly usual: number;
  /** In a soak with `SOAK=1`; `SOAK=5` runs five times as many. */
  readonly soak: number;
}

export function roundsOf(rounds: Rounds): number {
  return soak === undefined ? rounds.usual : rounds.soak * soak;
}

/** The seeds of random histories: 1, 2, … or those of `SOAK_SEED`: the one that a failure has printed, or a range such as 1-99. */
export function seedsOf(count: number): readonly number[] {
  const [first = 1, last = first] = (env['SOAK_SEED'] || `1-${count}`).split('-').map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** True if only one history is run, and printed. */
export const isAlone = /^\d+$/.test(env['SOAK_SEED'] ?? '');

/** In a soak, prints that a round starts. Vitest would show nothing until the whole test has ended. */
export function startRound(title: string, round: number, rounds: number): void {
  if (soak !== undefined) stderr.write(`${title}: round ${round + 1} of ${rounds}\n`);
}

function readSoak(text = ''): number | undefined {
  if (text === '') return undefined;
  const times = Number(text);
  if (!Number.isInteger(times) || times < 1)
    throw new Error(`SOAK must be a positive integer, not "${text}"`);
  return times;
}
