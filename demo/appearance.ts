/** The Appearance page: a merchant tries colours, radius and font on the checkout, and copies the CSS for their page. */
import { answerFromFixtures } from './fixture-server.js';
import { galleryStates } from './gallery-states.js';

const shown = ['idle', 'choosing-network', 'awaiting-funds', 'success'];

const controls = requireElement('controls', HTMLFormElement);
const css = requireElement('css', HTMLElement);
const preview = requireElement('preview', HTMLElement);
const copied = requireElement('copied', HTMLElement);

function requireElement<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no element #${id}`);
  return found;
}

function tokens(): [string, string][] {
  const data = new FormData(controls);
  const text = (name: string) => {
    const value = data.get(name);
    return typeof value === 'string' ? value : '';
  };
  return [
    ['--checkout-accent', text('accent')],
    ['--checkout-background', text('background')],
    ['--checkout-radius', `${text('radius')}px`],
    ['--checkout-font', text('font')],
  ];
}

function apply(): void {
  const lines = tokens();
  for (const [name, value] of lines) preview.style.setProperty(name, value);
  css.textContent = `crypto-checkout {\n${lines.map(([name, value]) => `  ${name}: ${value};`).join('\n')}\n}`;
  copied.textContent = '';
}

async function copy(): Promise<void> {
  try {
    await navigator.clipboard.writeText(css.textContent);
    copied.textContent = 'Copied.';
  } catch {
    copied.textContent = 'Copying is blocked here. Select the text instead.';
  }
}

const states = answerFromFixtures(galleryStates.filter(({ name }) => shown.includes(name)));
for (const [key, { payment, attributes }] of states) {
  const element = document.createElement('crypto-checkout');
  const order = payment ? { 'payment-id': payment.id } : { amount: '49.90', 'base-currency': 'USD' };
  const all = {
    'public-key': `pk_test_${key}`,
    'api-url': location.origin,
    'merchant-name': 'Your shop',
    theme: 'light',
    ...order,
    ...attributes,
  };
  for (const [name, value] of Object.entries(all)) element.setAttribute(name, value);
  element.className = 'cell';
  preview.append(element);
}
controls.addEventListener('input', apply);
document.getElementById('copy')?.addEventListener('click', () => void copy());
apply();
