/**
 * Checks that the wallet that paid asks for a refund: by a signature over everything that matters of it, from a
 * sender of the returned coins.
 */
import type { Reader } from '../../core/db/engine.js';
import { isEvm } from '../../core/families/kinds.js';
import type { LockedRefund, RefundsDeps } from './change-refund.js';
import { readSignature } from './signatures.js';
import { isLive } from './states.js';
import { listOfPayment } from './store.js';
import type { RefundRow } from './tables.js';

/** The signed text, and its signers. */
export interface WalletProof {
  readonly text: string;
  /** In lower case; empty if it is nobody's who paid enough. */
  readonly signers: readonly string[];
}

/** So many contracts are asked at most: a node answers, and one refund has few payers. */
const mostContracts = 3;

export function createWalletProofs({ database, payments, currencies, acceptsSignature }: RefundsDeps) {
  /** The amount each address sent of the coins that a refund gives back, in units, by the address in lower case. */
  async function sentOf(reader: Reader, row: RefundRow): Promise<ReadonlyMap<string, bigint>> {
    const payment = await payments.find(reader, row.payment_id);
    const coins = await payments.creditedCoins(reader, payment);
    const own = coins.find((one) => one.currency === row.currency && one.network === row.network);
    return own?.sent ?? new Map();
  }

  /**
   * The addresses that sent at least what is returned, less what other proven refunds return already: dust from
   * another wallet proves nothing, nor does a coin that was returned before.
   */
  async function payersOf(reader: Reader, row: RefundRow): Promise<readonly string[]> {
    const { payment_id, currency, network } = row;
    const others = (await listOfPayment(reader, { payment_id, currency, network })).filter(
      (one) => one.id !== row.id && one.same_wallet === true && isLive(one.status),
    );
    const needed = [row, ...others].reduce((sum, one) => sum + one.amount, 0n);
    const sent = [...(await sentOf(reader, row))].filter(([, units]) => units >= needed);
    return sent.map(([address]) => address);
  }

  return {
    /**
     * Problems: `validation_error`, `service_unavailable`.
     * @param text the text that must have been signed
     */
    async prove(
      row: RefundRow,
      text: string,
      signature: string,
      signal: AbortSignal,
    ): Promise<WalletProof | undefined> {
      const { mode, network: code } = row;
      if (!isEvm(currencies.option(mode, row.currency, code).network.family)) return undefined;
      const signed = readSignature(text, signature);
      const payers = await payersOf(database.reader, row);
      const signers = signed.signer === undefined ? [] : [signed.signer];
      if (payers.some((payer) => signers.includes(payer))) return { text, signers };
      for (const payer of payers.slice(0, mostContracts)) {
        if (await acceptsSignature({ mode, network: code }, payer, signed, signal)) signers.push(payer);
      }
      return { text, signers };
    },

    /** True if one of the signers has paid the money that is returned, according to the locked payment. */
    async holds(reader: Reader, { row }: LockedRefund, { signers }: WalletProof): Promise<boolean> {
      return (await payersOf(reader, row)).some((payer) => signers.includes(payer));
    },
  };
}
