/** The state gallery: every state of the checkout side by side, in the look named by the address. */
import type { CryptoCheckout } from 'crypto-checkout';
import { answerFromFixtures } from './fixture-server.js';
import { galleryStates, type GalleryState } from './gallery-states.js';

/** Looks by name, with their query strings. */
const looks: Readonly<Record<string, string>> = {
  Light: 'theme=light',
  Dark: 'theme=dark',
  '320 px': 'theme=light&width=320',
  'Two columns': 'theme=light&width=720',
  'Two columns, dark': 'theme=dark&width=720',
  'Pseudo-language': 'theme=light&lang=ar-XB',
  'Pseudo-language, 320 px': 'theme=light&width=320&lang=ar-XB',
  'Arabic, 320 px': 'theme=light&width=320&lang=ar',
  'Arabic, two columns': 'theme=light&width=720&lang=ar',
  'Text spacing': 'theme=light&spacing=wide',
  'Broken logo': 'theme=light&logo=broken',
  'Yellow accent': 'theme=light&accent=yellow',
  Cream: 'theme=light&accent=cream',
};

const query = new URLSearchParams(location.search);
const root = document.documentElement;
for (const name of ['theme', 'width', 'accent', 'spacing']) {
  const value = query.get(name);
  if (value !== null) root.dataset[name] = value;
}
// The pseudo-language is English, longer by 40 %, from right to left.
root.lang = query.get('lang') ?? 'en';
root.dir = root.lang.startsWith('ar') ? 'rtl' : 'ltr';

const states = answerFromFixtures(galleryStates);

function cell(state: GalleryState, key: string): HTMLElement {
  const section = document.createElement('section');
  section.className = 'cell';
  section.dataset['state'] = state.name;
  const heading = document.createElement('h2');
  heading.textContent = state.name;
  const element = document.createElement('crypto-checkout');
  const order = state.payment
    ? { 'payment-id': state.payment.id }
    : { amount: '49.90', 'base-currency': 'USD', 'tx-ref': 'order-42' };
  const attributes = {
    'public-key': `pk_test_${key}`,
    'api-url': location.origin,
    'merchant-name': 'Nightjar Lanterns',
    ...(query.get('logo') === 'broken' && { 'merchant-logo': 'https://broken.invalid/logo.png' }),
    ...order,
    ...state.attributes,
  };
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.setAttribute('theme', query.get('theme') ?? 'auto');
  element.lineItems = [{ name: 'Nightjar lantern', quantity: 2, amount: '49.90' }];
  section.append(heading, element);
  if (state.trouble?.create) void startWhenReady(element);
  if (state.trouble?.verify) void refreshWhenReady(element);
  if (state.transfer) void checkTransfer(element);
  return section;
}

/** Opens the check of a transfer, and submits it. */
async function checkTransfer(element: CryptoCheckout): Promise<void> {
  const part = async (selector: string): Promise<HTMLElement> => {
    const found = element.shadowRoot?.querySelector<HTMLElement>(selector);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
    return part(selector);
  };
  (await part('[part="transfer-check"] summary')).click();
  const field = await part('[part="transfer-hash"]');
  if (field instanceof HTMLInputElement) field.value = 'ab'.repeat(32);
  field.dispatchEvent(new InputEvent('input'));
  (await part('[part="check-transfer"]')).click();
}

async function startWhenReady(element: CryptoCheckout): Promise<void> {
  await customElements.whenDefined('crypto-checkout');
  await element.start();
}

async function refreshWhenReady(element: CryptoCheckout): Promise<void> {
  while (element.status !== 'awaiting-funds') await new Promise((resolve) => setTimeout(resolve, 50));
  await element.refresh();
}

const nav = document.getElementById('looks');
for (const [name, search] of Object.entries(looks)) {
  const link = document.createElement('a');
  link.href = `?${search}`;
  link.textContent = name;
  nav?.append(link);
}
// Nothing of an earlier visit may change a cell.
for (const name of Object.keys(localStorage)) if (name.includes('gallery')) localStorage.removeItem(name);
document.getElementById('gallery')?.append(...[...states].map(([key, state]) => cell(state, key)));
