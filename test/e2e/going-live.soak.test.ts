/** The worked example of docs/going-live.md on one's own machine, command by command, as written there. */
import { execFile } from 'node:child_process';
import { chmod, readFile, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { startAnvil, type Anvil } from '../../server/test/support/anvil.js';
import { useStageWithCommands, writeNetworks } from './stage.js';

const root = resolve(import.meta.dirname, '../..');
let anvil: Anvil;

const { stage, env, pathOf } = useStageWithCommands({
  async prepare(directory) {
    anvil = await startAnvil();
    await anvil.rpc('evm_setIntervalMining', [1]);
    const settings = await writeNetworks(directory, { 'evm-dev': { nodes: [anvil.url] } });
    await chmod(settings.NETWORKS_FILE, 0o600);
    await symlink(join(root, 'server'), join(directory, 'server'));
    return settings;
  },
});

afterAll(() => anvil.stop());

/** The payer's actions on the page of the refund's link. */
const enterAddress = `curl -sS "$API/refund-claims/address" -H 'Content-Type: application/json' \\
  -d "{\\"token\\":\\"$(get claimUrl < refund.json | sed 's/.*#//')\\",\\"address\\":\\"$PAYER\\"}" > claim.json
`;

test('each command of the part on anvil works as written, up to books without a fault', async () => {
  const guide = await readFile(join(root, 'docs/going-live.md'), 'utf8');
  const [example = ''] = guide.split('## 2. On a test network');
  const blocks = [...example.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) => block);
  // The chain and the server run already.
  const [chain = '', server = '', ...commands] = blocks;
  expect([chain, server]).toEqual([expect.stringContaining('anvil'), expect.stringContaining('npm start')]);
  const script = commands
    .map((block) => (block.includes('refunds approve') ? enterAddress + block : block))
    .join('\n')
    .replaceAll('http://127.0.0.1:8545', anvil.url)
    .replaceAll('http://127.0.0.1:8080', stage.server.url);
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    cwd: pathOf(''),
    env: { ...process.env, ...env() },
  });
  for (const expected of [
    '0  0x9858EfFD',
    'There is no problem.',
    '0.03278689\n',
    'success\n',
    "{ currency: 'ETH', amount: 0.04, fee: 0.0004, net: 0.0396 }",
    'ETH       0.0396     0.0396  0.04 on evm-dev',
    'feeBasisPoints      0',
    'amount          0.02',
    'status          awaiting_approval',
    'status          paid',
    'ETH, as the books say',
  ])
    expect(stdout).toContain(expected);
}, 180_000);
