/** The contract that makes forwarders, as `npm run contracts` compiled it: the same address and code on every EVM network. */
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';

const hex = z.string().check(z.regex(/^0x[0-9a-f]*$/));
const address = z.string().check(z.regex(/^0x[0-9a-fA-F]{40}$/));

const artifact = z.object({
  /** The deterministic deployment proxy, which takes the salt and the code. */
  deployer: address,
  salt: hex,
  address,
  /** What every forwarder delegates to. */
  implementation: address,
  initCode: hex,
  /** The code on chain, with what its constructor filled in. */
  code: hex,
  implementationCode: hex,
});

export const forwarderFactory = artifact.parse(
  JSON.parse(readFileSync(new URL('../../data/forwarder-factory.json', import.meta.url), 'utf8')),
);
