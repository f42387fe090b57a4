/** Looks up who holds a bank account: the interface of providers, and the example names of test mode. */
import { hash } from 'node:crypto';
import type { Bank } from './banks.js';

export interface AccountNames {
  /** The message of a successful reply. It says where the name comes from. */
  readonly message: string;
  /**
   * The name of an account's holder; undefined if the bank has no such account.
   * Problem: `service_unavailable` if there is no provider, or if it fails.
   */
  resolve(
    account: { readonly accountNumber: string; readonly bank: Bank },
    signal: AbortSignal,
  ): Promise<string | undefined>;
}

const firstNames = ['Ada', 'Bola', 'Chidi', 'Dayo', 'Efua', 'Femi', 'Grace', 'Habiba'] as const;

/** Test mode's names: obviously made up, computed offline, and always the same for the same account. */
export const exampleAccountNames: AccountNames = {
  message: 'Account name fetched: an example name, because test mode does not ask the bank',
  async resolve({ accountNumber, bank }) {
    const digest = hash('sha256', `${bank.country}/${bank.code}/${accountNumber}`, 'buffer');
    return `${firstNames[digest.readUInt8(0) % firstNames.length] ?? firstNames[0]} Example`;
  },
};
