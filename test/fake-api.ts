/** An API inside the page, for what a real one does not do on demand: fail, stall, and answer nonsense. */
import type { Payment } from '../src/contract/checkout.js';
import { created, inState, locked, quoted } from './records.js';

export type Call = 'create' | 'retrieve' | 'set' | 'lock' | 'cancel' | 'verify';

export interface ApiRequest {
  readonly call: Call;
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
}

type Answer = (request: ApiRequest) => Response | Promise<Response>;

const paths: readonly [Call, RegExp][] = [
  ['create', /\/payments\/checkout$/],
  ['set', /\/currency\/set\//],
  ['lock', /\/currency\/lock$/],
  ['cancel', /\/cancel$/],
  ['verify', /\/verify\/checkout$/],
  ['retrieve', /\/payments\/checkout\/[^/]+$/],
];

export function success(data: unknown, headers: HeadersInit = {}): Response {
  return Response.json({ status: 'success', message: 'Done', data }, { headers });
}

export function failure(status: number, code: string, headers: HeadersInit = {}): Response {
  const data = { code, requestId: 'request-7' };
  return Response.json({ status: 'error', message: 'Refused', data }, { status, headers });
}

export class FakeApi {
  /** The record as the server has it. */
  payment: Payment = created();
  readonly requests: ApiRequest[] = [];
  /** What to answer instead, by call. */
  readonly answers: Partial<Record<Call, Answer>> = {};
  readonly #fetch = window.fetch;

  /** Takes the place of `fetch` for the API's paths. */
  install(): this {
    window.fetch = (input, init) => {
      const path = new URL(input instanceof Request ? input.url : input, location.href).pathname;
      const call = paths.find(([, pattern]) => path.startsWith('/v1/') && pattern.test(path))?.[0];
      return call ? this.#answer(call, path, init) : this.#fetch.call(window, input, init);
    };
    return this;
  }

  remove(): void {
    window.fetch = this.#fetch;
  }

  of(call: Call): ApiRequest[] {
    return this.requests.filter((request) => request.call === call);
  }

  async #answer(call: Call, path: string, init: RequestInit = {}): Promise<Response> {
    const { headers, body, signal } = init;
    const request: ApiRequest = {
      call,
      path,
      headers: new Headers(headers),
      body: typeof body === 'string' ? JSON.parse(body) : undefined,
      signal: signal ?? undefined,
    };
    this.requests.push(request);
    const answer = this.answers[call];
    if (answer === undefined) return this.#usual(request);
    // A real fetch rejects when its signal aborts, however long the server takes.
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new DOMException('The page aborted', 'AbortError')));
      Promise.resolve(answer(request)).then(resolve, reject);
    });
  }

  #usual({ call, path }: ApiRequest): Response {
    switch (call) {
      case 'create':
        return success({ payment: this.payment, url: 'https://pay.example/pay/x' });
      case 'set': {
        const [network = '', currency = ''] = path.split('/').reverse();
        const { currencyOptions = [] } = this.payment;
        this.payment = quoted({ currency, currencyNetwork: network, currencyOptions });
        break;
      }
      case 'lock':
        this.payment = locked();
        break;
      case 'cancel':
        this.payment = inState('cancelled');
        return success(undefined);
      default:
    }
    return success(this.payment, { date: new Date().toUTCString() });
  }
}

/** An answer that does not come before it is let go. */
export function held(answer: () => Response): { readonly answer: Answer; readonly release: () => void } {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { answer: () => released.then(answer), release };
}
