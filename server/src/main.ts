/** The entry of the server: checks the version of Node.js before it loads anything that an older one cannot. */
import { isNodeTooOld } from './node-version.js';

if (!isNodeTooOld()) {
  const { main } = await import('./start.js');
  await main(process.argv.slice(2));
}
