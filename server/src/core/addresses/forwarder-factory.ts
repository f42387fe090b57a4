/** The contract that makes the forwarders of treasuries: where it is, and with which code. */
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';

const hexText = z.string().check(z.regex(/^0x[0-9a-f]*$/));
const addressText = z.string().check(z.regex(/^0x[0-9a-fA-F]{40}$/));

const artifact = z.object({
  /** The deterministic deployment proxy, which takes the salt and the code. */
  deployer: addressText,
  salt: hexText,
  address: addressText,
  /** The contract that every forwarder delegates to. */
  implementation: addressText,
  initCode: hexText,
  /** The code on chain, with the values that its constructor filled in. */
  code: hexText,
  implementationCode: hexText,
});

/** The contract that makes forwarders, as `npm run contracts` compiled it: the same address and code on every EVM network. */
export const forwarderFactory = artifact.parse(
  JSON.parse(readFileSync(new URL('../../../data/forwarder-factory.json', import.meta.url), 'utf8')),
);

const { address: factoryAddress, implementation, deployer } = forwarderFactory;

/** The contracts of the forwarders themselves, in lower case: the factory first. */
export const forwarderContracts = [factoryAddress, implementation, deployer].map((one) => one.toLowerCase());
