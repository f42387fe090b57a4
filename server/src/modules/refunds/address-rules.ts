/** The addresses that refunds may go to: nothing is lost at them, and nothing comes back to us. */
import { describeInvalid, parseAddress } from '../../core/addresses/formats.js';
import type { Network } from '../../core/chains/networks.js';
import type { Reader } from '../../core/db/engine.js';
import { Problem } from '../../core/shared/problem.js';
import { isLost } from './lost-addresses.js';

export type CheckAddress = ReturnType<typeof createCheckAddress>;

/**
 * @param tokenContracts the contracts of all tokens that the server knows
 * @param isOurs true if an address was given to a payer, or is a treasury, a factory or a gas key of this server
 */
export function createCheckAddress(
  tokenContracts: () => readonly string[],
  isOurs: (reader: Reader, address: string) => Promise<boolean>,
) {
  /** @returns the address in its canonical form. Problem: `invalid_address` */
  return async (reader: Reader, network: Network, text: string): Promise<string> => {
    const address = parseAddress(network, text);
    if (address === undefined) {
      throw refused(describeInvalid(text, `This is not a valid address on ${network.name}`));
    }
    if (isLost(network, address)) {
      throw refused('Nobody has this address: what is sent there is lost');
    }
    const isContract = tokenContracts().some((contract) => isSame(contract, address));
    if (isContract) throw refused('This is the contract of a token: what is sent there is lost');
    if (await isOurs(reader, address)) {
      // The same words for all of them, so that nobody can ask whose address it is.
      throw refused('This address belongs to the shop’s checkout. Give one of your own wallet');
    }
    return address;
  };
}

/** Addresses of EVM networks are the same in any case; others are long enough that this confuses none. */
function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function refused(message: string): Problem {
  return new Problem('invalid_address', message, { param: 'address' });
}
