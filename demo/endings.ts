/** Plays every ending of a payment in turn, each with a caption. */
import type { CheckoutStatus, CryptoCheckout } from 'crypto-checkout';
import type { SimulationName } from './shop-client.js';

interface Ending {
  readonly caption: string;
  /** The simulated steps, and the states to wait for in between. */
  readonly steps: readonly (SimulationName | CheckoutStatus)[];
}

const endings: readonly Ending[] = [
  {
    caption: 'Paid: the exact amount arrives and is confirmed.',
    steps: ['exact', 'mine', 'mine', 'success'],
  },
  {
    caption: 'Partial: half arrives. The card asks for the rest, at the same address.',
    steps: ['half', 'mine', 'mine', 'partially-paid'],
  },
  {
    caption: 'Wrong coin: it is named immediately, and the payment continues.',
    steps: ['wrong', 'mine', 'mine'],
  },
  {
    caption: 'Late: it comes after the deadline, and is worth the price, so the shop accepts it.',
    steps: ['deadline', 'expired', 'exact', 'mine', 'mine', 'success'],
  },
  {
    caption: 'Reversed: the chain reverts a confirmed payment, and the open page says so.',
    steps: ['exact', 'mine', 'mine', 'success', 'reorg', 'error'],
  },
  {
    caption: 'Over: too much arrives. It is paid, and the shop sends the excess back.',
    steps: ['over', 'mine', 'mine', 'success', 'refund', 'mine', 'mine'],
  },
];

/** Time to read the address, and then the ending. */
const addressMs = 1200;
const endingMs = 4000;
const refreshMs = 1000;
/** Timeout, after which the server or the network has failed. */
const patienceMs = 30_000;

export interface Stage {
  /** Places a new order, and returns its checkout, which has not started. */
  readonly newCheckout: () => Promise<CryptoCheckout>;
  readonly simulate: (name: SimulationName) => Promise<void>;
  readonly caption: (text: string) => void;
  readonly signal: AbortSignal;
}

/** @throws the signal's reason once it is aborted */
export async function playEndings(stage: Stage): Promise<void> {
  for (const [index, { caption, steps }] of endings.entries()) {
    const { signal } = stage;
    stage.caption(`${index + 1} of ${endings.length}. ${caption}`);
    const checkout = await stage.newCheckout();
    signal.throwIfAborted();
    void checkout.start();
    await reach(checkout, 'awaiting-funds', signal);
    await pause(addressMs, signal);
    for (const step of steps) {
      if (isSimulation(step)) {
        await stage.simulate(step);
        // Not at its next poll: the visitor is waiting.
        void checkout.refresh();
      } else await reach(checkout, step, signal);
      signal.throwIfAborted();
    }
    // Later steps, such as a refund, are shown immediately too.
    for (let shownMs = 0; shownMs < endingMs; shownMs += refreshMs) {
      await pause(refreshMs, signal);
      void checkout.refresh();
    }
  }
}

const simulations: ReadonlySet<string> = new Set([
  'exact',
  'half',
  'over',
  'wrong',
  'mine',
  'reorg',
  'deadline',
  'refund',
]);

function isSimulation(step: string): step is SimulationName {
  return simulations.has(step);
}

async function reach(checkout: CryptoCheckout, status: CheckoutStatus, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (checkout.status !== status) {
    if (performance.now() > deadline) throw new Error(`The checkout did not become ${status}.`);
    await pause(50, signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.throwIfAborted();
    signal.addEventListener('abort', stop, { once: true });
  });
}
