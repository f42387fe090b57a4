/** Validates the parts of a new payment that the contract's schemas cannot check. */
import { localHosts } from '../shared/local-hosts.js';
import { invalidField } from '../shared/problem.js';
import type { Actor, Mode } from '../shared/scope.js';

/**
 * Reserves the references that billing generates: `sub_<subscriber id>_<cycle>`. Payers can read these references.
 * Without this check they could take those of future cycles, which then could not be charged.
 * Problem: `validation_error`.
 */
export function checkReference(txRef: string | undefined): string | undefined {
  if (txRef !== undefined && /^sub_[0-9A-HJKMNP-TV-Z]{26}_\d+$/.test(txRef)) {
    throw invalidField('txRef', 'Has a form reserved for subscription payments; choose another reference');
  }
  return txRef;
}

/**
 * Accepts an https URL or an empty string. In test mode it also accepts http on localhost, for development.
 * @param origins those that a public key, and a person in the console, may send payers to, as the merchant set them;
 * null if the merchant set none
 * @returns the URL, and whether the page may go there automatically. Anyone can have a public key, so without the
 * merchant's list its URL may lead anywhere: the page then shows the host and asks. Problem: `validation_error`.
 */
export function checkRedirect(
  text: string,
  { mode, kind, person }: Pick<Actor, 'mode' | 'kind' | 'person'>,
  origins: readonly string[] | null,
): { readonly url: string; readonly isTrusted: boolean } {
  const url = checkRedirectUrl(text, mode);
  // A stolen session must not lead payers elsewhere.
  if (kind === 'secret' && !person) return { url, isTrusted: true };
  if (url === '' || origins === null) return { url, isTrusted: false };
  if (!origins.includes(new URL(url).origin)) {
    throw invalidField('redirectUrl', "Must be on one of the merchant's redirect origins, or empty");
  }
  return { url, isTrusted: true };
}

const longestRedirectBytes = 2048;

/** Browsers read backslashes as slashes and leave out controls, so that a person reads another address than the one they open. */
// eslint-disable-next-line no-control-regex -- it is what this is about
const misread = /[\u0000-\u001f\u007f\\]/;

/** @returns the URL as browsers open it: in ASCII, with the host in lower case and in Punycode */
function checkRedirectUrl(text: string, mode: Mode): string {
  if (text === '') return '';
  const url = misread.test(text) ? null : URL.parse(text);
  if (!url) throw invalidField('redirectUrl', 'Must be an absolute https URL, or empty');
  if (url.username !== '' || url.password !== '') {
    throw invalidField('redirectUrl', 'Must not contain a user name or a password');
  }
  const isLocalTest = mode === 'test' && url.protocol === 'http:' && localHosts.has(url.hostname);
  if (url.protocol !== 'https:' && !isLocalTest) {
    throw invalidField('redirectUrl', 'Must be an absolute https URL, or empty');
  }
  // Each letter that is not ASCII takes up to twelve bytes there.
  if (url.href.length > longestRedirectBytes) {
    throw invalidField('redirectUrl', `Must be at most ${longestRedirectBytes} bytes as browsers write it`);
  }
  return url.href;
}
