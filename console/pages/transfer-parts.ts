/** Parts shared by lists of transfers and a transfer's page. */
import type { ParsedData } from '../../src/contract/endpoint.js';
import type { transfers } from '../../src/contract/transfers.js';
import { amount } from '../format.js';

export type Transfer = ParsedData<typeof transfers.retrieve>;

export const tones = { pending: 'caution', processing: 'plain', success: 'good', failed: 'bad' } as const;

export const sumOf = (one: Transfer) => amount(one.amount, one.currency);
