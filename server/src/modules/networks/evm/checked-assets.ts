/**
 * The assets of a network without those whose contract is not what the configuration says. One wrong answer is a node's fault:
 * an asset goes off or on only when several answers agree.
 */
import { NodeError } from '../rpc/node-error.js';
import type { AssetProblem } from '../../../core/chains/connected.js';
import { checkContracts, readAssets, type Assets } from './assets.js';
import type { EvmClient } from './client.js';
import type { Dialect } from './dialect.js';
import type { EvmConfig } from './evm-nodes.js';

/**
 * The number of answers that a node must give before a change is believed, and of checks that must find a good asset
 * bad.
 */
const answers = 3;
/** The shortest time between those checks: servers behind a balancer take turns. */
const apartMs = 10_000;
/** The interval at which assets that are off are checked again. */
const recheckMs = 60_000;

/** By currency; undefined for those that are right. */
type Findings = ReadonlyMap<string, string | undefined>;

export function createCheckedAssets(
  { network, assets: list }: EvmConfig,
  dialect: Dialect,
  now: () => number,
  warn: (message: string) => void,
) {
  const configured = readAssets(network, list, dialect);
  let assets: Assets = configured;
  /** The findings that are believed; empty before the first check. */
  let believed: Findings = new Map();
  /** The last findings of each node. */
  const reported = new Map<string, Findings>();
  /** Good assets that nodes say are bad. */
  const disputes = new Map<string, { readonly count: number; readonly at: number }>();
  let checkedAt = 0;

  const ask = (evm: EvmClient): Promise<Findings> => checkContracts(evm, network, configured);

  /** Asks again if something would change. */
  async function askUntilSure(evm: EvmClient): Promise<Findings> {
    const first = await ask(evm);
    const isNews = [...first].some(
      ([currency, problem]) => problem !== believed.get(currency) || disputes.has(currency),
    );
    for (let count = 1; isNews && count < answers; count += 1) {
      const next = await ask(evm);
      const differing = [...first].find(([currency, problem]) => next.get(currency) !== problem);
      if (!differing) continue;
      throw new NodeError('inconsistent', `${evm.name} answers differently about ${differing[0]} each time`);
    }
    return first;
  }

  /** @throws NodeError while it is not certain that an asset that was right has become wrong */
  function weigh({ name }: EvmClient, found: Findings): void {
    for (const [currency, problem] of found) {
      const wasRight = believed.has(currency) && believed.get(currency) === undefined;
      if (!wasRight || problem === undefined) {
        disputes.delete(currency);
        continue;
      }
      const previous = disputes.get(currency);
      const isNext = !previous || now() - previous.at >= apartMs;
      const count = (previous?.count ?? 0) + (isNext ? 1 : 0);
      disputes.set(currency, { count, at: isNext ? now() : previous.at });
      const isAlone = [...reported.values()].some((other) => other.get(currency) === undefined);
      if (count >= answers && !isAlone) continue;
      throw new NodeError(
        'inconsistent',
        `${name} says what other answers do not say, so it is not believed yet: ${problem}`,
      );
    }
  }

  /** @throws NodeError if the node's answers do not agree with each other, or with those that are believed */
  async function check(evm: EvmClient): Promise<void> {
    const found = await askUntilSure(evm);
    reported.set(evm.name, found);
    weigh(evm, found);
    for (const [currency, problem] of found) {
      if (problem !== undefined && problem !== believed.get(currency)) warn(problem);
    }
    believed = found;
    disputes.clear();
    const right = [...configured.tokens].filter(([, { currency }]) => found.get(currency) === undefined);
    assets = { ...configured, tokens: new Map(right) };
    checkedAt = now();
  }

  const problems = (): AssetProblem[] =>
    [...believed].flatMap(([currency, problem]) => (problem === undefined ? [] : { currency, problem }));

  return {
    check,
    assets: () => assets,
    problems,
    /** A node that was not synchronised when it was asked does not know new contracts: checks again what is off. */
    async checkAgain(evm: EvmClient): Promise<void> {
      if (problems().length > 0 && now() - checkedAt > recheckMs) await check(evm);
    },
  };
}
