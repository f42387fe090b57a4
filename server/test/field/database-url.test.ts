/** Public reports of URLs of PostgreSQL that lead nowhere, or somewhere else: the start says what to change, and never the password. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/database.js';
import { engines, sqlite } from '../support/engines.js';
import { startServer } from '../support/server.js';

const [postgres] = engines.filter(({ name }) => name === 'PostgreSQL');
const secret = 'Tr0ub4dor';
const encoded = /percent-encoded in it: %23 for #, %2F for \/, %3F for \?, %40 for @/;
/** 127.0.0.1, because a mistake must not send a password to any other host. */
const at = '127.0.0.1:9';

/** The URL, and what leads out. */
const refused: [report: string, url: string, words: RegExp][] = [
  ['connection-string#42: # in a password', `postgres://ada:#${secret}@${at}/shop`, encoded],
  ['node-postgres: # behind it', `postgres://ada:${secret}#1@${at}/shop`, encoded],
  ['data-atom#53: / in a password', `postgres://ada:my/${secret}@${at}/shop`, encoded],
  ['data-atom#53: / after digits', `postgres://ada:123/${secret}@${at}/shop`, encoded],
  ['materialize#36266: ? in a password', `postgres://ada:what?${secret}@${at}/shop`, encoded],
  [
    'pg-boss#447, node-postgres#2781: several hosts',
    `postgres://ada:${secret}@${at},127.0.0.2:9/shop?target_session_attrs=read-write`,
    /one host only.*follows the primary/,
  ],
  [
    'node-postgres#2308: several hosts, one port',
    `postgres://ada:${secret}@127.0.0.1,127.0.0.2:9/shop`,
    /one host only/,
  ],
  [
    'libpq: several hosts as a parameter',
    `postgres://ada:${secret}@/shop?host=127.0.0.1,127.0.0.2`,
    /one host only/,
  ],
  [
    'node-postgres: no database, which is named as the user then',
    `postgres://ada:${secret}@${at}`,
    /names no database.*\/NAME/,
  ],
  [
    'node-postgres: no database, with a slash',
    `postgres://ada:${secret}@${at}/?sslmode=disable`,
    /names no database/,
  ],
  ['a port that is none', `postgres://ada:${secret}@127.0.0.1:543x/shop`, /host or its port cannot be read/],
  [
    'a root certificate that is not there',
    `postgres://ada:${secret}@${at}/shop?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`,
    /sslrootcert must be the path of a PEM file.*ENOENT.*\/nowhere\/ca.pem/,
  ],
  [
    'libpq 16: sslrootcert=system',
    `postgres://ada:${secret}@${at}/shop?sslmode=verify-full&sslrootcert=system`,
    /leave sslrootcert=system out/,
  ],
];

describe.each(refused)('%s', (_, url, words) => {
  it('A wrong DATABASE_URL is refused at the start, in words that help and without the password', async () => {
    const start = startServer({ engine: sqlite, databaseUrl: url });
    const error = await start.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(Error);
    const { message } = error as Error;
    expect(message).toMatch(/^DATABASE_URL: the database cannot be opened: /);
    expect(message).toMatch(words);
    expect(message).not.toContain(secret);
  });
});

describe.skipIf(!postgres)('a URL that can be used', () => {
  // pgbackweb#3, crystal#1694, pghero#280: the last @ ends the password, and percent-encoded characters are decoded
  it.each(['p@ss', 'p%40ss%23%2F%3F', 'p%w', 'p[w]{}^$', 'p:w', 'a b'])(
    'A URL with this password can be used: %s',
    async (password) => {
      const made = await postgres?.create();
      onTestFinished(() => made?.dispose());
      const url = new URL(made?.url ?? '');
      const opened = openDatabase(`postgres://postgres:${password}@${url.host}${url.pathname}`);
      onTestFinished(async () => (await opened).close());
      await expect(opened.then((database) => database.ping())).resolves.toBeUndefined();
    },
  );

  it('a URL may name a readable root certificate, and an error says so if PostgreSQL has no TLS', async () => {
    const made = await postgres?.create();
    onTestFinished(() => made?.dispose());
    const folder = await mkdtemp(join(tmpdir(), 'crypto-checkout-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'ca.pem');
    await writeFile(file, '');
    await expect(openDatabase(`${made?.url ?? ''}?sslmode=verify-full&sslrootcert=${file}`)).rejects.toThrow(
      /does not support SSL connections\. Turn on ssl in PostgreSQL, or leave sslmode out of DATABASE_URL/,
    );
  });
});
