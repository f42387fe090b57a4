/** Finds the wallets in the browser: each announces itself (EIP-6963); older ones only set `window.ethereum`. */
import type { Provider, Wallet } from './provider.js';

const maxWallets = 12;
const maxNameLength = 40;
/** Icons are a few kilobytes. A page with twelve huge ones would be slow. */
const maxIconLength = 200_000;

/**
 * Keeps the list of wallets up to date until the signal aborts. Wallets that announce themselves late are added.
 *
 * @param onChange called with the whole list whenever it changes
 * @see https://eips.ethereum.org/EIPS/eip-6963
 */
export function discoverWallets(onChange: (wallets: readonly Wallet[]) => void, signal: AbortSignal): void {
  const announced = new Map<string, Wallet>();
  addEventListener(
    'eip6963:announceProvider',
    (event) => {
      const wallet = readAnnouncement(event);
      // A second announcement of the same wallet must not replace the provider that the payer saw under its name.
      if (!wallet || announced.has(wallet.id) || announced.size >= maxWallets) return;
      announced.set(wallet.id, wallet);
      onChange([...announced.values()]);
    },
    { signal },
  );
  // Wallets answer synchronously, within this call.
  dispatchEvent(new Event('eip6963:requestProvider'));
  if (announced.size > 0) return;
  const provider: unknown = Reflect.get(window, 'ethereum');
  if (isProvider(provider)) onChange([{ id: 'window.ethereum', name: '', icon: undefined, provider }]);
}

function readAnnouncement(event: Event): Wallet | undefined {
  try {
    const { info, provider } = (event as CustomEvent<Announcement>).detail;
    const { uuid, name, icon } = info;
    if (typeof uuid !== 'string' || typeof name !== 'string' || !isProvider(provider)) return undefined;
    const shown = name.replace(/\p{C}/gu, '').trim().slice(0, maxNameLength);
    return { id: uuid, name: shown, icon: readIcon(icon), provider };
  } catch {
    return undefined;
  }
}

interface Announcement {
  readonly info: { readonly uuid: unknown; readonly name: unknown; readonly icon: unknown };
  readonly provider: unknown;
}

function readIcon(icon: unknown): string | undefined {
  return typeof icon === 'string' && icon.length <= maxIconLength && /^data:image\/[a-z+.-]+[;,]/i.test(icon)
    ? icon
    : undefined;
}

function isProvider(value: unknown): value is Provider {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'request') === 'function';
}
