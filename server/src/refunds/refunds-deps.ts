/** What refunds depend on. */
import type { RoomDeps } from '../db/room-deps.js';
import type { AuditLog } from '../merchants/audit-log.js';
import type { Merchants } from '../merchants/merchants.js';
import type { RateSource } from '../money/rates.js';
import type { Balances } from '../withdrawals/balances.js';
import type { Transfers } from '../withdrawals/transfers.js';
import type { AddressRules } from './address-rules.js';
import type { ChangeDeps } from './change-refund.js';

export interface RefundsDeps extends RoomDeps, ChangeDeps {
  readonly rates: RateSource;
  readonly balances: Balances;
  readonly merchants: Merchants;
  readonly transfers: Pick<Transfers, 'createForRefund'>;
  readonly auditLog: AuditLog;
  readonly addressRules: AddressRules;
  /** The claim page is at `{publicUrl}/refund`. */
  readonly publicUrl: string;
}
