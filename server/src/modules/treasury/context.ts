/** The context that treasury rules share: the dependencies of the room, and the EVM networks that it works on. */
import type { DepositKeys } from '../../core/addresses/deposit-keys.js';
import type { NetworkRef } from '../../core/chains/chain.js';
import type { ConnectedNetwork } from '../../core/chains/connected.js';
import type { EvmNodes } from '../networks/evm/evm-nodes.js';
import type { Worth } from '../../core/chains/networks.js';
import type { RoomDeps } from '../../core/db/room-deps.js';
import type { Ledger } from '../../core/ledger/ledger.js';
import type { AuditLog } from '../../core/merchants/audit-log.js';
import type { RateSource } from '../../core/money/rates.js';
import type { Hooks } from '../../core/hooks.js';
import type { WhyHeld } from '../../core/withdrawals/deps.js';
import type { Transfers } from '../../core/withdrawals/transfers.js';
import type { GasKeyFiles } from './settings.js';

export interface TreasuryDeps extends RoomDeps {
  readonly rates: RateSource;
  readonly ledger: Ledger;
  readonly depositKeys: DepositKeys;
  readonly transfers: Pick<Transfers, 'settle' | 'settleAnyway' | 'unsettle'>;
  readonly auditLog: AuditLog;
  /** True if sums, in units of their currencies, are together worth so much that two nodes must agree. */
  readonly isCrossChecked: (
    network: { readonly crossCheckAbove?: Worth },
    stake: readonly { readonly units: bigint; readonly currency: string }[],
  ) => boolean;
  readonly hooks: Pick<Hooks, 'beforePayout' | 'ensurePayable' | 'isUnsafe'>;
  readonly whyHeld: WhyHeld;
  /** The real networks of all kinds. */
  readonly connected: readonly ConnectedNetwork[];
  /** The files of the key that pays for sweeps, and of its password. */
  readonly gasKey: GasKeyFiles | undefined;
}

export interface TreasuryContext extends TreasuryDeps {
  readonly networks: readonly EvmConnected[];
}

/** A connected network of the EVM's kind. */
export type EvmConnected = ConnectedNetwork & { readonly evm: EvmNodes; readonly chainId: number };

/** The EVM networks among the connected ones. */
export function evmNetworks(connected: readonly ConnectedNetwork[]): EvmConnected[] {
  return connected.flatMap((one) => {
    const { evm, identity } = one;
    return evm && 'chainId' in identity ? [{ ...one, evm, chainId: identity.chainId }] : [];
  });
}

export const placeOf = ({ network: { mode, code } }: Pick<ConnectedNetwork, 'network'>): NetworkRef => ({
  mode,
  network: code,
});

/** Undefined if it is not configured any more, or not of the EVM's kind. */
export const networkAt = (
  { networks }: Pick<TreasuryContext, 'networks'>,
  { mode, network: code }: NetworkRef,
): EvmConnected | undefined => networks.find(({ network }) => network.mode === mode && network.code === code);
