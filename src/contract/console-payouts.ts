/**
 * Handing transfers to the shop's wallet in the console, and ending them: exports on EVM networks, PSBTs, and by hand.
 */
import * as z from 'zod/mini';
import { endpoint } from './endpoint.js';
import { decimal, described, hashText, id, integer, requiredText, text, timestamp } from './fields.js';
import { sampleTransfer, transfer } from './transfers.js';

const sampleTime = '2026-01-01T00:00:00.000Z';
const sampleId = '01J9ZQ9M0R1S2T3V4W5X6Y7Z8A';
const sampleTransferId = '01J9ZQ6T0A1B2C3D4E5F6G7H8J';
const sampleAddress = '0x14dC79964da2C08b23698B3D3cc7Ca32193d9955';
const sampleToken = '0xc2132D05D31c914a87C6611C10748AEb04B58e8F';

/** Amounts are decimals with every digit, as text: what a wallet pays must be exact. */
const reserved = { id: z.string(), amount: z.string(), currency: z.string(), address: z.string() };
const sampleReserved = { id: sampleTransferId, amount: '3', currency: 'USDT', address: sampleAddress };

/** Network parameters for a wallet that does not know the network. Without a URL, somebody adds it by hand. */
const chain = z.object({
  chainId: z.int(),
  name: z.string(),
  coin: z.string(),
  rpcUrl: z.nullable(z.string()),
});

const openExport = z.object({
  id: z.string(),
  network: z.string(),
  createdAt: timestamp,
  /** A person of the console, or who ran the command. */
  exportedBy: z.string(),
  /** Null if the network is not configured any more. */
  chain: z.nullable(chain),
  /** Exports that are neither settled nor released. */
  transfers: z.array(
    z.object({
      ...reserved,
      /** When a wallet in the browser was asked to send it; null if none was, or if it refused. */
      handedAt: z.nullable(timestamp),
      /** The wallet's answer: a transaction hash, or the id of a batch. Null if nobody knows. */
      walletAnswer: z.nullable(z.string()),
    }),
  ),
});

const outflow = z.object({
  network: z.string(),
  txHash: z.string(),
  treasury: z.string(),
  /** Empty if a contract sent the coin, so that the recipient is unknown. */
  address: z.string(),
  amount: z.string(),
  currency: z.string(),
  paidAt: timestamp,
});

const payoutFile = z.object({
  /** Null if there was nothing to export. */
  export: z.nullable(z.string()),
  network: z.string(),
  chainId: z.int(),
  transfers: z.array(
    z.object({
      ...reserved,
      /** The wallet's call: `value` in wei. */
      to: z.string(),
      value: z.string(),
      data: z.string(),
      /** The call as an EIP-681 link. */
      link: z.string(),
    }),
  ),
  /** Transfers that the treasury seems to have paid already, with their transaction hashes. */
  leftOut: z.array(z.object({ id: z.string(), paidBy: z.array(z.string()) })),
  /** Transfers that must not be paid now, and the reason. */
  held: z.array(z.object({ id: z.string(), reason: z.string() })),
  /** A file for Safe's transaction builder. */
  safe: z.record(z.string(), z.unknown()),
});

const sampleFile = {
  export: sampleId,
  network: 'polygon',
  chainId: 137,
  transfers: [
    {
      ...sampleReserved,
      to: sampleToken,
      value: '0',
      data: `0xa9059cbb${sampleAddress.slice(2).toLowerCase().padStart(64, '0')}${(3_000_000).toString(16).padStart(64, '0')}`,
      link: `ethereum:${sampleToken}@137/transfer?address=${sampleAddress}&uint256=3000000`,
    },
  ],
  leftOut: [],
  held: [],
  safe: { version: '1.0', chainId: '137', transactions: [] },
};

const transferIds = z.array(z.string()).check(z.minLength(1), z.maxLength(1000));
const exportParams = z.object({ export_id: described(id, 'Id of the export.') });
const sampleParams = { export_id: sampleId };
const releaseParams = z.object({ export_id: described(id, 'Id of the export, or of one transfer of it.') });
const sampleHash = `0x${'5c504ed432cb51138bcf09aa5e8a410d'.repeat(2)}`;

