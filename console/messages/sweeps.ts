/** Texts of sweeps, and of the wallets in the browser that send them. */
import { pick } from './pick.js';

const balances = (count: number) => (count === 1 ? '1 balance' : `${count} balances`);

export const texts = pick({
  en: {
    title: 'Move coins to the treasury',
    networks: 'Coins at payers’ addresses',
    text: 'Payers’ coins are at a separate address for each payment until you move them to your treasury. The plan reads the current balances, and the cost of moving them.',
    noNetworks:
      'The shop has no treasury here, so there is nothing to move: coins go straight to your own wallet. A treasury is set on the command line.',
    network: 'Network',
    actions: 'Actions',
    plan: 'Plan',
    planOf: (network: string) => `Plan on ${network}`,
    nothing: 'These addresses hold nothing.',
    nothingWorth: 'Nothing here is worth moving now.',
    treasury: 'Treasury',
    amount: 'Amount',
    addresses: 'Addresses',
    worth: 'Worth',
    cost: 'Gas',
    unknown: 'unknown',
    result: 'Result',
    swept: 'Will move',
    skipped: {
      small: 'Stays: not worth its gas',
      open: 'Stays: its payment still waits for money',
      fails: 'Stays: the treasury or the token refuses it',
    },
    anyAccount:
      'Any account can send this and pays the gas. The coins go to the treasury, no matter who sends it. Sending it twice only costs gas.',
    saveSafe: 'Save for Safe',
    saveCsv: 'Save as CSV',
    send: 'Send from this browser…',
    sendTitle: (count: number) => `Send ${count === 1 ? '1 transaction' : `${count} transactions`}?`,
    sendText: (network: string, cost: string) =>
      `Your wallet asks you for each on ${network}, or once for all if it can. The gas is about ${cost}, paid by the account of the wallet.`,
    sendAction: 'Open the wallet',
    wallet: 'Wallet',
    unnamed: 'Browser wallet',
    number: 'Number',
    call: (number: number) => `Transaction ${number}`,
    balances,
    progress: 'Progress',
    state: 'State',
    states: {
      waiting: 'Not sent yet',
      asked: 'Look into your wallet',
      sent: 'Sent',
      together: 'Sent with the others',
      rejected: 'Not sent',
      unsure: 'May be sent: look into your wallet',
      unkept: 'Sent, but not kept here: note the hash',
    },
    allSent: 'All sent. It is booked once the blocks are final',
    under: 'Sent from browsers in the last week',
    transaction: 'Transaction or batch',
    by: 'By',
    time: 'Sent',
    booked: 'Booked',
    underWay: 'Under way',
    notSentTitle: 'Not everything was sent',
    noWallet:
      'No wallet was found in this browser. Install its extension or open this page in the wallet’s own browser, or save the file for Safe.',
    unsure:
      'The wallet did not say whether it has sent the transaction. Look at its history. Nothing is lost: plan again, and what is still there shows up.',
    refusals: {
      walletRejected: 'You declined in the wallet. What was sent before stays sent: plan again for the rest.',
      walletPending: 'The wallet is already waiting for your answer. Open it, answer, and plan again.',
      walletFunds: 'This account has too little of the network’s coin for the gas. Add some, and plan again.',
      walletFee: 'This account has too little of the network’s coin for the gas. Add some, and plan again.',
      walletAccount:
        'The wallet has another account now. Choose the one that should pay the gas, and plan again.',
      walletChain: (network: string) =>
        `The wallet is not on ${network}. Switch there in the wallet, and plan again.`,
      walletUnknownChain: (network: string, chainId: number) =>
        `The wallet does not know ${network}. Add it there (chain ${chainId}), and plan again.`,
      walletFailed:
        'The wallet did not answer as expected, and sent nothing. Unlock it and plan again, or save the file for Safe.',
    },
  },
});
