/** The address format of Bitcoin, and of families like it. */
import { Address, NETWORK } from '@scure/btc-signer';
import type { AddressFormat, BitcoinRules } from '../families/family.js';
import { attempt } from '../shared/attempt.js';
import { addressOfKey, type AddressPrefixes } from './bitcoin-scripts.js';

/** Reads Litecoin's old script addresses too, and converts them to the current form. */
function bitcoinFormat(prefixes: AddressPrefixes): AddressFormat {
  const { oldScriptHash, ...current } = prefixes;
  const canonical = Address({ ...NETWORK, ...current });
  const old =
    oldScriptHash === undefined ? undefined : Address({ ...NETWORK, ...current, scriptHash: oldScriptHash });
  return {
    isCompressed: true,
    ofKey: (publicKey, script) => addressOfKey(publicKey, script, prefixes),
    write: (hash) => canonical.encode({ type: 'wpkh', hash }),
    bytes(address) {
      const decoded = canonical.decode(address);
      return 'hash' in decoded ? decoded.hash : 'pubkey' in decoded ? decoded.pubkey : new Uint8Array();
    },
    read(address) {
      const decoded = attempt(() => canonical.decode(address)) ?? (old && attempt(() => old.decode(address)));
      return decoded && canonical.encode(decoded);
    },
  };
}

/** A family of this kind. */
export const bitcoinKind = (bitcoin: BitcoinRules) => ({
  kind: 'bitcoin' as const,
  bitcoin,
  formats: {
    main: bitcoinFormat(bitcoin.prefixes.main),
    test: bitcoinFormat(bitcoin.prefixes.test),
    regtest: bitcoinFormat(bitcoin.prefixes.regtest),
  },
});
