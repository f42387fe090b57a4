/** Texts of transfers that wait for the shop's wallet. */
import { pick } from './pick.js';

const transfers = (count: number) => (count === 1 ? '1 transfer' : `${count} transfers`);

export const texts = pick({
  en: {
    title: 'Transfers to sign',
    waiting: 'Not exported yet',
    waitingText:
      'An export reserves the transfers for your wallet: they are not exported again, and cannot fail, until they are paid or released.',
    nothingWaits: 'Nothing waits. New transfers, and refunds that were approved, show up here.',
    network: 'Network',
    count: 'Transfers',
    actions: 'Actions',
    byHand: 'Send it by hand, and settle it with the transaction',
    export: 'Export',
    exported: (count: number) => `${transfers(count)} reserved for your wallet`,
    nothingExported: 'Nothing was exported',
    leftOut: 'Left out',
    leftOutText: 'The treasury seems to have paid these already. They settle by themselves:',
    paidBy: (id: string, hashes: string) => `Transfer ${id}, in ${hashes}`,
    open: (network: string) => `Reserved for your wallet on ${network}`,
    id: 'Export',
    created: 'Exported',
    by: 'By',
    amount: 'Amount',
    to: 'To',
    saveSafe: 'Save for Safe',
    saveCsv: 'Save as CSV',
    safeHint:
      'Safe: Apps, Transaction Builder, and drop the file there. What the treasury pays settles by itself, once it has the network’s confirmations: the exact amount to the exact address.',
    release: 'Release…',
    releaseTitle: (count: number) => `Release ${transfers(count)}?`,
    releaseText: 'If these are sent after all, they are paid twice. Check first that',
    releaseChecks: [
      'none of them has left the wallet: in its history, and in the network’s explorer;',
      'no signed transaction is left: in the wallet’s queue, in the Safe’s queue, or with a signer;',
      'the files are deleted, wherever they are.',
    ],
    nonce: 'Nonce',
    nonceHint:
      'If the wallet has signed them: send something else with the same nonce, wait until it is final, and enter the highest nonce here. Empty: you have checked all of the above.',
    releaseAction: 'Release',
    released: 'Released',
  },
});