export const payoutExports = {
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
          /** The way to pay: by an export, as a PSBT, or by hand. */
          by: z.enum(['calls', 'psbt', 'hand']),
        }),
      ),
      exports: z.array(openExport),
      /** Outflows from a treasury that no transfer explains, oldest first; 100 at most of a network. */
      unexplained: z.array(outflow),
    }),
    sample: {
      message: 'Exports fetched',
      data: {
        waiting: [{ network: 'polygon', count: 2, by: 'calls' }],
        exports: [
          {
            id: sampleId,
            network: 'polygon',
            createdAt: sampleTime,
            exportedBy: 'ada@shop.example (owner)',
            chain: { chainId: 137, name: 'Polygon', coin: 'POL', rpcUrl: null },
            transfers: [{ ...sampleReserved, handedAt: null, walletAnswer: null }],
          },
        ],
        unexplained: [],
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
    description:
      'Writes what still waits of an export, and was handed to no wallet in the browser, once more. Never send it twice.',
    params: exportParams,
    data: payoutFile,
    errors: ['invalid_state'],
    sample: { params: sampleParams, message: 'Export written', data: sampleFile },
  }),
  handOver: endpoint({
    method: 'POST',
    path: '/console/api/payout-exports/{export_id}/hand-over',
    key: 'session',
    stepUp: true,
    description:
      'Marks transfers of an export as handed to a wallet in the browser. Call it before you ask the wallet: a transfer is handed over only once, and files of the export then leave it out.',
    params: exportParams,
    body: z.object({
      transfers: described(transferIds, 'Ids of the transfers.'),
      from: described(requiredText(), 'The account of the wallet: a treasury of the shop.'),
    }),
    errors: ['invalid_state', 'chain_unavailable'],
    sample: {
      params: sampleParams,
      body: { transfers: [sampleTransferId], from: sampleAddress },
      message: 'Transfers handed over',
    },
  }),
  keepAnswer: endpoint({
    method: 'POST',
    path: '/console/api/payout-exports/{export_id}/answer',
    key: 'session',
    description:
      'Records the wallet’s answer. A hash is looked up: it is refused if the transaction pays something else, and another one takes its place as long as no node shows that it pays these.',
    params: exportParams,
    body: z.object({
      transfers: described(transferIds, 'Ids of the transfers.'),
      answer: described(
        z.nullable(requiredText()),
        'The hash of the transaction, or the id of the batch (EIP-5792). Null: the wallet has refused, and sent nothing.',
      ),
    }),
    errors: ['invalid_state', 'chain_unavailable'],
    sample: {
      params: sampleParams,
      body: { transfers: [sampleTransferId], answer: `0x${'ab'.repeat(32)}` },
      message: 'Answer kept',
    },
  }),
  release: endpoint({
    method: 'POST',
    path: '/console/api/payout-exports/{export_id}/release',
    key: 'session',
    stepUp: true,
    description:
      'Lets the transfers of an export go by a proof. They can then be exported again, or fail. What is paid of them anyway is booked.',
    params: releaseParams,
    body: z.object({
      nonce: described(
        integer(0),
        'The highest nonce with which the wallet has signed it: at or above the next one when the wallet was given it, and used up by the same account in blocks that are final.',
      ),
    }),
    data: z.object({ transfers: z.array(z.string()) }),
    errors: ['invalid_state', 'chain_unavailable'],
    sample: {
      params: sampleParams,
      body: { nonce: 17 },
      message: 'Transfers released',
      data: { transfers: [sampleTransferId] },
    },
  }),
  decide: endpoint({
    method: 'POST',
    path: '/console/api/payout-exports/{export_id}/release-decision',
    key: 'session',
    stepUp: true,
    description:
      'Releases the transfers of an export without a proof, by the decision of an owner, which the audit log records. One that a wallet can still send is paid twice if it is exported again; that is booked and reported. Refused if a node has the transaction.',
    params: releaseParams,
    body: z.object({
      reason: described(
        requiredText(500),
        'The checks that were made, and the reason why it cannot be sent.',
      ),
    }),
    data: z.object({ transfers: z.array(z.string()) }),
    errors: ['invalid_state', 'chain_unavailable'],
    sample: {
      params: sampleParams,
      body: { reason: 'Rejected in the Safe by all signers' },
      message: 'Transfers released',
      data: { transfers: [sampleTransferId] },
    },
  }),
  explain: endpoint({
    method: 'POST',
    path: '/console/api/outflows/explain',
    key: 'session',
    stepUp: true,
    description: 'Records the purpose of a treasury transaction that no transfer explains, in the audit log.',
    body: z.object({
      network: described(requiredText(40), 'Code of the network.'),
      txHash: described(hashText(), 'Hash of the transaction.'),
      note: described(requiredText(500), 'Its purpose.'),
    }),
    data: z.object({ payments: z.int() }),
    sample: {
      body: { network: 'polygon', txHash: sampleHash, note: 'Moved to the exchange' },
      message: 'Payment explained',
      data: { payments: 1 },
    },
  }),
};

