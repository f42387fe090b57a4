/** Calls that the console has a wallet send: the requests, and the order of the answers. */
import { describe, expect, it } from 'vitest';
import { sendCalls, UnsureSending } from '../../console/send-calls.js';

const account = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const hash = (digit: string) => `0x${digit.repeat(64)}`;
const call = { to: account, value: '0', data: '0x01' };
const refuse = (code?: number) => Object.assign(new Error('No'), { code });

type Answers = Readonly<Record<string, (count: number, params: readonly unknown[]) => unknown>>;

/** Sends three calls from a wallet with these answers. @returns the events, in order */
async function send(answers: Answers): Promise<{ log: unknown[]; error: unknown }> {
  const log: unknown[] = [];
  const counts: Record<string, number> = {};
  const all: Answers = {
    eth_requestAccounts: () => [account],
    eth_accounts: () => [account],
    eth_chainId: () => '0x1',
    ...answers,
  };
  const provider = {
    request({ method, params = [] }: { method: string; params?: readonly unknown[] }): Promise<unknown> {
      counts[method] = (counts[method] ?? 0) + 1;
      const count = counts[method];
      if (/send/i.test(method)) log.push(method);
      return Promise.resolve().then(() => {
        const answer = all[method];
        if (!answer) throw refuse(4200);
        return answer(count, params);
      });
    },
  };
  const sending = {
    chain: { chainId: 1, name: 'Chain', coin: 'ETH' },
    calls: [call, call, call],
    onAnswer: (positions: readonly number[], answer: string | null) => {
      log.push([...positions, answer]);
      return Promise.resolve();
    },
    onMined: (positions: readonly number[], batch: string, hashes: readonly string[]) => {
      log.push([...positions, batch, hashes]);
      return Promise.resolve();
    },
  };
  const error: unknown = await sendCalls(provider, sending, new AbortController().signal).catch(
    (reason: unknown) => reason,
  );
  return { log, error };
}

const atomic = (status: string) => () => ({ '0x1': { atomic: { status } } });

describe('calls for a wallet in the browser', () => {
  it('Calls go one by one if the wallet supports no batches, and each hash is stored before the next request', async () => {
    const { log, error } = await send({ eth_sendTransaction: (count) => hash(String(count)) });
    expect(error).toBeUndefined();
    const one = (position: number) => ['eth_sendTransaction', [position, hash(String(position + 1))]];
    expect(log).toEqual([0, 1, 2].flatMap(one));
  });

  it('Calls go together if the wallet supports batches, and the id is stored before the hashes', async () => {
    for (const status of ['ready', 'supported']) {
      const { log, error } = await send({
        wallet_getCapabilities: atomic(status),
        wallet_sendCalls: () => ({ id: 'batch' }),
        wallet_getCallsStatus: () => ({
          status: 200,
          receipts: ['a', 'b', 'a'].map((digit) => ({ transactionHash: hash(digit) })),
        }),
      });
      expect(error).toBeUndefined();
      const mined = [0, 1, 2, 'batch', [hash('a'), hash('b')]];
      expect(log).toEqual(['wallet_sendCalls', [0, 1, 2, 'batch'], mined]);
    }
  });

  it('Calls of a failed batch are not sent, and its id is stored', async () => {
    const { log, error } = await send({
      wallet_getCapabilities: atomic('ready'),
      wallet_sendCalls: () => ({ id: 'batch' }),
      wallet_getCallsStatus: () => ({ status: 400, receipts: [] }),
    });
    expect(error).toMatchObject({ reason: 'walletFailed' });
    expect(log).toEqual(['wallet_sendCalls', [0, 1, 2, 'batch']]);
  });

  it('Calls go one by one after all if the account is not upgraded', async () => {
    const { log } = await send({
      wallet_getCapabilities: atomic('ready'),
      wallet_sendCalls: () => {
        throw refuse(5750);
      },
      eth_sendTransaction: (count) => hash(String(count)),
    });
    expect(log.slice(0, 4)).toEqual([
      'wallet_sendCalls',
      [0, 1, 2, null],
      'eth_sendTransaction',
      [0, hash('1')],
    ]);
  });

  it('Calls stop at a rejected one: earlier ones stay, later ones are not requested', async () => {
    const { log, error } = await send({
      eth_sendTransaction(count) {
        if (count === 2) throw refuse(4001);
        return hash(String(count));
      },
    });
    expect(error).toMatchObject({ reason: 'walletRejected' });
    expect(log).toEqual(['eth_sendTransaction', [0, hash('1')], 'eth_sendTransaction', [1, null]]);
  });

  it('Calls are not reported as unsent if that is unknown', async () => {
    const { log, error } = await send({
      eth_sendTransaction() {
        throw refuse();
      },
    });
    expect(error).toBeInstanceOf(UnsureSending);
    expect(log).toEqual(['eth_sendTransaction']);
  });

  it('Calls are not requested once the wallet has another account or chain', async () => {
    const other = await send({
      eth_accounts: (count) => [count === 1 ? account : `0x${'1'.repeat(40)}`],
      eth_sendTransaction: () => hash('1'),
    });
    expect(other.error).toMatchObject({ reason: 'walletAccount' });
    expect(other.log).toHaveLength(2);
    const elsewhere = await send({ eth_chainId: () => '0x2', wallet_switchEthereumChain: () => null });
    expect(elsewhere.error).toMatchObject({ reason: 'walletChain' });
    expect(elsewhere.log).toEqual([]);
  });
});
