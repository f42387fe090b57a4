/** The entry of the server: checks the version of Node.js before it loads anything that an older one cannot. */
import { isNodeTooOld } from './node-version.js';

// Without a top-level await, which the oldest versions with modules cannot parse.
if (!isNodeTooOld()) void import('./start.js').then(({ main }) => main(process.argv.slice(2)));
