/**
 * Refuses a Node.js that cannot run this program. It must itself run on every Node.js with ES modules, so it imports
 * nothing, and the entries load everything else only afterwards.
 */

/** As in package.json's `engines`. */
const minimum = [20, 19] as const;

/** Prints one sentence and sets the exit code if this Node.js is too old. */
export function isNodeTooOld(version: string = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isTooOld = major < minimum[0] || (major === minimum[0] && minor < minimum[1]);
  if (isTooOld) {
    process.stderr.write(
      `Node.js ${version} is too old: crypto-checkout-server needs ${minimum.join('.')} or later\n`,
    );
    process.exitCode = 1;
  }
  return isTooOld;
}
