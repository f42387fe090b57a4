/**
 * A private key or the words of a wallet in a field for something else: they are neither sent nor kept in the address.
 */
import { secretIn } from '../../src/contract/secret-text.js';
import { common } from '../messages/common.js';

/** Empties a field that holds a secret, and shows a message there. @returns true if it did @returns true if it did */
export function refuseSecret(input: HTMLInputElement, asks: 'key' | 'hash'): boolean {
  if (!secretIn(input.value, asks)) return false;
  input.value = '';
  input.setCustomValidity(common.secret);
  input.addEventListener('input', () => input.setCustomValidity(''), { once: true });
  input.reportValidity();
  return true;
}
