/** Payouts by PSBT: what each spends and pays, and its versions with rising fees. */
import { sql } from 'kysely';
import type { Mode } from '../../core/shared/scope.js';
import type { Rows } from '../../core/db/schema.js';
import type { Values } from '../../core/db/values.js';
import { ofOwn, own } from '../../core/db/data-policy.js';
import {
  bigint,
  flag,
  integer,
  record,
  table,
  text,
  time,
  units,
  unspentCoins,
} from '../../core/db/table.js';
import { markCoins } from './migrations.js';

export type PsbtState = 'open' | 'sent' | 'settled' | 'conflicted' | 'discarded';

export const psbtTables = {
  /** A transaction that pays several transfers of a merchant, signed by the merchant's own wallet. */
  psbts: table(own, {
    ...record,
    network: text(),
    currency: text(),
    /**
     * open: exported, and not signed yet; sent: signed, and followed until it is confirmed; settled: confirmed; conflicted:
     * another transaction has spent its inputs; discarded: given up.
     */
    state: text<PsbtState>(),
    /** The deposit key whose account signs, and the address source that it is. */
    key_id: text().references('deposit_keys.id'),
    source_id: text(),
    /** The fingerprint of the wallet's master key, and the path from there to the account; null if they were not given. */
    fingerprint: text().nullable(),
    account_path: text().nullable(),
    /** The child of the account's change chain that gets what is left; null if nothing was, in any version. */
    change_index: integer().nullable(),
    /** No block before this height has its transaction. */
    from_height: bigint(),
    /** The version that was confirmed; null before that. Stays set if the chain drops it later. */
    settled_version: integer().nullable(),
    /**
     * When the network confirmed it, or for a discarded one the transaction that makes it impossible; null while that is not
     * confirmed, also if it no longer is. Real time, as all times here.
     */
    confirmed_at: time().nullable(),
    /** A sentence for the operator; null if nothing is wrong. */
    problem: text().nullable(),
    /** Anything that it paid and should not have, in sentences. Stays for as long as that is booked. */
    warning: text().nullable(),
    created_at: time(),
    updated_at: time(),
  })
    .index('work', ['state', 'confirmed_at'])
    .index('newest', ['merchant_id', 'mode', 'created_at'])
    // The lists of both modes, of a merchant and of all.
    .index('merchant', ['merchant_id', 'created_at'], { since: unspentCoins })
    .index('time', ['created_at'], { since: unspentCoins }),

  /** A coin that a PSBT spends. */
  psbt_inputs: table(ofOwn({ psbt_id: 'psbts' }), {
    psbt_id: text().references('psbts.id'),
    position: integer(),
    mode: text<Mode>(),
    network: text(),
    tx_hash: text(),
    output_index: integer(),
    amount: units(),
    /** Its address is the account's child `branch/derivation_index`: 0 is receiving, 1 is change. */
    branch: integer<0 | 1>(),
    derivation_index: integer(),
    /** 0 once another PSBT may spend it. */
    is_held: flag(),
  })
    .primaryKey('psbt_id', 'position')
    // Two PSBTs that are out at the same time never spend the same coin.
    .unique('held', ['mode', 'network', 'tx_hash', 'output_index'], { where: sql`is_held = 1` })
    .index('coin', ['tx_hash', 'output_index'], { since: unspentCoins }),

  /** A transfer that a PSBT pays: its output has the same position. */
  psbt_transfers: table(ofOwn({ psbt_id: 'psbts' }), {
    psbt_id: text().references('psbts.id'),
    position: integer(),
    transfer_id: text().references('transfers.id'),
    /** 0 once another PSBT may pay it. */
    is_held: flag(),
    /** 1 if the network's fee is taken out of it, because no coin is left that could pay it. */
    bears_fee: flag(),
  })
    .primaryKey('psbt_id', 'position')
    // Nor do they pay the same transfer.
    .unique('held', ['transfer_id'], { where: sql`is_held = 1` })
    .index('all', ['transfer_id']),

  /** A PSBT as it was exported. Later versions pay a higher fee. At most one of them is ever in the chain. */
  psbt_versions: table(ofOwn({ psbt_id: 'psbts' }), {
    psbt_id: text().references('psbts.id'),
    /** From 1 on. */
    number: integer(),
    /** In base64. */
    psbt: text(),
    fee: units(),
    virtual_size: integer(),
    /** "0": there is no change output. Otherwise it is the last one. */
    change_amount: units(),
    /** In hexadecimal digits, stored before it is broadcast; null until it was imported. */
    signed_transaction: text().nullable(),
    /** Known before it is signed, except for p2pkh. */
    tx_hash: text().nullable(),
    /** When it was imported, or seen on the network although it was not; null before. */
    imported_at: time().nullable(),
    /** The block that it was last seen in. */
    block_hash: text().nullable(),
    block_height: bigint().nullable(),
    created_at: time(),
  })
    .primaryKey('psbt_id', 'number')
    .index('hash', ['tx_hash'], { since: unspentCoins })
    .fills(unspentCoins, markCoins),
};

declare module '../../core/db/schema.js' {
  interface Schema extends Rows<typeof psbtTables> {}
}

export type PsbtTable = Rows<typeof psbtTables>['psbts'];
/** Rows as their stores give them: db/values.ts. */
type ValuesOf<Name extends keyof typeof psbtTables> = Values<(typeof psbtTables)[Name]>;
export type PsbtTransferRow = ValuesOf<'psbt_transfers'>;
export type PsbtInputRow = ValuesOf<'psbt_inputs'>;
export type PsbtVersionRow = ValuesOf<'psbt_versions'>;
