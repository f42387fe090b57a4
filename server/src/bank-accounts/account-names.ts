/** Who holds a bank account: the interface to those who know, and the stand-in of test mode. */
import { hash } from 'node:crypto';
import type { Bank } from './banks.js';

export interface AccountToResolve {
  readonly accountNumber: string;
  readonly bank: Bank;
}

export interface AccountNames {
  /** What the reply says about where the name is from. */
  readonly message: string;
  /**
   * The name of an account's holder, or undefined where the bank has no such account.
   * Problem: `service_unavailable` when the provider cannot be asked or does not answer.
   */
  resolve(account: AccountToResolve, signal: AbortSignal): Promise<string | undefined>;
}

const firstNames = ['Ada', 'Bola', 'Chidi', 'Dayo', 'Efua', 'Femi', 'Grace', 'Habiba'] as const;

/** Test mode's names: made up from the number, offline, always the same for the same account, and plainly examples. */
export const exampleAccountNames: AccountNames = {
  message: 'Account name fetched: an example, since test mode asks no bank',
  async resolve({ accountNumber, bank }) {
    const digest = hash('sha256', `${bank.country}/${bank.code}/${accountNumber}`, 'buffer');
    return `${firstNames[digest.readUInt8(0) % firstNames.length] ?? firstNames[0]} Example`;
  },
};
