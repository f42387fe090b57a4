/** Texts of the comparison with the chain. */
import { pick } from './pick.js';

const causes = {
  none: 'Found now. “Credit it” notes it, and a later block must confirm it. The server does the same within a day.',
  seen: 'The server looks again after the next block, and books what both looks agree on.',
  dust: 'More than in the books, but less than the smallest payment. Credit it, or leave it where it is.',
  shortage:
    'Less than in the books. If you moved these coins with the key of the address, the books do not know it: keep a note. If you did not, somebody else has the key, or the node is wrong: look the address up in an explorer, and move your other coins.',
  credited: 'Credited now.',
} as const;

const addresses = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'address' : 'addresses'}`;

export const texts = pick({
  en: {
    title: 'Compare with the chain',
    text: 'What your addresses hold must be what the books say. The server compares on its own, all addresses within a day. Here you can do it now.',
    networks: 'Networks',
    network: 'Network',
    compared: 'All compared',
    never: 'Not yet',
    progress: 'This round',
    percent: (share: number) => `${Math.floor(share * 100)} %`,
    noNetworks:
      'No network here has a node that reports balances. Blocks of Bitcoin and Litecoin name every payment, and simulated networks have no node.',
    compare: 'Compare now',
    stop: 'Stop',
    running: (name: string, count: number) => `Comparing ${name}: ${addresses(count)} so far`,
    stopped: (name: string, count: number) => `${name}: stopped after ${addresses(count)}.`,
    done: (name: string, count: number, height: number, found: number) =>
      `${name}: ${addresses(count)} at block ${height.toLocaleString('en')}, ${found === 0 ? 'no difference' : found === 1 ? '1 difference' : `${found} differences`}.`,
    now: 'Found just now',
    differences: 'Known differences',
    noDifferences: 'The books agree with the chain.',
    address: 'Address',
    amount: 'Difference',
    states: { none: 'New', seen: 'Seen once', dust: 'Dust', shortage: 'Missing', credited: 'Credited' },
    causes,
    advice: 'Next step',
    since: 'Since',
    payment: 'Payment',
    wallet: 'Wallet',
    credit: 'Credit it…',
    creditTitle: (sum: string) => `Credit ${sum}?`,
    creditText:
      'The server asks the nodes again. If they still agree, the amount is credited to the payment or the wallet of the address. This cannot be undone.',
    creditAction: 'Look again and credit',
    credited: 'Credited',
    notCredited: 'Noted. A later block must confirm it: try again in a minute',
  },
});
