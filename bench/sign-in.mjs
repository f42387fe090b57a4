/** Signs somebody in to the console of a benchmark's server. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * @param {string} url
 * @param {string} databaseUrl
 * @param {string} merchant
 * @returns {Promise<string>} the cookie, as `name=value`
 */
export async function signIn(url, databaseUrl, merchant) {
  const cli = fileURLToPath(new URL('../server/dist/cli.js', import.meta.url));
  const words = [
    'users',
    'invite',
    '--merchant',
    merchant,
    '--email',
    'bench@example.com',
    '--role',
    'owner',
  ];
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...words], {
    env: { ...process.env, DATABASE_URL: databaseUrl, NETWORKS_FILE: '' },
  });
  const token = /#([\w-]+)/.exec(stdout)?.[1] ?? '';
  const response = await fetch(`${url}/console/api/sign-in`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' },
    body: JSON.stringify({ token }),
  });
  if (!response.ok) throw new Error(`Signing in: HTTP ${response.status} ${await response.text()}`);
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}
