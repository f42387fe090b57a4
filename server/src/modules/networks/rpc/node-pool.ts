/** The nodes of one network: which of them are healthy, and which one is asked. */
import { createNodeClient, type NodeClient, type NodeClientOptions } from './node-client.js';
import { isNodeFailure, NodeError, type RpcFailure } from './node-error.js';
import type { NodeStatus } from '../../../core/chains/connected.js';
import { NodesUnavailable, type NodeFault } from '../../../core/chains/nodes-unavailable.js';
import { firstOfProviders } from './providers.js';
import { createRequestBudget } from './request-budget.js';

/** `C`: a client with typed calls, which works with one node. */
export interface NodePoolOptions<C> extends Pick<
  NodeClientOptions,
  'headers' | 'logIn' | 'timeoutMs' | 'maxBatch' | 'now'
> {
  /** The network's code, for messages. */
  readonly network: string;
  /** URLs in order of preference. Can contain credentials. */
  readonly nodes: readonly string[];
  /** The limit of requests to all nodes together in a minute, each call of a batch counted; no limit by default. */
  readonly requestsPerMinute?: number | undefined;
  /** The client for one piece of work. */
  open(node: NodeClient, signal: AbortSignal): C;
  /**
   * Called before a node is used for the first time, and again after each failure to reach it.
   * @throws NodeError with the fault `wrong-network` if the node is on another chain
   */
  verify(node: C): Promise<void>;
  /** Called with news for the operator: a node stops or starts to be used. Never contains a URL. */
  warn?: ((message: string) => void) | undefined;
}

interface Member {
  readonly client: NodeClient;
  /** The name of the first node at the same host: what these say is one opinion. */
  readonly provider: string;
  isVerified: boolean;
  /** Failures in a row. */
  failures: number;
  /** Other nodes are preferred until then. */
  restsUntil: number;
  /** Not asked before `restsUntil` even if there is no other node: it asked for that, or is on another chain. */
  isBarred: boolean;
  problem: NodeError | RpcFailure | undefined;
}

const longestRestMs = 60_000;
/** A node that stalls must not cost the scan its lease. */
const brieflyMs = 3000;
/** The time that a node rests after a failure that fewer requests do not cure. */
const restMs: Partial<Record<NodeFault | 'failure', number>> = {
  behind: 2000,
  inconsistent: 2000,
  // A mistake in the configuration: only a change there or at the provider will fix it.
  'wrong-network': 30_000,
};
/** The next request to the same URL may reach another server. */
const interruptions: ReadonlySet<NodeFault | 'failure'> = new Set([
  'unreachable',
  'timeout',
  'refused',
  'garbage',
]);

