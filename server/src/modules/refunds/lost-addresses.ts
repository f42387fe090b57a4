/** Addresses from which nobody can ever send: coins sent there are lost. */
import { hex } from '@scure/base';
import { addressFormat } from '../../core/addresses/formats.js';
import type { Network } from '../../core/chains/networks.js';
import { isBitcoinLike } from '../../core/families/kinds.js';

/** @param address in its canonical form */
export function isLost({ mode, family, addressNet }: Network, address: string): boolean {
  const written = hex.encode(addressFormat(mode, family, addressNet).bytes(address));
  if (/^(..)\1*$/.test(written)) return true;
  return isBitcoinLike(family)
    ? listedOutputs.has(written)
    : accounts.test(written) || listedAccounts.has(written);
}

/**
 * The precompiled and system contracts of all EVM networks, which are the numbers up to 0xffff, with 0x…dead among them; other
 * spellings of "dead"; the predeployed contracts of OP Stack networks, and what implements them.
 */
const accounts =
  /^(?:0{36}[0-9a-f]{4}|(?:dead){10}|(?:dead){9}000[12]|dead(?:0{36}|000000000000000042069420694206942069)|420{34}[0-9a-f]{4}|(?:c0d3){9}[0-9a-f]{4})$/;

const listedAccounts: ReadonlySet<string> = new Set([
  // The caller of Ethereum's system contracts, its deposit contract, and the contracts of EIP-4788, 2935, 7002 and 7251.
  'fffffffffffffffffffffffffffffffffffffffe',
  '00000000219ab540356cbb839cbe05303d7705fa',
  '000f3df6d732807ef1319fb7b8bb8522d0beac02',
  '0000f90827f1c53a10cb7a02335b175320002935',
  '00000961ef480eb55e80d19ad83579a64c007002',
  '0000bbddc7ce488642fb579f8b00f3a590007251',
  // Arbitrum's system.
  'a4b05fffffffffffffffffffffffffffffffffff',
  // Tron's Blackhole, TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy.
  '77944d19c052b73ee2286823aa83f8138cb7032f',
]);

const listedOutputs: ReadonlySet<string> = new Set([
  // 1BitcoinEaterAddressDontSendf59kuE, and Counterparty's proof of burn.
  '759d6677091e973b9e9d99f19c68fbf43e3f05f9',
  '818895f3dc2c178629d3d2d8fa3ec4a3f8179821',
  // The point of BIP-341 whose key nobody knows.
  '50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0',
]);
