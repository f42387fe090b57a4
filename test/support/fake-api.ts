/** A fake API inside the page. It can do what a real one does not do on demand: fail, hang, and send invalid replies. */
import { aTimeout } from '@open-wc/testing';
import type { Payment } from '../../src/contract/checkout.js';
import { createdPayment, paymentInState, lockedPayment, quotedPayment } from './payments.js';

type Call = 'transfer' | 'create' | 'retrieve' | 'set' | 'lock' | 'cancel' | 'verify';

interface ApiRequest {
  readonly call: Call;
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
}

type Handler = (request: ApiRequest) => Response | Promise<Response>;

const paths: readonly [Call, RegExp][] = [
  ['transfer', /\/transfers\/[^/]+$/],
  ['create', /\/payments\/checkout$/],
  ['set', /\/currency\/set\//],
  ['lock', /\/currency\/lock$/],
  ['cancel', /\/cancel$/],
  ['verify', /\/verify\/checkout$/],
  ['retrieve', /\/payments\/checkout\/[^/]+$/],
];

export function successReply(data: unknown, headers: HeadersInit = {}): Response {
  return Response.json({ status: 'success', message: 'Done', data }, { headers });
}

export function failureReply(status: number, code: string, headers: HeadersInit = {}): Response {
  const data = { code, requestId: 'request-7' };
  return Response.json({ status: 'error', message: 'Refused', data }, { status, headers });
}

const offered = { coins: ['USDT', 'BTC', 'ETH', 'USDC', 'BNB', 'TRX', 'LTC', 'POL'], minutes: 30 };

export class FakeApi {
  /** The payment as the server has it. */
  payment: Payment = createdPayment();
  readonly requests: ApiRequest[] = [];
  /** The reference that the payment was created with. */
  #txRef: string | undefined;
  /** Replace the default replies. */
  readonly handlers: Partial<Record<Call, Handler>> = {};
  /** The server's answer for the pay button, and the requested paths. */
  offer: () => Response | Promise<Response> = () => Response.json(offered);
  readonly offersAsked: string[] = [];
  readonly #fetch = window.fetch;
  readonly #replies: Promise<Response>[] = [];

  /** Replaces `fetch` for the API's paths, and forgets what came before. */
  install(): this {
    this.payment = createdPayment();
    this.#txRef = undefined;
    this.requests.length = 0;
    this.offersAsked.length = 0;
    this.offer = () => Response.json(offered);
    this.#replies.length = 0;
    Object.keys(this.handlers).forEach((call) => Reflect.deleteProperty(this.handlers, call));
    window.fetch = (input, init) => {
      const path = new URL(input instanceof Request ? input.url : input, location.href).pathname;
      if (path.includes('/checkout-offer/')) {
        this.offersAsked.push(path);
        return Promise.resolve(this.offer());
      }
      const call = paths.find(([, pattern]) => path.startsWith('/v1/') && pattern.test(path))?.[0];
      if (!call) return this.#fetch.call(window, input, init);
      const reply = this.#reply(call, path, init);
      if (!this.handlers[call]) this.#replies.push(reply);
      return reply;
    };
    return this;
  }

  /** Resolves once the page has read every reply: one read later would be remembered for the order of the next test. */
  async remove(): Promise<void> {
    window.fetch = this.#fetch;
    await Promise.allSettled(this.#replies);
    await aTimeout(0);
    await aTimeout(0);
  }

  requestsFor(call: Call): ApiRequest[] {
    return this.requests.filter((request) => request.call === call);
  }

  async #reply(call: Call, path: string, init: RequestInit = {}): Promise<Response> {
    const { headers, body, signal } = init;
    const request: ApiRequest = {
      call,
      path,
      headers: new Headers(headers),
      body: typeof body === 'string' ? JSON.parse(body) : undefined,
      signal: signal ?? undefined,
    };
    this.requests.push(request);
    const handler = this.handlers[call];
    if (handler === undefined) return this.#defaultReply(request);
    // Like a real fetch, reject on abort.
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new DOMException('The page aborted', 'AbortError')));
      Promise.resolve(handler(request)).then(resolve, reject);
    });
  }

  #defaultReply({ call, path, body }: ApiRequest): Response {
    const payment = () => ({ ...this.payment, txRef: this.#txRef ?? this.payment.txRef });
    switch (call) {
      case 'create':
        this.#txRef = (body as Payment).txRef;
        return successReply({ payment: payment(), url: 'https://pay.example/pay/x' });
      case 'set': {
        const [network = '', currency = ''] = path.split('/').reverse();
        const { currencyOptions = [] } = this.payment;
        this.payment = quotedPayment({ currency, currencyNetwork: network, currencyOptions });
        break;
      }
      case 'lock':
        this.payment = lockedPayment();
        break;
      case 'cancel':
        this.payment = paymentInState('cancelled');
        return successReply(undefined);
      default:
    }
    return successReply(payment(), { date: new Date().toUTCString() });
  }
}

/** A fake API and an empty storage for each test of a file. */
export function useFakeApi(): FakeApi {
  const api = new FakeApi();
  beforeEach(() => {
    localStorage.clear();
    api.install();
  });
  afterEach(() => api.remove());
  return api;
}

/** A handler that does not reply until it is released. */
export function heldReply(reply: () => Response): {
  readonly handler: Handler;
  readonly release: () => void;
} {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { handler: () => released.then(reply), release };
}
