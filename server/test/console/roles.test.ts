/**
 * The calls that each role may make: every route of the API, the sandbox and the console, over real HTTP, against the
 * table in roles.txt.
 */
import { allows, api, changesPath, consoleApi, type Role, roles, sandbox } from 'crypto-checkout/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, signIn, type TestBrowser } from '../support/browser.js';
import { sqlite } from '../support/engines.js';
import { fillPath, routesOf, type Route } from '../support/routes.js';
import { startServer, type TestServer } from '../support/server.js';

/** Open replies, for roles that may read the data whose changes they announce. */
const streams = [
  { name: 'home.retrieve', method: 'GET', path: `${changesPath}/{mode}` },
  { name: 'transactions.retrieve', method: 'GET', path: `${changesPath}/{mode}?payment={payment}` },
] as const;
const routes: readonly Pick<Route, 'name' | 'method' | 'path'>[] = [
  ...routesOf({ ...api, sandbox, ...consoleApi }).filter(({ endpoint }) => endpoint.key !== 'none'),
  ...streams,
];

const values: Readonly<Record<string, string>> = { mode: 'test', payment: '0'.repeat(26) };
/** Nobody has these ids. */
const urlOf = (path: string) => fillPath(path, (name) => values[name] ?? 'nobody');

let server: TestServer;
let real = Date.now();
beforeAll(async () => {
  server = await startServer({ engine: sqlite, overrides: { realNow: () => real } });
});
afterAll(() => server.stop());

/** The server's answer to a browser. Nobody has the id `nobody`, and no body is right, so nothing changes. */
async function ask(browser: TestBrowser, method: string, path: string): Promise<string> {
  if (path.startsWith(changesPath) && (await opens(browser, path))) return 'yes';
  const options = method === 'GET' ? {} : { body: { token: 1, role: 1, everywhere: 'x' } };
  const { body } = await browser.send(method, urlOf(path), options);
  const code = String((body.data as { code?: string } | undefined)?.code);
  if (['role_not_allowed', 'step_up_required', 'session_required', 'secret_key_required'].includes(code))
    return code;
  return 'yes';
}

/** True if a reply begins that would not end on its own. */
async function opens({ cookie }: TestBrowser, path: string): Promise<boolean> {
  const page = new AbortController();
  const headers = { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' };
  const response = await fetch(server.url + urlOf(path), { headers, signal: page.signal });
  page.abort();
  return response.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

describe('Each role', () => {
  const answers = new Map<string, string>();
  const permissions = new Map<Role, string[]>();
  beforeAll(async () => {
    for (const role of roles) {
      const browser = await signIn(server, role);
      const session = await browser.send('GET', '/console/api/session');
      permissions.set(role, consoleApi.session.retrieve.data.parse(session.body.data).permissions);
      real += 10 * 60_000;
      // The server checks if the role may call it before it checks how old the sign-in is.
      for (const { method, path } of routes) {
        answers.set(`${role} ${method} ${path}`, await ask(browser, method, path));
      }
      const fresh = await signIn(server, role);
      for (const { method, path } of routes) {
        const key = `${role} ${method} ${path}`;
        if (answers.get(key) !== 'step_up_required') continue;
        answers.set(key, (await ask(fresh, method, path)) === 'yes' ? 'fresh' : 'never');
      }
    }
  });

  it('Each role may make the calls that roles.txt grants it, some only after a fresh sign-in', async () => {
    const cell = (role: Role, method: string, path: string) => {
      const answer = answers.get(`${role} ${method} ${path}`) ?? '';
      return (answer === 'role_not_allowed' ? '-' : answer).padEnd(10);
    };
    const lines = routes.map(({ method, path }) =>
      `${`${method} ${path}`.padEnd(72)} ${roles.map((role) => cell(role, method, path)).join(' ')}`.trimEnd(),
    );
    const head = `${'route'.padEnd(72)} ${roles.map((role) => role.padEnd(10)).join(' ')}`.trimEnd();
    await expect(`${[head, ...lines].join('\n')}\n`).toMatchFileSnapshot('roles.txt');
  });

  it("a role's session says what it may call", () => {
    for (const role of roles) {
      const allowed = routes.filter(
        ({ method, path }) => answers.get(`${role} ${method} ${path}`) !== 'role_not_allowed',
      );
      const session = { permissions: permissions.get(role) ?? [] };
      const claimed = routes.filter(({ name }) => allows(session, name));
      expect(new Set(claimed.map(({ name }) => name)), role).toEqual(
        new Set(allowed.map(({ name }) => name)),
      );
      expect(session.permissions.length, role).toBeLessThan(claimed.length);
    }
  });

  it('No route changes deposit keys, the treasury, networks, merchants or fees', () => {
    const reachable = routes.flatMap(({ method, path }) => (method === 'GET' ? [] : path)).join('\n');
    expect(reachable).not.toMatch(
      /deposit-keys|treasury|gas|networks(?!\})|merchants|fee-basis|policy|\/live/,
    );
  });
});

it.each(routes)(
  '$method $path: an API key opens none of the console, and nobody without either',
  async (route) => {
    const { method, path } = route;
    const nobody = openBrowser(server.url);
    const { status, body } = await nobody.send(method, urlOf(path), {});
    const isConsole = path.startsWith('/console/');
    expect([status, body.data.code]).toEqual([401, isConsole ? 'session_required' : 'missing_api_key']);
    if (!isConsole) return;
    const key = server.secretKey;
    expect((await nobody.send(method, urlOf(path), { key })).body.data.code).toBe('session_required');
  },
);