const psbtRow = {
  id: z.string(),
  network: z.string(),
  currency: z.string(),
  /** `open` until the signed PSBT is imported, then `sent`. */
  state: z.enum(['open', 'sent', 'settled', 'conflicted', 'discarded']),
  createdAt: timestamp,
  /** The part that needs attention; null if nothing does. */
  problem: z.nullable(z.string()),
};
const psbtFile = z.object({
  ...psbtRow,
  transfers: z.array(z.object({ id: z.string(), amount: z.string(), address: z.string() })),
  /** Oldest first. Those after the first replace the ones before (BIP-125). */
  versions: z.array(
    z.object({ number: z.int(), fee: z.string(), txHash: z.nullable(z.string()), isSettled: z.boolean() }),
  ),
  /** The newest version, in base64 (BIP-174). */
  file: z.string(),
});

const samplePsbtId = '01J9ZQ9P0S1T2V3W4X5Y6Z7A8B';
const samplePsbtRow = {
  id: samplePsbtId,
  network: 'bitcoin',
  currency: 'BTC',
  state: 'open' as const,
  createdAt: sampleTime,
  problem: null,
};
const samplePsbt = {
  ...samplePsbtRow,
  transfers: [
    { id: sampleTransferId, amount: '0.01', address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4' },
  ],
  versions: [{ number: 1, fee: '0.00001', txHash: null, isSettled: false }],
  file: 'cHNidP8BAA==',
};

const psbtParams = z.object({ psbt_id: described(id, 'Id of the PSBT.') });
const psbtSample = { psbt_id: samplePsbtId };
const feeRate = described(requiredText(20), 'Satoshis per virtual byte, such as 12 or 1.5.');

export const psbts = {
  list: endpoint({
    method: 'GET',
    path: '/console/api/psbts',
    key: 'session',
    description: 'Lists the PSBTs, newest first, 1,000 at most.',
    data: z.array(z.object(psbtRow)),
    sample: { message: 'PSBTs fetched', data: [samplePsbtRow] },
  }),
  create: endpoint({
    method: 'POST',
    path: '/console/api/psbts',
    key: 'session',
    stepUp: true,
    description:
      'Makes one PSBT of the transfers that wait on a network of Bitcoin or Litecoin, for the wallet to sign. The transfers and the coins are reserved until it is settled or discarded.',
    body: z.object({
      network: described(requiredText(40), 'Code of the network.'),
      feeRate: described(
        z.optional(requiredText(20)),
        'Satoshis per virtual byte. Defaults to the node’s estimate for six blocks.',
      ),
      fingerprint: described(
        z.optional(text(8)),
        'Fingerprint of the master key, eight hexadecimal digits. Hardware wallets need it to find their keys.',
      ),
      path: described(z.optional(text()), 'From the master key to the account, if it is not the usual one.'),
    }),
    data: z.object({
      /** Null if there was nothing to pay. */
      psbt: z.nullable(psbtFile),
      /** Transfers that were left out, and the reason. */
      skipped: z.array(z.object({ id: z.string(), reason: z.string() })),
    }),
    errors: ['invalid_state', 'chain_unavailable'],
    sample: {
      body: { network: 'bitcoin' },
      message: 'PSBT made',
      data: { psbt: samplePsbt, skipped: [] },
    },
  }),
  write: endpoint({
    method: 'POST',
    path: '/console/api/psbts/{psbt_id}/file',
    key: 'session',
    stepUp: true,
    description: 'Writes a PSBT once more, for a wallet that has lost it.',
    params: psbtParams,
    data: psbtFile,
    sample: { params: psbtSample, message: 'PSBT written', data: samplePsbt },
  }),
  bump: endpoint({
    method: 'POST',
    path: '/console/api/psbts/{psbt_id}/bump',
    key: 'session',
    stepUp: true,
    description: 'Makes another version with a higher fee, to be signed in its place.',
    params: psbtParams,
    body: z.object({ feeRate }),
    data: psbtFile,
    errors: ['invalid_state', 'chain_unavailable'],
    sample: { params: psbtSample, body: { feeRate: '20' }, message: 'Version made', data: samplePsbt },
  }),
  import: endpoint({
    method: 'POST',
    path: '/console/api/psbts/import',
    key: 'session',
    stepUp: true,
    description:
      'Imports the signed PSBT. It is compared with the exported one, output by output and input by input; if they match, it is stored and broadcast. Repeating the call is harmless.',
    body: z.object({
      signed: described(
        requiredText(95_000),
        'The file of the wallet, in base64: a PSBT, or the final transaction. Larger ones are imported on the command line.',
      ),
    }),
    data: z.object({
      id: z.string(),
      txHash: z.string(),
      isBroadcast: z.boolean(),
      /** The reason if not. The server retries automatically. */
      problem: z.nullable(z.string()),
    }),
    errors: ['invalid_state', 'chain_unavailable'],
    sample: {
      body: { signed: samplePsbt.file },
      message: 'PSBT imported',
      data: { id: samplePsbtId, txHash: 'ab'.repeat(32), isBroadcast: true, problem: null },
    },
  }),
  discard: endpoint({
    method: 'POST',
    path: '/console/api/psbts/{psbt_id}/discard',
    key: 'session',
    stepUp: true,
    description:
      'Gives up a PSBT that was not broadcast. Its transfers wait again. A signed copy of it stays valid: delete it.',
    params: psbtParams,
    data: psbtFile,
    errors: ['invalid_state', 'chain_unavailable'],
    sample: {
      params: psbtSample,
      message: 'PSBT discarded',
      data: { ...samplePsbt, state: 'discarded' as const },
    },
  }),
};

const transferParams = z.object({ transfer_id: described(id, 'Id of the transfer.') });
const transferSample = { transfer_id: sampleTransferId };

export const transfersByHand = {
  settle: endpoint({
    method: 'POST',
    path: '/console/api/transfers/{transfer_id}/settle',
    key: 'session',
    stepUp: true,
    description:
      'Settles a transfer that the wallet has paid, after looking the transaction up: it must pay the amount to the address, with the confirmations of the network.',
    params: transferParams,
    body: z.object({
      txHash: described(hashText(), 'Hash of the transaction.'),
      block: described(z.optional(integer(0)), 'Its block, for nodes that do not find it by its hash.'),
      networkFee: described(
        z.optional(decimal),
        'The network’s fee, in the currency of the transfer: only if no node reports it.',
      ),
    }),
    data: transfer,
    errors: ['invalid_state', 'chain_unavailable'],
    sample: {
      params: transferSample,
      body: { txHash: sampleHash },
      message: 'Transfer settled',
      data: { ...sampleTransfer, status: 'success', txHash: sampleHash },
    },
  }),
  fail: endpoint({
    method: 'POST',
    path: '/console/api/transfers/{transfer_id}/fail',
    key: 'session',
    stepUp: true,
    description:
      'Gives up on a transfer that was not sent: its amount is available again. Refused while it is reserved for a wallet, and if any node shows that a treasury has paid it.',
    params: transferParams,
    body: z.object({ reason: described(requiredText(), 'The reason that the shop sees.') }),
    data: transfer,
    errors: ['invalid_state', 'chain_unavailable'],
    sample: {
      params: transferSample,
      body: { reason: 'No longer needed' },
      message: 'Transfer failed',
      data: { ...sampleTransfer, status: 'failed', failureReason: 'No longer needed' },
    },
  }),
};
