/**
 * The demo shop's simulator: plays the payer's wallet, the network and the clock for one payment of the shop. The shop's
 * server runs it, because `/sandbox` takes secret keys only.
 */
import { ApiError, createMerchantClient, type MerchantClient } from 'crypto-checkout/client';
import {
  decimalOf,
  fromUnits,
  sandbox,
  toUnits,
  type Endpoint,
  type ParsedData,
  type Payment,
} from 'crypto-checkout/contract';
import * as z from 'zod/mini';

export const simulationNames = [
  'exact',
  'half',
  'over',
  'wrong',
  'mine',
  'reorg',
  'deadline',
  'refund',
  'claim',
] as const;
type SimulationName = (typeof simulationNames)[number];

/** The result of a simulation, as a sentence, and the page that it leads to. */
export interface Simulated {
  readonly done: string;
  /** The page where the payer of a refund names an address, and an address to name. */
  readonly claim?: { readonly url: string; readonly address: string };
}

/** The shop or the sandbox refused. The message is for the visitor. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(message: string, status = 409) {
    super(message);
    this.status = status;
  }
}

interface Access {
  readonly apiUrl: string;
  readonly secretKey: string;
}

/** The number of blocks that a reorg replaces: enough to include any payment of the last minutes. */
const reorgDepth = 100;

/**
 * Runs a simulation for a payment.
 * @throws Refused
 */
export async function simulate(name: SimulationName, payment: Payment, access: Access): Promise<Simulated> {
  const merchant = createMerchantClient(access);
  const { data: currencies } = await merchant.currencies.list();
  return run(name, payment, currencies, merchant, access).catch((error: unknown) => {
    throw error instanceof ApiError ? new Refused(error.message) : error;
  });
}

type ShopCurrency = Awaited<ReturnType<MerchantClient['currencies']['list']>>['data'][number];

async function run(
  name: SimulationName,
  payment: Payment,
  currencies: readonly ShopCurrency[],
  merchant: MerchantClient,
  access: Access,
): Promise<Simulated> {
  const { currency = '', currencyNetwork: network = '', networkName = network } = payment;
  const address = payment.addressInformation?.address;
  if (address === undefined) throw new Refused('The payment has no address yet.');
  const call = <E extends Endpoint>(endpoint: E, body: unknown) => request(endpoint, body, access);
  const transfer = async (amount: string, coin = currency) => {
    const { txHash } = await call(sandbox.transfer, { network, currency: coin, address, amount });
    return { done: `Sent ${amount} ${coin} on ${networkName} (transaction ${txHash.slice(0, 12)}…).` };
  };
  const decimals = currencies.find(({ code }) => code === currency)?.payableDecimals ?? 6;
  const unitsOf = (amount = 0) => toUnits(decimalOf(amount), decimals);
  const due = unitsOf(payment.amountDue);
  switch (name) {
    case 'exact':
      return transfer(fromUnits(due, decimals));
    case 'half':
      return transfer(fromUnits(due / 2n, decimals));
    case 'over':
      return transfer(fromUnits(due > 0n ? (due * 5n) / 4n : unitsOf(payment.amount), decimals));
    case 'wrong': {
      const other = currencies.find(
        ({ code, networks }) => code !== currency && networks.some((one) => one.code === network),
      );
      if (!other) throw new Refused('This network has no other coin.');
      return transfer('1', other.code);
    }
    case 'mine': {
      const { height } = await call(sandbox.mine, { network, count: 1 });
      return { done: `${networkName} is now at block ${height}.` };
    }
    case 'reorg':
      await call(sandbox.reorg, { network, depth: reorgDepth, keep: false, address });
      return {
        done: `The last ${reorgDepth} blocks of ${networkName} were replaced. This payment's transfers in them are lost.`,
      };
    case 'deadline': {
      const { now } = await call(sandbox.advanceClock, { advanceSeconds: 0 });
      const seconds = Math.max(0, Math.ceil(((payment.expiresBy ?? 0) - Date.parse(now)) / 1000) + 1);
      await call(sandbox.advanceClock, { advanceSeconds: seconds });
      return { done: `The shop's test clock moved forward by ${seconds} s, past the deadline.` };
    }
    case 'refund':
      return refundExcess(payment, merchant);
    case 'claim':
      return refundByLink(payment, merchant);
    default:
      return name satisfies never;
  }
}

/** Plays the payer, who says where to, and the shop's staff, who approve. The simulated network then pays it as a transfer. */
async function refundExcess(
  { id, addressSentFrom }: Payment,
  { refunds }: MerchantClient,
): Promise<Simulated> {
  const { data } = await refunds.create({
    params: { payment_id: id },
    body: { ...excess, address: addressSentFrom[0] },
  });
  await refunds.approve({ params: { refund_id: data.id }, body: {} });
  return { done: `The shop sends ${decimalOf(data.amount)} ${data.currency} back.` };
}

/** Plays only the shop's staff: the visitor is the payer. The first time they send the link, and then they approve. */
async function refundByLink(
  { id, addressSentFrom }: Payment,
  { refunds }: MerchantClient,
): Promise<Simulated> {
  const [started] = (await refunds.list({ query: { paymentId: id } })).data;
  if (started?.status === 'awaiting_address') {
    throw new Refused('The shop waits for an address: give it on the page of the refund.');
  }
  if (started?.status === 'awaiting_approval') {
    await refunds.approve({ params: { refund_id: started.id }, body: { address: started.address ?? '' } });
    return {
      done: `The shop approves, and the network sends ${decimalOf(started.amount)} ${started.currency}.`,
    };
  }
  const { data } = await refunds.create({ params: { payment_id: id }, body: excess });
  return {
    done: `The shop sends the payer a link to claim ${decimalOf(data.amount)} ${data.currency}.`,
    claim: { url: data.claimUrl ?? '', address: addressSentFrom[0] ?? '' },
  };
}

const excess = { kind: 'excess', reason: 'You sent more than the price' } as const;

/** The time that the shop's test clock is ahead of the server's time. */
export async function clockAheadSeconds(access: Access): Promise<number> {
  const { now } = await request(sandbox.advanceClock, { advanceSeconds: 0 }, access);
  return Math.max(0, Math.round((Date.parse(now) - Date.now()) / 1000));
}

const failure = z.object({ message: z.string() });

async function request<E extends Endpoint>(
  endpoint: E,
  body: unknown,
  { apiUrl, secretKey }: Access,
): Promise<ParsedData<E>> {
  const response = await fetch(apiUrl + endpoint.path, {
    method: endpoint.method,
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => undefined);
  const json: unknown = await response?.json().catch(() => undefined);
  if (response?.ok) {
    return z.parse(z.object({ data: endpoint.data ?? z.undefined() }), json).data as ParsedData<E>;
  }
  const problem = z.safeParse(failure, json);
  throw new Refused(problem.success ? problem.data.message : 'The payment API is not responding.');
}
