/** The fields of each kind of record, as listed in the tables of the interface specification. */
import type { Fields } from './kinds.js';

export const customerFields: Fields = {
  mode: 'mode',
  id: 'string',
  email: 'string',
  fullName: 'string',
  phoneNumber: 'string',
  isBlacklisted: 'boolean',
  createdAt: 'timestamp',
};
export const accountFields: Fields = {
  mode: 'mode',
  accountNumber: 'string',
  accountBank: 'string',
  country: 'string',
  currency: 'string',
  accountName: 'string',
};
export const countryFields: Fields = { name: 'string', code: 'string', flag: 'string' };
export const balanceFields: Fields = {
  mode: 'mode',
  currency: 'string',
  availableBalance: 'number',
  totalBalance: 'number',
  isSuspended: 'boolean',
};
export const planFields: Fields = {
  mode: 'mode',
  id: 'string',
  isActive: 'boolean',
  currencies: 'array of string',
  currency: 'string',
  amount: 'number',
  numberOfTimesToCharge: 'integer',
  frequency: 'string',
  planName: 'string',
};
export const subscriberFields: Fields = {
  mode: 'mode',
  id: 'string',
  isActive: 'boolean',
  noOfTimesPayed: 'integer',
  paymentPlanId: 'string',
  customerId: 'string',
  createdAt: 'timestamp',
};
export const addressFields: Fields = {
  mode: 'mode',
  id: 'string',
  isPrimary: 'boolean',
  network: 'string',
  currency: 'string',
  address: 'string',
  createdAt: 'timestamp',
};
export const transferFields: Fields = {
  mode: 'mode',
  id: 'string',
  status: 'string',
  amount: 'number',
  fee: 'number',
  currency: 'string',
  createdAt: 'timestamp',
  updatedAt: 'timestamp',
};
/** The fields that a payment has from its creation. */
export const createdFields: Fields = {
  mode: 'mode',
  id: 'string',
  status: 'payment status',
  description: 'string',
  txRef: 'string',
  redirectUrl: 'string',
  amount: 'number',
  nairaValue: 'number',
  dollarValue: 'number',
  baseAmount: 'number',
  baseCurrency: 'string',
  currencies: 'array of string',
  expiresBy: 'number',
  transactionFees: 'number',
  totalDue: 'number',
  customer: 'string',
  customerDetails: 'object',
  addressSentFrom: 'array',
  transactionTimeLog: 'time log',
  isCurrencyLocked: 'boolean',
  createdAt: 'timestamp',
};
/** The fields that a payment has once its currency is locked. */
export const lockedFields: Fields = {
  fee: 'number',
  currency: 'string',
  currencyNetwork: 'string',
  addressInformation: 'object',
};
export const transactionFields: Fields = {
  mode: 'mode',
  id: 'string',
  status: 'payment status',
  description: 'string',
  baseAmount: 'number',
  baseCurrency: 'string',
  currencies: 'array of string',
  transactionFees: 'number',
  totalDue: 'number',
  customer: 'string',
  addressSentFrom: 'array',
  transactionTimeLog: 'time log',
  isCurrencyLocked: 'boolean',
  createdAt: 'timestamp',
  amountReceived: 'number',
};
export const feeFields: Fields = {
  fee: 'number',
  nairaValue: 'number',
  dollarValue: 'number',
  amountReceived: 'number',
  baseAmount: 'number',
  baseCurrency: 'string',
};
export const walletFields: Fields = {
  mode: 'mode',
  id: 'string',
  label: 'string',
  currency: 'string',
  addresses: 'array',
  createdAt: 'timestamp',
};
