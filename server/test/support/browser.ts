/**
 * A browser that is signed in to the console, in the eyes of the server: it keeps the cookie, and says where requests
 * come from.
 */
import type { Role } from 'crypto-checkout/contract';
import { consoleModule } from '../../src/modules/console/module.js';
import { call, type Answer, type CallOptions } from './call.js';
import type { TestServer } from './server.js';

export interface TestBrowser {
  /** The cookie as it is sent; empty if there is none. */
  cookie: string;
  send(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

/** @param site its header about the page that asks; null: it is too old to say */
export function openBrowser(url: string, cookie = '', site: string | null = 'same-origin'): TestBrowser {
  return {
    cookie,
    async send(method, path, { headers, ...options } = {}) {
      const answer = await call(url, method, path, {
        ...options,
        headers: {
          ...(site !== null && { 'Sec-Fetch-Site': site }),
          'X-Checkout-Mode': 'test',
          ...(this.cookie !== '' && { Cookie: this.cookie }),
          ...headers,
        },
      });
      const set = answer.headers.get('set-cookie');
      if (set !== null) this.cookie = set.includes('Max-Age=0') ? '' : (set.split(';')[0] ?? '');
      return answer;
    },
  };
}

/** Invites somebody to a merchant's team, by default the first one's. @returns the token of the link */
export async function invite(
  server: Pick<TestServer, 'app' | 'database' | 'bootstrapped'>,
  role: Role,
  email: string,
  merchantId = server.bootstrapped.merchantId,
): Promise<string> {
  const person = { merchantId, email, role };
  const { signInUrl } = await server.database.write((transaction) =>
    consoleModule.rules(server.app).people.invite(transaction, person, 'test'),
  );
  return signInUrl.split('#')[1] ?? '';
}

/** Signs somebody in, who is invited for it. */
export async function signIn(
  server: TestServer,
  role: Role,
  email = `${role}@shop.example`,
  merchantId?: string,
): Promise<TestBrowser> {
  const browser = openBrowser(server.url);
  const token = await invite(server, role, email, merchantId);
  const { status } = await browser.send('POST', '/console/api/sign-in', { body: { token } });
  if (status !== 200) throw new Error(`Could not sign in: ${status}`);
  return browser;
}
