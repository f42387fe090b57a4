/** Parts shared by the list of customers and a customer's page. */
import type { customers } from '../../src/contract/customers.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { texts } from '../messages/customers.js';
import { tag } from '../ui/details.js';
import type { Field } from '../ui/field.js';

export type Customer = ParsedData<typeof customers.retrieve>;

export const stateOf = ({ isBlacklisted }: Customer) =>
  isBlacklisted ? tag(texts.blocked, 'bad') : tag(texts.allowed);

/** Erased customers keep an address that no server takes. */
export const isErased = ({ email }: Customer) => email.endsWith('@erased.invalid');

export const customerFields = ({ fullName, phoneNumber }: Partial<Customer>): Field[] => [
  { name: 'fullName', label: texts.name, value: fullName ?? '' },
  { name: 'phoneNumber', label: texts.phone, value: phoneNumber ?? '' },
];
