/** How people hand transfers to the shop's wallet in the console: exports of transfers on EVM networks. */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { boolean, described, id, integer, requiredText, timestamp } from './fields.js';

const sampleTime = '2026-01-01T00:00:00.000Z';
const sampleId = '01J9ZQ9M0R1S2T3V4W5X6Y7Z8A';
const sampleTransferId = '01J9ZQ6T0A1B2C3D4E5F6G7H8J';
const sampleAddress = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const sampleToken = '0xc2132D05D31c914a87C6611C10748AEb04B58e8F';

/** Amounts are decimals with every digit, as text: what a wallet pays must be exact. */
const reserved = { id: z.string(), amount: z.string(), currency: z.string(), address: z.string() };
const sampleReserved = { id: sampleTransferId, amount: '3', currency: 'USDT', address: sampleAddress };

const openExport = z.object({
  id: z.string(),
  network: z.string(),
  createdAt: timestamp,
  /** A person of the console, or who ran the command. */
  exportedBy: z.string(),
  /** Those that are neither settled nor released. */
  transfers: z.array(z.object(reserved)),
});

const payoutFile = z.object({
  /** Null if there was nothing to export. */
  export: z.nullable(z.string()),
  network: z.string(),
  chainId: z.int(),
  transfers: z.array(
    z.object({
      ...reserved,
      /** What the wallet calls: `value` in wei. */
      to: z.string(),
      value: z.string(),
      data: z.string(),
      /** The same as an EIP-681 link. */
      link: z.string(),
    }),
  ),
  /** What the treasury seems to have paid already, with the hashes of the transactions. */
  leftOut: z.array(z.object({ id: z.string(), paidBy: z.array(z.string()) })),
  /** A file for Safe's transaction builder. */
  safe: z.record(z.string(), z.unknown()),
});

const sampleFile = {
  ...{ export: sampleId, network: 'polygon', chainId: 137 },
  transfers: [
    {
      ...sampleReserved,
      ...{ to: sampleToken, value: '0' },
      data: `0xa9059cbb${sampleAddress.slice(2).toLowerCase().padStart(64, '0')}${(3_000_000).toString(16).padStart(64, '0')}`,
      link: `ethereum:${sampleToken}@137/transfer?address=${sampleAddress}&uint256=3000000`,
    },
  ],
  leftOut: [],
  safe: { version: '1.0', chainId: '137', transactions: [] },
};

const exportParams = z.object({ export_id: described(id, 'Id of the export.') });
const sampleParams = { export_id: sampleId };

const payoutExports = {
  list: endpoint({
    method: 'GET',
    path: '/console/api/payout-exports',
    key: 'session',
    description:
      'Lists what waits for the wallet: how many transfers on each network, and the exports that reserve some, oldest first.',
    data: z.object({
      waiting: z.array(
        z.object({
          network: z.string(),
          count: z.int(),
          /** By an export, as a PSBT, or by hand. */
          by: z.enum(['calls', 'psbt', 'hand']),
        }),
      ),
      exports: z.array(openExport),
    }),
    sample: {
      message: 'Exports fetched',
      data: {
        waiting: [{ network: 'polygon', count: 2, by: 'calls' }],
        exports: [
          {
            ...{ id: sampleId, network: 'polygon', createdAt: sampleTime },
            exportedBy: 'ada@shop.example (owner)',
            transfers: [sampleReserved],
          },
        ],
      },
    },
  }),
  create: endpoint({
    method: 'POST',
    path: '/console/api/payout-exports',
    key: 'session',
    stepUp: true,
    description:
      'Writes the transfers that wait on an EVM network for the wallet, and reserves them until they are settled or released. What the treasury seems to have paid is left out.',
    body: z.object({ network: described(requiredText(40), 'Code of the network.') }),
    data: payoutFile,
    errors: ['invalid_state', 'chain_unavailable'],
    sample: { body: { network: 'polygon' }, message: 'Transfers exported', data: sampleFile },
  }),
  write: endpoint({
    method: 'POST',
    path: '/console/api/payout-exports/{export_id}/file',
    key: 'session',
    stepUp: true,
    description: 'Writes what still waits of an export once more. Never send it twice.',
    params: exportParams,
    data: payoutFile,
    errors: ['invalid_state'],
    sample: { params: sampleParams, message: 'Export written', data: sampleFile },
  }),
  release: endpoint({
    method: 'POST',
    path: '/console/api/payout-exports/{export_id}/release',
    key: 'session',
    stepUp: true,
    description:
      'Lets the transfers of an export go, which can then be exported again, or fail. One that is released while a wallet can still send it is paid twice.',
    params: z.object({ export_id: described(id, 'Id of the export, or of one transfer of it.') }),
    body: z.object({
      nonce: described(
        z.optional(integer(0)),
        'The highest nonce with which the wallet has signed it: released if blocks that are final have used it up.',
      ),
      isUnsent: described(
        z._default(boolean, false),
        'Releases without that proof: somebody has checked that nothing was signed, or can be sent.',
      ),
    }),
    data: z.object({ transfers: z.array(z.string()) }),
    errors: ['invalid_state', 'chain_unavailable'],
    sample: {
      params: sampleParams,
      body: { isUnsent: true },
      message: 'Transfers released',
      data: { transfers: [sampleTransferId] },
    },
  }),
};

export const payoutsApi = { payoutExports };
export type PayoutsApi = typeof payoutsApi;
