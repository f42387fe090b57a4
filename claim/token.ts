/** The claim's token, after `#` in the link. */
import { loadForTab, storeForTab } from '../src/platform.js';

const name = 'refund-claim';

/**
 * Takes the token out of the address, so that it is not on a screen that is shared or photographed. The tab keeps it
 * for a reload. Browsers still keep the visited address in their history, so the server lets each link give an address
 * once.
 *
 * @returns undefined if neither the address nor the tab has one
 */
export function takeToken(): string | undefined {
  const given = location.hash.slice(1);
  if (given !== '') {
    history.replaceState(history.state, '', location.pathname + location.search);
    // Without storage, a reload needs the link again.
    storeForTab(name, given);
    return given;
  }
  return loadForTab(name);
}
