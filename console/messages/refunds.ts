/** Texts of refunds. */
import { pick } from './pick.js';

export const texts = pick({
  en: {
    title: 'Refunds',
    statuses: {
      awaiting_address: 'Waiting for the payer’s address',
      awaiting_approval: 'Waiting for approval',
      approved: 'Approved',
      processing: 'Being sent',
      paid: 'Sent',
      cancelled: 'Cancelled',
      expired: 'Expired',
      failed: 'Failed',
    },
    amount: 'Amount',
    shopPays: (fee: string) => `and ${fee} for the network, from the shop`,
    payerPays: (fee: string | undefined) =>
      fee === undefined ? 'less the network’s fee' : `after ${fee} for the network`,
    feeKept: (fee: string) => `the service fee of ${fee} is kept`,
    completed: 'Cancelled: the rest of the payment came',
    order: 'Order',
    status: 'Status',
    address: 'To',
    reason: 'Why',
    created: 'Created',
    actions: 'Actions',
    sameWallet: 'Signed by the wallet that paid',
    unproven: 'Signed, but not provably by the wallet that paid',
    unsigned: 'Not signed: cannot be proven',
    approve: 'Approve…',
    approveTitle: (amount: string) => `Send ${amount}?`,
    approveText: 'It goes to this address, and cannot be undone:',
    network: 'Network',
    payerGets: 'The payer gets',
    askedBy: 'Asked for by',
    kind: 'Refund of',
    kinds: {
      excess: 'The excess above the price',
      full: 'Everything that was credited',
      unaccepted: 'Money that came late, short or in another coin',
      partial: 'A part',
    },
    approveFee: (fee: string) =>
      `The service fee of ${fee} is kept: the payer gets that much less than arrived.`,
    proofs: {
      proven: 'The wallet that paid has signed for this address.',
      unproven:
        'Somebody has signed for this address, and it cannot be proven that the wallet that paid did. Make sure that it is your customer who asks.',
      unsigned:
        'Nobody has signed for this address, so it cannot be proven whose it is. Make sure that it is your customer who asks.',
    },
    approveAction: (amount: string) => `Approve ${amount}`,
    approvedNext: 'Approved. The transfer that pays it is under Money',
    toTransfer: 'Transfer',
    decline: 'Decline…',
    declineTitle: (amount: string) => `Decline the refund of ${amount}?`,
    declineText:
      'The money that it had reserved is yours again, and its link ends. You can make another one.',
    declineAction: 'Decline',
    declined: 'Declined',
    link: 'New link',
    linkReady: 'Send this link to the payer',
    linkText: 'The previous link no longer works. This one is shown only now, and works for 30 days.',
    filter: 'Show',
    toPayments: 'To the payments',
    noneToApprove: 'No refund waits for approval.',
    empty: 'No refunds. Open a payment to make one: the payer gets a link, and says where the money goes.',
    policy:
      'The settings limit the refunds that are approved without you if the wallet that paid has signed, and their sum a day.',
    policyLink: 'Limits of refunds',
  },
});
