/** The claim's token, after `#` in the link. */

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
    store(given);
    return given;
  }
  try {
    return sessionStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

function store(token: string): void {
  try {
    sessionStorage.setItem(name, token);
  } catch {
    // Storage is forbidden: a reload then needs the link again.
  }
}
