/** The page of a refund: secrets that a payer pastes by mistake are neither sent nor kept, and only the server ends a link. */
import { expect } from '@open-wc/testing';
import '../claim/refund-claim.js';
import { refundClaims } from '../src/contract/refunds.js';
import { waitFor } from './support/element.js';

const words = 'abandon ability able about above absent absorb abstract absurd abuse access accident';
const claim = refundClaims.retrieve.sample.data;

let sent: string[];
let answer: () => Response;
const realFetch = globalThis.fetch;
beforeEach(() => {
  sent = [];
  answer = () => Response.json({ status: 'success', message: '', data: claim });
  globalThis.fetch = (input, init) => {
    sent.push(
      `${input instanceof Request ? input.url : String(input)} ${typeof init?.body === 'string' ? init.body : ''}`,
    );
    return Promise.resolve(answer());
  };
});
afterEach(() => {
  globalThis.fetch = realFetch;
  document.body.replaceChildren();
});

function open(texts: Readonly<Record<string, string>>): HTMLElement {
  history.replaceState(null, '', '#rc_0123456789012345678901234567890123456789012');
  const element = document.createElement('refund-claim');
  element.setAttribute('texts', JSON.stringify(texts));
  element.setAttribute('api-url', location.origin);
  document.body.append(element);
  return element;
}

for (const [status, code, shown] of [
  [403, undefined, 'No connection'],
  [408, undefined, 'No connection'],
  [413, 'payload_too_large', 'No connection'],
  [400, 'validation_error', 'Refused: too long'],
  [404, 'not_found', 'This link is dead'],
] as const) {
  it(`an answer of ${status} ${code ?? 'without the server’s code'} says “${shown}”`, async () => {
    answer = () =>
      Response.json({ status: 'error', message: ': too long', data: code && { code } }, { status });
    const element = open({ goneHeading: 'This link is dead', offline: 'No connection', refused: 'Refused' });
    const text = () => (element.shadowRoot?.textContent ?? '').replaceAll(/\s+/g, ' ').replace(' : ', ': ');
    await waitFor(() => text().includes(shown));
    expect(text().includes('dead')).to.equal(code === 'not_found');
  });
}

for (const [name, secret] of [
  ['the words of a wallet', words],
  ['a raw private key', 'ab'.repeat(32)],
  ['a raw private key with 0x', `0x${'ab'.repeat(32)}`],
  ['a private key as Bitcoin wallets write it', 'KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn'],
  ['a keystore', '{"version":3,"crypto":{"ciphertext":"00"}}'],
] as const) {
  it(`${name} in the place of the address is refused at once, and the field is emptied`, async () => {
    const element = open({ secret: 'That is a secret', wrongAddress: 'Not an address' });
    const field = () => element.shadowRoot?.querySelector<HTMLInputElement>('#address');
    await waitFor(() => field() !== null && field() !== undefined);
    const input = field();
    if (!input) throw new Error('There is no field');
    const before = sent.length;
    input.value = secret;
    input.form?.requestSubmit();
    await waitFor(() => element.shadowRoot?.textContent.includes('That is a secret') === true);
    expect(field()?.value).to.equal('');
    expect(sent.slice(before)).to.deep.equal([]);
    expect(sent.join()).not.to.contain(secret);
  });
}
