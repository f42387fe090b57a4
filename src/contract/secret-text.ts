/**
 * Recognizes wallets' secrets by their format, in fields for an address, a key or a hash: a secret pasted into the
 * wrong field must be neither sent nor stored.
 */

export type Secret = 'seed_words' | 'private_key' | 'extended_private_key' | 'keystore';

/** Longer texts are files, and a pasted secret is near their beginning. */
const longest = 20_000;
/**
 * BIP-32's private keys, and those that SLIP-132 registers. Not within other letters and digits: one public key of some ten
 * thousand has these letters in its middle.
 */
const extendedPrivateKey = /(?:^|[^1-9A-HJ-NP-Za-km-z])(?:[xyztuvYZUV]prv|[LMt]tpv)[1-9A-HJ-NP-Za-km-z]{40}/;
/**
 * The wallet import format of Bitcoin and Litecoin, and BIP-38's. Addresses and hashes are shorter, so a mistyped one
 * is found too.
 */
const importFormat =
  /(?:^|[^0-9A-Za-z])(?:[5KL9cT6][1-9A-HJ-NP-Za-km-z]{50,51}|6P[1-9A-HJ-NP-Za-km-z]{56})(?![0-9A-Za-z])/;
/** A file of Ethereum's (V3) or of another wallet, with its encrypted key. */
const keystore = /"(?:ciphertext|kdfparams)"\s{0,9}:/i;
const fewestWords = 12;

/** @param use the place where the text was given. 64 hexadecimal digits can be a private key or a transaction's hash */
export function secretIn(text: string, use: 'key' | 'hash'): Secret | undefined {
  const start = text.slice(0, longest).trim();
  if (extendedPrivateKey.test(start)) return 'extended_private_key';
  if (keystore.test(start)) return 'keystore';
  if (importFormat.test(start)) return 'private_key';
  if (use === 'key' && /^(?:0x)?[0-9a-f]{64}$/i.test(start)) return 'private_key';
  return isSeed(start) ? 'seed_words' : undefined;
}

/**
 * Words in any language, also numbered. Twelve words are never an address or a hash, so no word list is needed, which would
 * miss mistyped words.
 */
function isSeed(text: string): boolean {
  // A single-line field drops line breaks: words are then joined, and a number at the start of a line ends up at the end
  // of the previous one.
  if (/^\p{L}{36,300}$/u.test(text)) return !/^[a-f]+$/i.test(text);
  const parts = text
    .split(/[\s,;|_-]+/)
    .map((part) => part.replace(/^\d{1,2}[.):]?/, '').replace(/\d{1,2}[.):]$/, ''));
  const words = parts.filter((part) => part !== '');
  return words.length >= fewestWords && words.every((word) => /^\p{L}[\p{L}\p{M}]{0,20}$/u.test(word));
}

const names: Readonly<Record<Secret, string>> = {
  seed_words:
    'These look like the words of a wallet: anyone who sees them can spend everything in it. They were not kept.',
  private_key: 'This looks like a private key: anyone who sees it can spend its coins. It was not kept.',
  extended_private_key:
    'This is an extended private key: anyone who sees it can spend the whole account. It was not kept.',
  keystore:
    'This is a file with a private key: anyone with its password can spend its coins. It was not kept.',
};

/** The remedy, in English. Never contains the secret. */
export function secretWarning(secret: Secret): string {
  return `${names[secret]} Treat it as revoked: move the coins to a new wallet, and use that one’s public key or address`;
}
