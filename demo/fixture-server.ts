/** Answers the checkout's calls from fixtures, for pages that show states. Nothing leaves the page. */
import type { Payment } from 'crypto-checkout';
import type { TransferCheck } from 'crypto-checkout/contract';
import type { GalleryState } from './gallery-states.js';

const never = new Promise<Response>(() => {});

/** @returns the states by the key that their element must use, after `pk_test_` */
export function answerFromFixtures(all: readonly GalleryState[]): ReadonlyMap<string, GalleryState> {
  const states = new Map(all.map((state, index) => [`gallery-${index}`, state]));
  window.fetch = (input, init) => {
    const path = new URL(input instanceof Request ? input.url : input, location.href).pathname;
    const key = new Headers(init?.headers).get('Authorization')?.replace('Bearer pk_test_', '') ?? '';
    return answer(states.get(key), path);
  };
  return states;
}

const offer = { coins: ['USDT', 'BTC', 'ETH', 'USDC', 'BNB', 'TRX', 'LTC', 'POL'], minutes: 30 };

function answer(state: GalleryState | undefined, path: string): Promise<Response> {
  const call = path.endsWith('/payments/checkout')
    ? 'create'
    : path.includes('/currency/set/')
      ? 'set'
      : path.endsWith('/currency/lock')
        ? 'lock'
        : 'verify';
  const isFirst = call === 'verify' && !path.endsWith('/verify/checkout');
  if (path.includes('/checkout-offer/')) return Promise.resolve(Response.json(offer));
  const trouble = state?.trouble?.[call];
  if (path.includes('/transfers/')) return Promise.resolve(reply(state?.transfer));
  if (trouble === 'hangs') return never;
  if (trouble === 'fails' && !isFirst) return Promise.resolve(refusal(call));
  return Promise.resolve(reply(state?.payment));
}

/** Permanent failures are shown immediately; temporary ones keep the checkout retrying. */
const refusals = {
  create: { status: 401, code: 'invalid_api_key', message: 'The key is not valid' },
  set: { status: 400, code: 'unsupported_currency', message: 'USDT is not available on tron' },
  lock: { status: 400, code: 'unsupported_currency', message: 'USDT is not available on tron' },
  verify: { status: 503, code: 'rate_unavailable', message: 'No fresh rate' },
} as const;

function refusal(call: keyof typeof refusals): Response {
  const { status, code, message } = refusals[call];
  return Response.json({ status: 'error', message, data: { code, requestId: 'gallery' } }, { status });
}

function reply(data: Payment | TransferCheck | undefined): Response {
  const headers = { Date: new Date().toUTCString() };
  return Response.json({ status: 'success', message: 'Done', data }, { headers });
}
