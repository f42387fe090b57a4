/** Test mode's signer: sends on a simulated network, from one wallet per network. */
import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../shared/clock.js';
import { inChunks } from '../../db/chunks.js';
import type { Database } from '../../db/database.js';
import { addressFormat } from '../addresses/formats.js';
import { findReceiver } from './receiver.js';
import type { Network } from '../networks.js';
import { TransactionRefused, type Signer, type Withdrawal } from '../signer.js';

export interface SimulatedSignerOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly network: Network;
}

/** The content of a signed transaction. Simulated networks have no keys: the hash is the only signature. */
interface Payload {
  readonly network: string;
  readonly currency: string;
  readonly sender: string;
  readonly address: string;
  /** An integer, in the smallest unit. */
  readonly amount: string;
  /** Gives transactions with the same content different hashes. */
  readonly nonce: string;
}

const digest = (text: string) => createHash('sha256').update(text).digest();

export function createSimulatedSigner({ database, clock, network }: SimulatedSignerOptions): Signer {
  const { code, family } = network;
  const format = addressFormat('test', family);
  const sender = format.write(digest(`withdrawals from ${code}`).subarray(0, 20));
  /** Token contracts refuse it, and so do the simulated networks: it is a way to see a transfer fail. */
  const zeroAddress = format.write(new Uint8Array(20));
  const hashOf = (payload: string) => `${family === 'evm' ? '0x' : ''}${digest(payload).toString('hex')}`;

  return {
    mode: 'test',
    network: code,

    sign({ currency, address, amount, fee }: Withdrawal) {
      const content: Payload = {
        network: code,
        currency,
        sender,
        address,
        amount: amount.toString(),
        nonce: randomBytes(16).toString('hex'),
      };
      const payload = JSON.stringify(content);
      return { txHash: hashOf(payload), payload, networkFee: fee };
    },

    async broadcast({ txHash, payload }) {
      if (hashOf(payload) !== txHash)
        throw new Error(`The payload of the transaction ${txHash} does not match its hash`);
      const { currency, address, amount } = JSON.parse(payload) as Payload;
      if (address === zeroAddress) throw new TransactionRefused('Nothing can be sent to the zero address');
      await database.write(async (transaction) => {
        const sent = await transaction
          .selectFrom('transfers')
          .select('merchant_id')
          .where('tx_hash', '=', txHash)
          .executeTakeFirst();
        const receiver = await findReceiver(transaction, address);
        await transaction
          .insertInto('simulated_transfers')
          .values({
            tx_hash: txHash,
            // The sender's reorgs must not take back what another merchant has received.
            merchant_id:
              receiver === undefined || receiver === sent?.merchant_id ? (sent?.merchant_id ?? null) : null,
            network: code,
            currency,
            sender,
            address,
            amount,
            sent_at: clock.real(),
            block_height: null,
          })
          .onConflict((conflict) => conflict.column('tx_hash').doNothing())
          .execute();
      });
    },

    async confirmations(txHashes) {
      // One statement, so that the head and the transfers are read at the same moment.
      const rows = await inChunks(txHashes, (chunk) =>
        database.reader
          .selectFrom('simulated_transfers')
          .select((e) => [
            'tx_hash',
            'block_height',
            e
              .selectFrom('simulated_blocks')
              .select((of) => of.fn.max('height').as('height'))
              .where('network', '=', code)
              .as('head'),
          ])
          .where('tx_hash', 'in', chunk)
          .execute(),
      );
      return new Map(
        rows.map(({ tx_hash: hash, block_height: block, head }) => [
          hash,
          block === null || head === null ? 0 : head - block + 1,
        ]),
      );
    },
  };
}
