/** The module of refunds: money of a payment that goes back to its payer. */
import { fileURLToPath } from 'node:url';
import { refundClaims, refunds as endpoints } from 'crypto-checkout/contract';
import type { Core } from '../../core/core.js';
import { wasAway } from '../../core/db/removed-modules.js';
import type { Questions } from '../../core/hooks.js';
import { defineModule } from '../../core/module.js';
import { paymentRefunds } from '../../core/payments/refundable.js';
import { createCheckAddress } from './address-rules.js';
import { createAcceptsSignature } from './contract-signatures.js';
import type { RefundsDeps } from './change-refund.js';
import { refundEventTypes } from './event-types.js';
import { refundCommands } from './commands.js';
import { eraseAddresses, hasOpenRefund } from './erased.js';
import { createRefundClaimHandlers, createRefundHandlers } from './handlers.js';
import { refundParts } from './queries.js';
import { refundTables } from './tables.js';
import { createRefunds, type Refunds } from './refunds.js';

/** The script of the page for payers, which `npm run build` makes. */
const claimScript = fileURLToPath(new URL('../../../dist/claim/claim.js', import.meta.url));

type RefundsCore = Omit<
  RefundsDeps,
  'payments' | 'acceptsSignature' | 'checkAddress' | 'hooks' | 'transfers'
> &
  Pick<Core, 'payments' | 'connected' | 'depositKeys' | 'hooks' | 'transfers'>;

/** An address of this server, or of a token, would keep the money. */
const checkAddressOf = ({ connected, depositKeys, hooks }: RefundsCore) =>
  createCheckAddress(
    () =>
      connected.flatMap(({ chainAssets }) =>
        Object.values(chainAssets).flatMap(({ contract }) => contract ?? []),
      ),
    async (reader, address) =>
      (await depositKeys.isAssigned(reader, address)) || (await hooks.isOwnAddress(reader, address)),
  );

const noRows = { page: 1, skip: 0 };

/** Counted by the list that shows them. */
const attentionOf =
  ({ list }: Refunds): Questions['attention'] =>
  async (scope) => {
    const count = async (status: 'awaiting_approval' | 'failed') => ({
      count: (await list(scope, { ...noRows, status })).total,
      list: { path: '/v1/refunds', query: { status } },
    });
    return [
      { code: 'refunds_to_approve', ...(await count('awaiting_approval')) },
      { code: 'refunds_failed', ...(await count('failed')) },
    ];
  };

export const refunds = defineModule({
  name: 'refunds',
  contract: { refunds: endpoints, refundClaims },
  access: {
    refunds: {
      refunds: 'all',
      // Someone else approves the refunds that support makes.
      support: ['quote', 'list', 'retrieve', 'create', 'cancel', 'link'],
    },
  },
  resources: {
    refunds: {
      title: 'Refunds',
      noun: 'refund',
      record: 'Refund',
      description: 'Money of a payment that goes back to its payer: started, approved and followed.',
    },
    refundClaims: {
      title: 'Refund claims',
      noun: 'refund claim',
      record: 'RefundClaim',
      description:
        'The endpoints that the claim page calls for a payer. The token of its link takes the place of a key.',
    },
  },
  tables: refundTables,
  eventTypes: refundEventTypes,
  queries: refundParts,
  create(core: RefundsCore) {
    const rules = createRefunds({
      ...core,
      payments: { ...paymentRefunds, update: core.payments.updatePayment },
      acceptsSignature: createAcceptsSignature(core.connected),
      checkAddress: checkAddressOf(core),
    });
    return {
      ...rules,
      async pages() {
        const { claimPage } = await import('./claim-page.js');
        return { router: claimPage(core.publicUrl, claimScript), links: {} };
      },
      async prepare() {
        if (await wasAway(core.database.reader, 'refunds')) await rules.followMissed();
      },
      jobs: () => [{ name: 'refunds', intervalMs: 1000, run: (signal) => rules.expireOverdue(signal) }],
      handlers: { refunds: createRefundHandlers(rules), refundClaims: createRefundClaimHandlers(rules) },
      answers: {
        beforeTransfers: rules.lockPaidBack,
        onTransfer: rules.follow,
        whyNotPaid: rules.whyNotDue,
        onPaymentStatus: rules.yieldTo,
        factsOf: rules.takenBefore,
        onClockMoved: rules.expireOverdue,
        isUnfinished: hasOpenRefund,
        onErased: (transaction, paymentIds) => eraseAddresses(transaction, paymentIds, core),
        attention: attentionOf(rules),
      },
    };
  },
  commands: (rules) => [refundCommands(rules)],
});
