/** A reporter for vitest that writes the counts, the failed tests with their differences, and the time of each file, for `npm test`. */
import { writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { env } from 'node:process';

const root = resolve(import.meta.dirname, '..');

/** @typedef {import('vitest/node').TestModule} TestModule */
/** @typedef {{ message: string, stack?: string | undefined, diff?: string | undefined }} Failure */

/** @param {readonly Failure[]} errors */
const textOf = (errors) =>
  errors.map(({ message, stack, diff }) => [stack ?? message, ...(diff ? [diff] : [])].join('\n')).join('\n');

export default class {
  /** @param {readonly TestModule[]} modules @param {readonly Failure[]} unhandled */
  onTestRunEnd(modules, unhandled) {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    /** @type {string[]} */
    const failures = unhandled.map((error) => textOf([error]));
    /** @type {string[]} */
    const repeated = [];
    /** @type {Record<string, number>} */
    const seconds = {};
    for (const module of modules) {
      const file = relative(root, module.moduleId);
      const { collectDuration, setupDuration, duration } = module.diagnostic();
      seconds[file] = (collectDuration + setupDuration + duration) / 1000;
      // Error of a file that does not load, or of a hook.
      const own = [module, ...module.children.allSuites()].flatMap((part) => part.errors());
      if (own.length > 0) failures.push(`${file}\n${textOf(own)}`);
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (test.diagnostic()?.flaky) repeated.push(`${file}: ${test.fullName}\n${textOf(errors ?? [])}`);
        if (state === 'passed') counts.passed += 1;
        else if (state === 'failed') failures.push(`${file}: ${test.fullName}\n${textOf(errors)}`);
        else counts.skipped += 1;
      }
    }
    const report = { ...counts, failed: failures.length, failures, repeated, seconds };
    writeFileSync(env.TEST_COUNTS ?? '', JSON.stringify(report));
  }
}