export function createNodePool<C>(options: NodePoolOptions<C>) {
  const { network, open, verify, warn, now = Date.now } = options;
  if (options.nodes.length === 0) throw new Error(`The network ${network} has no node: name at least one`);
  const { requestsPerMinute } = options;
  const budget = requestsPerMinute === undefined ? undefined : createRequestBudget(requestsPerMinute, now);
  let inUse: Member | undefined;
  const nameOf = (place: number) => `node ${place + 1}`;
  const firsts = firstOfProviders(options.nodes);
  const members = options.nodes.map((url, index): Member => ({
    provider: nameOf(firsts[index] ?? index),
    client: createNodeClient({
      ...options,
      name: nameOf(index),
      url,
      budget,
      now,
      onLimit: (message) => warn?.(`${network}: ${message}`),
    }),
    isVerified: false,
    failures: 0,
    restsUntil: 0,
    isBarred: false,
    problem: undefined,
  }));
  const providers = new Set(firsts).size;
  const providerOf = (name: string) => members.find(({ client }) => client.name === name)?.provider ?? name;

  /** The nodes to try, best first. */
  function candidates(): readonly Member[] {
    const rested = members.filter((member) => member.restsUntil <= now());
    const resting = members
      .filter((member) => member.restsUntil > now() && !member.isBarred)
      .sort((a, b) => a.restsUntil - b.restsUntil);
    // A resting node is asked only if no other can answer: the caller waits between its attempts anyway.
    return [...rested, ...resting];
  }

  function succeed(member: Member): void {
    const wasFailing = member.problem !== undefined;
    Object.assign(member, { failures: 0, restsUntil: 0, isBarred: false, problem: undefined });
    if (wasFailing) warn?.(`${network}: ${member.client.name} works again`);
  }

  function fail(member: Member, error: NodeError | RpcFailure): void {
    const { fault } = error;
    member.failures += 1;
    const backOffMs = Math.min(1000 * 2 ** Math.min(member.failures - 1, 10), longestRestMs);
    const askedMs = error instanceof NodeError ? error.retryAfterMs : undefined;
    member.restsUntil = now() + (askedMs ?? restMs[fault] ?? backOffMs);
    member.isBarred = fault === 'limited' || fault === 'wrong-network';
    if (interruptions.has(fault)) member.isVerified = false;
    const isNew = member.problem?.fault !== fault;
    member.problem = error;
    if (isNew) warn?.(`${network}: ${error.message}`);
  }

  /** Undefined if the node fails, which is noted. */
  async function attempt<T>(
    member: Member,
    work: (node: C) => Promise<T>,
    signal: AbortSignal,
  ): Promise<{ readonly member: Member; readonly result: T } | undefined> {
    signal.throwIfAborted();
    try {
      if (!member.isVerified) await verify(open(member.client, signal));
      member.isVerified = true;
      const result = await work(open(member.client, signal));
      succeed(member);
      return { member, result };
    } catch (error) {
      signal.throwIfAborted();
      if (!isNodeFailure(error)) throw error;
      fail(member, error);
      return undefined;
    }
  }

  /** The answer of a node that takes no longer than that; undefined if it fails, or takes longer. */
  async function askBriefly<T>(member: Member, work: (node: C) => Promise<T>, signal: AbortSignal) {
    const asking = new AbortController();
    const stop = () => asking.abort();
    signal.addEventListener('abort', stop);
    const timer = setTimeout(stop, brieflyMs);
    try {
      return (await attempt(member, work, asking.signal))?.result;
    } catch (error) {
      signal.throwIfAborted();
      if (asking.signal.aborted) return undefined;
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  }

  /** Yields what each node makes of the work, best first; those that fail are left out. @throws NodesUnavailable if all do */
  async function* attempts<T>(
    work: (node: C) => Promise<T>,
    signal: AbortSignal,
    except?: string,
  ): AsyncGenerator<{ readonly member: Member; readonly result: T }> {
    let isAnswered = false;
    const excepted = except === undefined || providers === 1 ? undefined : providerOf(except);
    const isAsked = ({ provider }: Member) => provider !== excepted;
    for (const member of candidates().filter(isAsked)) {
      const attempted = await attempt(member, work, signal);
      if (!attempted) continue;
      isAnswered = true;
      yield attempted;
    }
    if (isAnswered) return;
    // Those too that were not asked, because they are on another chain or asked for a pause.
    const known = members.flatMap(({ problem }) => problem ?? []);
    const reasons = [...new Set(known.map(({ message }) => message))].join('; ');
    throw new NodesUnavailable(`No node of ${network} can be used: ${reasons}`, known);
  }

  return {
    /** All clients, in the order of the configuration, for checks of each. */
    clients: members.map(({ client }) => client),

    /** The number of their providers. Nodes at one host are one provider's. */
    providers,
    /** The provider of a node, by its name: that of the first node of the same provider. */
    providerOf,

    /**
     * Does a piece of work with one node, and with the next one from the beginning if that fails, so that answers of two
     * nodes are never mixed. The first healthy node of the configuration is preferred.
     * @param work throws NodeError or RpcFailure if another node should be tried; any other error is thrown as it is
     * @param except the node not to ask, nor others of its provider, if there is another: a second provider must confirm it
     * @throws NodesUnavailable if no node could do it
     */
    async run<T>(work: (node: C) => Promise<T>, signal: AbortSignal, except?: string): Promise<T> {
      for await (const { member, result } of attempts(work, signal, except)) {
        inUse = member;
        return result;
      }
      throw new Error('A pool of nodes yields a result, or throws');
    },

    /**
     * Does a piece of work with every node that can be used, so that what one of them leaves out may come from another.
     * @returns their results, at least one
     * @throws NodesUnavailable if no node could do it
     */
    async each<T>(work: (node: C) => Promise<T>, signal: AbortSignal): Promise<T[]> {
      const results: T[] = [];
      for await (const { result } of attempts(work, signal)) results.push(result);
      return results;
    },

    /**
     * Asks every node at the same time, for three seconds at most.
     * @returns the answers; undefined of a node that fails, or takes longer
     */
    askAll: <T>(work: (node: C) => Promise<T>, signal: AbortSignal): Promise<(T | undefined)[]> =>
      Promise.all(candidates().map((member) => askBriefly(member, work, signal))),

    status: (): NodeStatus[] =>
      members.map((member) => ({
        name: member.client.name,
        problem: member.problem?.message,
        fault: member.problem?.fault,
        isInUse: member === inUse,
        ...member.client.usage(),
      })),

    /** The requests that the nodes refuse, as one sentence each; undefined if there are none. */
    limits: (): string | undefined =>
      members.flatMap(({ client }) => client.limit() ?? []).join('; ') || undefined,

    /** The number of requests that the budget leaves now; undefined without one. */
    requestsLeft: () => budget?.left(),
    /** Of them, the number that leaves half of the budget to the scan. */
    requestsSpare: () => budget?.spare(),
  };
}
