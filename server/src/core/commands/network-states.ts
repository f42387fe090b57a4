/** The networks that `chains status` shows: all configured ones, even if never read, and previous ones. */
import { lagLimitMs } from '../chains/availability.js';
import type { NetworkRef } from '../chains/chain.js';
import type { ConnectedNetwork } from '../chains/connected.js';
import { lagOf, listCursors } from '../scanning/cursors.js';
import { errorMessage } from '../shared/error-message.js';
import type { CommandContext } from './context.js';

type Cursor = Awaited<ReturnType<typeof listCursors>>[number];

export interface NetworkState extends NetworkRef {
  /** Undefined before the first scan. */
  readonly cursor: Cursor | undefined;
  /** True if the configuration still has it. */
  readonly isConfigured: boolean;
  /** Why it is not read, or how its nodes disagree; undefined if all is well. */
  readonly problem: string | undefined;
}

/** The time that the nodes of a network that was never read have to give the reason. */
const answerMs = 20_000;

export async function readNetworkStates(context: CommandContext): Promise<NetworkState[]> {
  const cursors = await listCursors(context.database.reader);
  const isSame = (a: NetworkRef, b: NetworkRef) => a.mode === b.mode && a.network === b.network;
  const configured = context.chains.map(async (chain): Promise<NetworkState> => {
    const { mode, network } = chain;
    const cursor = cursors.find((one) => isSame(one, chain));
    const real = context.connected.find((one) => one.chain === chain);
    const problem = cursor
      ? whyNotRead(cursor, real, context.clock.real())
      : `it has not been read yet: ${await whyNeverRead(real, context.signal)}`;
    return { mode, network, cursor, isConfigured: true, problem };
  });
  const previous = cursors
    .filter((cursor) => !context.chains.some((chain) => isSame(chain, cursor)))
    .map((cursor): NetworkState => {
      const { mode, network, problem } = cursor;
      return { mode, network, cursor, isConfigured: false, problem: problem ?? undefined };
    });
  const states = [...(await Promise.all(configured)), ...previous];
  return states.sort((a, b) => `${a.mode}/${a.network}`.localeCompare(`${b.mode}/${b.network}`));
}

function whyNotRead(cursor: Cursor, real: ConnectedNetwork | undefined, now: number): string | undefined {
  if (cursor.problem !== null) return cursor.problem;
  if (cursor.disagreement !== null) return `its nodes disagree: ${cursor.disagreement}`;
  const lagMs = lagOf(cursor, now);
  if (!real || lagMs <= lagLimitMs(real.blockSeconds)) return undefined;
  return `it is ${Math.round(lagMs / 1000)} s behind, so it is not offered. Does a server run, and do its nodes have new blocks?`;
}

async function whyNeverRead(real: ConnectedNetwork | undefined, signal: AbortSignal): Promise<string> {
  if (!real) return 'start the server';
  try {
    await real.chain.head(AbortSignal.any([signal, AbortSignal.timeout(answerMs)]));
    return 'its nodes answer, so start the server';
  } catch (error) {
    return errorMessage(error);
  }
}
