/** Simulates the other side of a demo payment: the payer's wallet, the blocks and the clock. */
import type { Payment } from 'crypto-checkout';
import {
  decimalOf,
  fromUnits,
  sandbox,
  toUnits,
  type Endpoint,
  type ParsedData,
} from 'crypto-checkout/contract';
import * as z from 'zod/mini';
import type { Config } from './shop-client.js';

export type SimulationName = 'exact' | 'half' | 'over' | 'wrong' | 'mine' | 'reorg' | 'deadline';

export interface Simulation {
  readonly name: SimulationName;
  readonly label: string;
  readonly explanation: string;
  /** Why the simulation is not available now. */
  readonly refusal?: string | undefined;
}

/** The reason before the price is locked. */
export const noAddress = 'The buttons work once the checkout shows an address.';

/** How many blocks a reorg replaces: enough to include any payment of the last minutes. */
const reorgDepth = 100;

export function simulationsOf(payment: Payment | undefined, config: Config): Simulation[] {
  const address = payment?.addressInformation;
  const seen = payment?.amountSeen ?? 0;
  const notYet = address ? undefined : noAddress;
  const complete = payment?.status === 'success' ? 'The payment is already complete.' : undefined;
  const isEnough = payment?.amountDue === 0;
  const enough = isEnough ? 'The full amount is already on its way.' : undefined;
  const wrong = payment && otherAsset(payment, config);
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
      explanation: `Replaces the last ${reorgDepth} blocks with empty ones. Their transfers are lost.`,
      refusal: notYet ?? (seen > 0 ? undefined : 'No funds have arrived yet.'),
    },
    {
      name: 'deadline',
      label: 'Wait past the deadline',
      explanation: 'Moves the test clock forward, for all payments on this server.',
      refusal: notYet ?? (payment?.status === 'in progress' ? undefined : 'The payment has ended.'),
    },
  ];
}

/** Runs a simulation and returns a sentence about what it did. Rejects with a message for the visitor. */
export async function simulate(name: SimulationName, payment: Payment, config: Config): Promise<string> {
  const { currency = '', currencyNetwork: network = '', networkName = network } = payment;
  const call = <E extends Endpoint>(endpoint: E, body: unknown) => request(endpoint, body, config.publicKey);
  const transfer = async (amount: string, coin = currency) => {
    const address = payment.addressInformation?.address;
    const { txHash } = await call(sandbox.transfer, { network, currency: coin, address, amount });
    return `Sent ${amount} ${coin} on ${networkName} (transaction ${txHash.slice(0, 12)}…).`;
  };
  const decimals = config.assets.find((asset) => asset.currency === currency)?.decimals ?? 6;
  const unitsOf = (amount = 0) => toUnits(decimalOf(amount), decimals);
  const due = unitsOf(payment.amountDue);
  switch (name) {
    case 'exact':
      return transfer(fromUnits(due, decimals));
    case 'half':
      return transfer(fromUnits(due / 2n, decimals));
    case 'over':
      return transfer(fromUnits(due > 0n ? (due * 5n) / 4n : unitsOf(payment.amount), decimals));
    case 'wrong':
      return transfer('1', otherAsset(payment, config)?.currency);
    case 'mine': {
      const { height } = await call(sandbox.mine, { network, count: 1 });
      return `${networkName} is now at block ${height}.`;
    }
    case 'reorg':
      await call(sandbox.reorg, { network, depth: reorgDepth, keep: false });
      return `The last ${reorgDepth} blocks of ${networkName} were replaced. Their transfers are lost.`;
    case 'deadline': {
      const { now } = await call(sandbox.advanceClock, { advanceSeconds: 0 });
      const seconds = Math.max(0, Math.ceil(((payment.expiresBy ?? 0) - Date.parse(now)) / 1000) + 1);
      await call(sandbox.advanceClock, { advanceSeconds: seconds });
      return `The test clock moved forward by ${seconds} s, past the deadline.`;
    }
    default:
      return name satisfies never;
  }
}

function otherAsset(payment: Payment, { assets }: Config): Config['assets'][number] | undefined {
  return assets.find(
    ({ currency, network }) => network === payment.currencyNetwork && currency !== payment.currency,
  );
}

const failure = z.object({ message: z.string() });

async function request<E extends Endpoint>(endpoint: E, body: unknown, key: string): Promise<ParsedData<E>> {
  const response = await fetch(endpoint.path, {
    method: endpoint.method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => undefined);
  const json: unknown = await response?.json().catch(() => undefined);
  if (response?.ok) {
    return z.parse(z.object({ data: endpoint.data ?? z.undefined() }), json).data as ParsedData<E>;
  }
  const problem = z.safeParse(failure, json);
  throw new Error(problem.success ? problem.data.message : 'The server cannot be reached.');
}
