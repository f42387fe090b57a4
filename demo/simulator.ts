/** The actions that can be simulated for a demo payment now. The shop's server performs them. */
import type { Config, SimulatedPayment, SimulationName } from './shop-client.js';

export interface Simulation {
  readonly name: SimulationName;
  readonly label: string;
  readonly explanation: string;
  /** The reason that the simulation is not available now. */
  readonly refusal?: string | undefined;
}

/** The reason before the price is locked. */
export const noAddress = 'The buttons work once the checkout shows an address.';

export function simulationsOf(payment: SimulatedPayment | undefined, config: Config): Simulation[] {
  const address = payment?.addressInformation;
  const seen = payment?.amountSeen ?? 0;
  const notYet = address ? undefined : noAddress;
  const complete = payment?.status === 'success' ? 'The payment is already complete.' : undefined;
  const isEnough = payment?.amountDue === 0;
  const enough = isEnough ? 'The full amount is already on its way.' : undefined;
  const wrong = payment && otherAsset(payment, config);
  const noExcess =
    notYet ?? (payment?.state === 'settled_over' ? undefined : 'Nothing was paid above the price.');
  return [
    {
      name: 'exact',
      label: 'Pay exactly',
      explanation: 'Sends what is still due.',
      refusal: notYet ?? complete ?? enough,
    },
    {
      name: 'half',
      label: 'Pay half',
      explanation: 'Sends half of what is still due.',
      refusal: notYet ?? complete ?? enough,
    },
    {
      name: 'over',
      label: 'Pay too much',
      explanation: isEnough ? 'Sends the full amount again.' : 'Sends a quarter more than is due.',
      refusal: notYet ?? complete,
    },
    {
      name: 'wrong',
      label: 'Send the wrong coin',
      explanation: wrong
        ? `Sends 1 ${wrong.currency} to the same address.`
        : 'Sends another coin to the same address.',
      refusal: notYet ?? complete ?? (wrong ? undefined : 'This network has no other coin.'),
    },
    {
      name: 'mine',
      label: 'Mine a block',
      explanation: 'Adds one block to the network at once.',
      refusal: notYet,
    },
    {
      name: 'reorg',
      label: 'Reorganise the chain',
      explanation: 'Replaces the last 100 blocks. The payment’s transfers in them are lost.',
      refusal: notYet ?? (seen > 0 ? undefined : 'No funds have arrived yet.'),
    },
    {
      name: 'deadline',
      label: 'Wait past the deadline',
      explanation: 'Moves the test clock forward, for all payments of this shop.',
      refusal: notYet ?? (payment?.status === 'in progress' ? undefined : 'The payment has ended.'),
    },
    {
      name: 'refund',
      label: 'Refund the excess',
      explanation: 'The payer says where to, the shop approves, and the network sends it.',
      refusal: noExcess,
    },
    {
      name: 'claim',
      label: 'Refund it by a link',
      explanation: 'You say where to, as the payer. Press it again to approve, as the shop.',
      refusal: noExcess,
    },
  ];
}

function otherAsset(payment: SimulatedPayment, { assets }: Config): Config['assets'][number] | undefined {
  return assets.find(
    ({ currency, network }) => network === payment.currencyNetwork && currency !== payment.currency,
  );
}
