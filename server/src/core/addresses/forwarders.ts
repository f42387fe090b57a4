/**
 * The deposit addresses of a treasury: forwarders, contracts that can pay to the treasury and nowhere else. An address is
 * known, and can be paid, before anything is deployed there. No key exists for it.
 *
 * An address follows from the factory, the treasury and a salt (EIP-1014); the code is that of OpenZeppelin's
 * `Clones.cloneDeterministicWithImmutableArgs`. The salt is a hash of public names and of a secret, so that nobody else knows an
 * address before it was given out. With the salts, which an export of addresses has, the owner of the treasury can empty them
 * without this server.
 */
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';
import { isEvm } from '../families/kinds.js';
import type { Scope } from '../shared/scope.js';
import { networkPresets } from '../chains/presets.js';
import type { AddressSource, SaltParts } from './address-sources.js';
import { forwarderContracts, forwarderFactory } from './forwarder-factory.js';
import { addressFormat, describeInvalid } from './formats.js';

const bytesOf = (text: string): Uint8Array => hexToBytes(text.slice(2).toLowerCase());

const format = addressFormat('live', 'evm');
const factory = bytesOf(forwarderFactory.address);

/** The part of the code that creates a clone from after the treasury's length up to the treasury. */
const cloneCode = concatBytes(
  // The length of the clone's code: 45 bytes and the treasury.
  hexToBytes('61'),
  Uint8Array.of(0, 0x2d + 20),
  hexToBytes('3d81600a3d39f3363d3d373d3d3d363d73'),
  bytesOf(forwarderFactory.implementation),
  hexToBytes('5af43d82803e903d91602b57fd5bf3'),
);

/**
 * The salt of the address at an index of a merchant's treasury.
 * @param epoch the number of restores confirmed before: each address that a lost database gave out since is another one
 * @param secret undefined for those from before there was one
 */
function forwarderSalt({ merchantId, mode }: Scope, { epoch, secret }: SaltParts, index: number): string {
  const names = [
    mode,
    merchantId,
    ...(epoch === 0 ? [] : [epoch]),
    ...(secret === undefined ? [] : [secret]),
    index,
  ].join('/');
  return `0x${hex.encode(keccak_256(utf8ToBytes(`crypto-checkout/forwarder/${names}`)))}`;
}

/** @throws Error with a message for the operator if the treasury cannot be used */
export function createForwarderSource(
  scope: Scope,
  treasury: string,
  parts: SaltParts = { epoch: 0 },
): AddressSource {
  const canonical = readTreasury(treasury);
  const codeHash = keccak_256(concatBytes(cloneCode, bytesOf(canonical)));
  const salt = (index: number) => {
    if (!Number.isSafeInteger(index) || index < 0)
      throw new RangeError(`There is no address with the index ${index}`);
    return forwarderSalt(scope, parts, index);
  };
  return {
    // Indexes are counted per id, and addresses differ by merchant and mode.
    id: [
      'forwarder',
      canonical.toLowerCase(),
      scope.mode,
      scope.merchantId,
      ...(parts.epoch === 0 ? [] : [parts.epoch]),
      // Readers of an id, in a log or the marker, do not learn the secret.
      ...(parts.secret === undefined ? [] : [fingerprint(parts.secret)]),
    ].join(':'),
    descriptor: undefined,
    forwarder: { treasury: canonical, salt },
    derive: (index) =>
      format.write(
        keccak_256(concatBytes(Uint8Array.of(0xff), factory, bytesOf(salt(index)), codeHash)).subarray(12),
      ),
  };
}

const fingerprint = (secret: string): string => `s${hex.encode(keccak_256(utf8ToBytes(secret))).slice(0, 8)}`;

const contracts = new Map(
  Object.values(networkPresets).flatMap(({ family, name, assets }) =>
    isEvm(family)
      ? Object.entries(assets).flatMap(([currency, { contract }]): [string, string][] =>
          contract === undefined ? [] : [[contract.toLowerCase(), `${currency} on ${name}`]],
        )
      : [],
  ),
);

/** The holder of the treasury gets the money, and it cannot be changed afterwards: so only the exact form passes. */
function readTreasury(text: string): string {
  const canonical = format.read(text);
  if (canonical === undefined)
    throw new Error(describeInvalid(text, 'The treasury must be an address: 0x and 40 hexadecimal digits'));
  if (canonical !== text) {
    throw new Error(
      'The treasury has no checksum. Copy it from the wallet, with its upper and lower case letters',
    );
  }
  const lower = canonical.toLowerCase();
  if (/^0x0{34}/.test(lower) || /^0x(.)\1{39}$/.test(lower) || lower.endsWith('000000000000000000000000dead'))
    throw new Error('Nobody can spend from this address. The treasury must be a wallet of yours');
  if (forwarderContracts.includes(lower)) {
    throw new Error(
      'This is a contract of the forwarders themselves: coins would be lost. The treasury must be a wallet of yours',
    );
  }
  const token = contracts.get(lower);
  if (token !== undefined) {
    throw new Error(
      `This is the contract of ${token}: coins would be lost. The treasury must be a wallet of yours`,
    );
  }
  return canonical;
}
