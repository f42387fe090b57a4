/** Runs commands next to the running server, and gives its merchant deposit keys for the real networks of a test. */
import { expect, vi } from 'vitest';
import { runCommandLine } from '../../server/test/support/command-line.js';
import type { Stage } from './stage.js';

/** The accounts m/44'/60'/0' and m/84'/1'/0' of the seed of 32 bytes that are all 9. */
const keys = {
  evm: 'xpub6BzDmPGP69jotX9BJ1TKZ7mFzkxUwJ5RxfZAzKUJ8NsGSpEvumjKjEfUiYSamNoFzyobJyMY7T7VT4SBnUuEnoLS25rvmpQvcQZXTGC6GKw',
  litecoin:
    'vpub5ZhyYzqxFMvArtCSqnJd7Pnyn3ab1khYYXv2UFBnXbcqN4EcXKw1ChJzQcKnpdPiNy3SBXWjXMUkK4vQLjrAZbB6AtgfkE2vEYjF3bgMfWd',
} as const;

/** The server's settings. */
export type ServerEnv = Readonly<Record<'DATABASE_URL' | 'NETWORKS_FILE', string>>;

/** @returns the output of the command, parsed */
export async function runCommand(serverEnv: ServerEnv, ...words: string[]): Promise<unknown> {
  const { DATABASE_URL, ...env } = serverEnv;
  const { exitCode, stdout, stderr } = await runCommandLine(DATABASE_URL, [...words, '--json'], env);
  if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}

export async function merchantIdOf(serverEnv: ServerEnv): Promise<string> {
  const [merchant] = (await runCommand(serverEnv, 'merchants', 'list')) as { id: string }[];
  return merchant?.id ?? '';
}

/** Resolves when payers are offered the network. */
export async function setDepositKey(
  stage: Stage,
  serverEnv: ServerEnv,
  merchantId: string,
  family: keyof typeof keys,
  network: string,
): Promise<void> {
  const merchant = ['--merchant', merchantId, '--mode', 'test'];
  await runCommand(
    serverEnv,
    'deposit-keys',
    'set',
    ...merchant,
    '--family',
    family,
    '--xpub',
    keys[family],
    '--yes',
  );
  // A running server takes up a key within two seconds.
  await vi.waitFor(
    async () => {
      const { currencyOptions = [] } = (await stage.create()).payment;
      expect(currencyOptions.map((option) => option.network)).toContain(network);
    },
    { timeout: 20_000, interval: 200 },
  );
}
