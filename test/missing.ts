/** Says which tests are skipped because this machine lacks something, and why. With `CI=true`, nothing may be skipped. */
import { appendFileSync } from 'node:fs';

/**
 * `npm test` repeats the sentence at its end.
 * @param tests such as `The tests on PostgreSQL`
 * @throws with `CI=true`
 */
export function reportSkipped(tests: string, reason: string): void {
  const message = `${tests} are skipped: ${reason}`;
  if (process.env['CI'] === 'true') throw new Error(message);
  console.warn(`\n${message}\n`);
  if (process.env['TEST_MISSING']) appendFileSync(process.env['TEST_MISSING'], `${message}\n`);
}
