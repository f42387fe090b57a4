/** The shop's record of each payment at the crypto-checkout server: its order, and its price when it was made. */
import { CurrencyCode, EntityId, Money, VendureEntity, type ID } from '@vendure/core';
import { Column, Entity, Index } from 'typeorm';

/**
 * - `open`: it may be paid.
 * - `settled`: its money counts for the order.
 * - `ended`: it ended without success. Money can still come.
 * - `spare`: it is paid, but its order takes no payment any more: it is paid already, or cancelled.
 */
export type CryptoPaymentStatus = 'open' | 'settled' | 'ended' | 'spare';

@Entity()
export class CryptoPayment extends VendureEntity {
  /** The payment's id at the crypto-checkout server. */
  @Index({ unique: true })
  @Column('varchar')
  checkoutId = '';

  /** Its reference there. */
  @Index()
  @Column('varchar')
  txRef = '';

  @Index()
  @EntityId()
  orderId: ID = '';

  @EntityId()
  channelId: ID = '';

  /** The payment method, which has the keys of its account. */
  @EntityId()
  methodId: ID = '';

  /** Its part of the order's price, in the smallest unit of `currencyCode`. */
  @Money()
  amount = 0;

  @Column('varchar')
  currencyCode = CurrencyCode.USD;

  @Index()
  @Column('varchar')
  status: CryptoPaymentStatus = 'open';

  /** Keys of the notes that the order's history has already. */
  @Column('simple-json')
  noted: string[] = [];

  /** When the server was last asked about it. */
  @Column()
  askedAt: Date;

  /** Public, unlike Vendure's: TypeORM makes one without arguments. */
  constructor() {
    super();
    this.askedAt = new Date();
  }
}
