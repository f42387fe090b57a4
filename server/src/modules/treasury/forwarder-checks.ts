/**
 * Checks that a network can be offered to merchants with a treasury: the factory's code on the chain is the expected
 * one, the contract derives the same addresses as this server, and the treasury is there. Until all of that was seen,
 * no address of a forwarder is given out on the network.
 */
import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import type { AddressSource } from '../../core/addresses/address-sources.js';
import type { CurrentForwarders } from '../../core/addresses/deposit-keys.js';
import { addressOfWord, decimalsData } from '../networks/evm/abi.js';
import type { EvmNodes } from '../networks/evm/evm-nodes.js';
import type { Network } from '../../core/chains/networks.js';
import { placeOf, type EvmConnected, type TreasuryContext } from './context.js';
import { forwarderFactory } from '../../core/addresses/forwarder-factory.js';
import { addressData } from './factory.js';

/** A network that was ready is looked at again, in case of another node or a deep reorganisation. */
const recheckMs = 600_000;
const retryMs = 2000;

const notChecked = 'The forwarders have not been checked yet';

export function createForwarderChecks({
  networks,
  depositKeys,
  log,
}: Pick<TreasuryContext, 'networks' | 'depositKeys'> & { readonly log: Pick<Logger, 'warn' | 'info'> }) {
  const results = new Map<string, { readonly problem: string | undefined; readonly dueAt: number }>();
  const nameOf = ({ mode, code }: Pick<Network, 'mode' | 'code'>, sourceId: string) =>
    `${mode}/${code}/${sourceId}`;

  async function checkOne(
    on: EvmConnected,
    forwarders: CurrentForwarders,
    signal: AbortSignal,
  ): Promise<void> {
    const { network } = on;
    const name = nameOf(network, forwarders.source.id);
    const before = results.get(name);
    let problem: string | undefined;
    try {
      problem = await findForwarderProblem(on, forwarders, networks, signal);
    } catch {
      signal.throwIfAborted();
      // A node that does not answer says nothing about what is on the chain: the earlier result stays true. `/readyz`
      // shows it to anybody, so it does not quote the node.
      if (!before || before.problem !== undefined)
        problem = 'its nodes cannot be used. "networks check" says why';
    }
    results.set(name, { problem, dueAt: performance.now() + (problem === undefined ? recheckMs : retryMs) });
    if (before && before.problem === problem) return;
    const place = placeOf(on);
    if (problem !== undefined) log.warn(place, `Not offered to merchants with a treasury: ${problem}`);
    else log.info(place, 'The forwarder factory is there: offered to merchants with a treasury');
  }

  return {
    /** False for forwarders on a network that is not ready for them. */
    isOffered(network: Network, source: AddressSource): boolean {
      if (!source.forwarder) return true;
      const result = results.get(nameOf(network, source.id));
      return result !== undefined && result.problem === undefined;
    },

    /** Checks what was not checked yet or is due again. Asks no node while no merchant has a treasury. */
    async refresh(signal: AbortSignal): Promise<void> {
      for (const forwarders of depositKeys.forwarders()) {
        const due = networks.filter(
          ({ network }) =>
            network.mode === forwarders.scope.mode &&
            (results.get(nameOf(network, forwarders.source.id))?.dueAt ?? 0) <= performance.now(),
        );
        await Promise.all(due.map((network) => checkOne(network, forwarders, signal)));
      }
    },

    /** Why networks are not offered to merchants with a treasury. Names no merchant. */
    problems: () =>
      depositKeys.forwarders().flatMap(({ scope, source }) =>
        networks
          .filter(({ network }) => network.mode === scope.mode)
          .flatMap((on) => {
            const result = results.get(nameOf(on.network, source.id));
            const problem = result ? result.problem : notChecked;
            return problem === undefined ? [] : { ...placeOf(on), problem };
          }),
      ),
  };
}

/**
 * Why a network must not be offered to a merchant with a treasury; undefined if it can be.
 * @param networks all EVM networks: a treasury that is a contract on another one must be one here too
 * @throws NodesUnavailable
 */
export async function findForwarderProblem(
  on: EvmConnected,
  { source }: CurrentForwarders,
  networks: readonly EvmConnected[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const { network, evm } = on;
  const { problem } = await readFactory(evm, network.name, signal);
  if (problem !== undefined) return problem;
  const { treasury, salt } = source.forwarder;
  const indexes = [0, 1, ...Array.from({ length: 3 }, () => randomInt(2 ** 32))];
  const derived = await evm.run(
    (node) =>
      Promise.all(
        indexes.map((index) =>
          node.call({ to: forwarderFactory.address, data: addressData(treasury, salt(index)) }),
        ),
      ),
    signal,
  );
  for (const [position, index] of indexes.entries()) {
    if (addressOfWord(derived[position] ?? '') !== source.derive(index).toLowerCase()) {
      return `the factory on ${network.name} derives another address than this server for index ${index}. Do not use it, and report this`;
    }
  }
  const [code, decimals] = await evm.run(
    (node) => Promise.all([node.code(treasury), node.call({ to: treasury, data: decimalsData })]),
    signal,
  );
  if (code.includes(forwarderFactory.implementation.slice(2).toLowerCase())) {
    return `the treasury ${treasury} is a forwarder itself on ${network.name}: coins would go round. Set a wallet of yours`;
  }
  // A wallet that answers every call answers this one with nothing, or with more than the number of decimals.
  if (isContractCode(code) && decimals !== undefined && /^0x0{62}[0-9a-f]{2}$/i.test(decimals)) {
    return `the treasury ${treasury} is the contract of a token on ${network.name}: coins would be lost. Set a wallet of yours`;
  }
  if (isContractCode(code)) return undefined;
  for (const other of networks) {
    if (other === on || other.network.mode !== network.mode) continue;
    // A node that does not answer must not take the other networks off.
    const isThere = await other.evm
      .run((node) => node.code(treasury), signal)
      .then(isContractCode, () => false);
    signal.throwIfAborted();
    if (isThere) {
      return `the treasury is a contract on ${other.network.name}, but not on ${network.name}: coins that are swept there could be lost. Deploy it on ${network.name} too`;
    }
  }
  return undefined;
}

/**
 * The fault of the factory on a network; undefined if it is there, with the expected code. Also checks for the proxy
 * that deploys it.
 * @throws NodesUnavailable
 */
export async function readFactory(evm: EvmNodes, name: string, signal: AbortSignal) {
  const { address, implementation, deployer, code, implementationCode } = forwarderFactory;
  const found = await evm.run(
    (node) => Promise.all([address, implementation, deployer].map((one) => node.code(one))),
    signal,
  );
  const isRight = found[0] === code && found[1] === implementationCode;
  const problem =
    found[0] === '0x'
      ? `the forwarder factory is not deployed on ${name}. "sweeps deploy" prints the transaction`
      : `the code at ${address} on ${name} is not that of the forwarder factory`;
  return { hasDeployer: found[2] !== '0x', problem: isRight ? undefined : problem };
}

/** Accounts that delegate to a contract (EIP-7702) are still accounts. */
const isContractCode = (code: string): boolean => code !== '0x' && !code.startsWith('0xef0100');
