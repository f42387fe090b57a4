/** Texts of transfers that wait for the shop's wallet. */
import { pick } from './pick.js';

const transfers = (count: number) => (count === 1 ? '1 transfer' : `${count} transfers`);

export const texts = pick({
  en: {
    title: 'Transfers to sign',
    waiting: 'Not exported yet',
    waitingText:
      'An export reserves the transfers for your wallet: they are not exported again, and cannot fail, until they are paid or released.',
    toMoney: 'To the transfers',
    nothingWaits: 'Nothing waits. New transfers, and refunds that were approved, show up here.',
    network: 'Network',
    count: 'Transfers',
    actions: 'Actions',
    byHand: 'Send it by hand, and settle it with the transaction',
    export: 'Export',
    exported: (count: number) => `${transfers(count)} reserved for your wallet`,
    nothingExported: 'Nothing was exported',
    leftOut: 'Left out',
    leftOutText: 'The treasury seems to have paid these already. They settle automatically:',
    heldText: 'These must not be paid now:',
    heldOne: (id: string, reason: string) => `Transfer ${id}: ${reason}`,
    leftOutPsbt: 'These were left out:',
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
      'Safe: Apps, Transaction Builder, and drop the file there. The treasury’s payments settle automatically, once they have the network’s confirmations: the exact amount to the exact address.',
    makePsbt: 'PSBT…',
    psbtTitle: (network: string) => `A PSBT of what waits on ${network}`,
    psbtText:
      'It spends confirmed deposits, and what is left goes to the wallet’s own change. The transfers and the coins are reserved until it is settled or discarded.',
    psbtAction: 'Make the PSBT',
    feeRate: 'Satoshis per virtual byte',
    feeRateHint: 'Empty: the node’s estimate for six blocks.',
    fingerprint: 'Fingerprint of the master key',
    fingerprintHint: 'Eight hexadecimal digits. Hardware wallets need it to find their keys.',
    psbts: 'PSBTs',
    psbtHint:
      'Save the file, sign it in your wallet, and bring it back with Import. It is compared with the export before it is sent.',
    state: 'State',
    states: {
      open: 'To be signed',
      sent: 'Sent',
      settled: 'Settled',
      conflicted: 'Coins spent otherwise',
      discarded: 'Discarded',
    },
    saveAgain: 'Save',
    bump: 'Raise the fee…',
    bumpTitle: 'Raise the fee?',
    bumpText:
      'A version with a higher fee is made, to be signed and imported in its place. Only one of them can be confirmed.',
    discard: 'Discard…',
    discardTitle: 'Discard this PSBT?',
    discardText:
      'Its transfers wait again, and its coins can be spent. A signed copy stays valid: delete every copy before you pay the transfers in another way.',
    discardAction: 'Discard',
    discarded: 'Discarded',
    import: 'Import what was signed…',
    tooLarge:
      'This file is too large to be sent from here. Import it on the server: transfers psbt import FILE',
    imported: (hash: string) => `Sent as ${hash}. It settles automatically when it has its confirmations`,
    notSent: (problem: string) => `Stored, but not sent yet: ${problem}. The server retries automatically`,
    wallet: 'Wallet',
    handed:
      'A wallet was asked to send it, and its answer is not known. Look in its history: if it was sent, it settles automatically.',
    send: 'Send from a wallet here…',
    noWallet: 'This browser has no wallet. Install one that holds the treasury’s account, and try again.',
    sendTitle: (count: number) => `Send ${transfers(count)} from your wallet?`,
    sendText:
      'The wallet asks you to confirm, once or for each transfer. It must hold the treasury’s account: what another account pays does not settle. Do not do it if one of the files has been signed elsewhere.',
    whichWallet: 'Wallet in this browser',
    unnamed: 'Wallet',
    sendAction: 'Ask the wallet',
    refused: 'The wallet has not sent it. Nothing more was paid.',
    unknown:
      'The wallet gave no clear answer. Look in its history before anything else: whatever it sent settles automatically.',
    sent: (count: number) =>
      `${transfers(count)} sent. They settle automatically when the network has confirmed them`,
    unexplained: 'Left the treasury, and no transfer explains it',
    unexplainedText:
      'Look at each transaction. If it was yours, say what it was for. If it was not, somebody else can sign for the treasury.',
    unknownTo: 'Unknown',
    transaction: 'Transaction',
    paidAt: 'Time',
    explain: 'Explain…',
    explainTitle: 'Explain this transaction',
    explainText: 'Nothing is booked: the money was yours. The audit log keeps what you say.',
    explainAction: 'Save',
    note: 'Purpose',
    explained: 'Explained',
    release: 'Release…',
    releaseTitle: (count: number) => `Release ${transfers(count)}?`,
    releaseText:
      'If the wallet has signed these, send something else from the same account with the same nonce, and wait until it is final.',
    decide: 'Release without a proof…',
    decideText: 'If these are sent after all, they are paid twice. Check first that',
    releaseChecks: [
      'none of them has left the wallet: in its history, and in the network’s explorer;',
      'no signed transaction is left: in the wallet’s queue, in the Safe’s queue, or with a signer;',
      'the files are deleted, wherever they are.',
    ],
    nonce: 'Nonce',
    nonceHint: 'The highest one with which the wallet has signed them.',
    reason: 'Your checks',
    reasonHint: 'The audit log keeps it.',
    releaseAction: 'Release',
    released: 'Released',
  },
});
