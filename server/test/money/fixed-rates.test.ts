/** The file of fixed rates: the server does not start with a mistake in it, and names its place. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openFixedRates } from '../../src/core/money/fixed-rates.js';
import { errorMessage } from '../../src/core/shared/error-message.js';

const directory = await mkdtemp(join(tmpdir(), 'crypto-checkout-rates-'));
afterAll(() => rm(directory, { recursive: true }));

it.each([
  ['{}', 'source: is required'],
  [
    '{"source": "ours", "unitsPerDollar": {"USD": 1}, "dollarsPerUnit": {}}',
    'unitsPerDollar.USD: must be a decimal above 0, in quotes',
  ],
  [
    '{"source": "ours", "unitsPerDollar": {}, "dollarsPerUnit": {"BTC": "0"}}',
    'dollarsPerUnit.BTC: must be a decimal above 0, in quotes',
  ],
  ['[]', 'the file: must be an object with source, unitsPerDollar and dollarsPerUnit'],
])('%s is refused', async (content, problem) => {
  const file = join(directory, 'rates.json');
  await writeFile(file, content);
  const message = await openFixedRates(file, { real: () => 0 }).then(() => '', errorMessage);
  expect(message).toContain(`RATES_FILE: ${file} cannot be used: `);
  expect(message).toContain(problem);
});
