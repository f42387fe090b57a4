/** A Bitcoin Core of a test, behind a proxy that answers in its place. */
import type { Behaviour, ProxiedCall } from './core-proxy.js';
import { litecoinRegtest } from './litecoin.js';

export const idOf = (number: number) => number.toString(16).padStart(64, '0');
export const script = (byte: string) => `0014${byte.repeat(20)}`;

/** An error with which a node refuses a call. */
export class Refusal {
  readonly code: number;
  readonly message: string;
  constructor(code: number, message: string) {
    this.code = code;
    this.message = message;
  }
}

const paysUs = (txid: string, value = 0.25, byte = 'ab') => paysTo(txid, script(byte), value);

export const paysTo = (txid: string, hex: string, value: number) => ({
  txid,
  vin: [],
  vout: [{ n: 0, value, scriptPubKey: { hex } }],
});

/** One node of a chain of blocks, with a mempool. */
export class Core {
  height = 7;
  mempool: string[] = [];
  /** The transactions of blocks, by their height. */
  mined = new Map<number, readonly unknown[]>();
  /** Blocks above this height are others than before. */
  forkedAbove = Infinity;
  /** The form of waiting transactions; one that pays us by default. */
  form: (txid: string) => unknown = (txid) => paysUs(txid);
  /** Answers instead; undefined leaves a call as it is. */
  change: ((call: ProxiedCall) => unknown) | undefined;
  /** Answers a whole request instead. */
  whole: ((calls: readonly ProxiedCall[]) => Behaviour | undefined) | undefined;
  /** JSON-RPC 2.0, which Bitcoin Core answers with since 28, has no `error` next to a result. */
  isStrict = false;

  hashOf(height: number): string {
    const base = height > this.forkedAbove ? 0xb10d0000 : 0xb10c0000;
    return height === 0 ? litecoinRegtest.genesisHash : idOf(base + height);
  }

  behave(calls: readonly ProxiedCall[]): Behaviour {
    const whole = this.whole?.(calls);
    if (whole !== undefined) return whole;
    const answers = calls.map((call) => {
      const { id } = call;
      const changed = this.change?.(call);
      const result = changed === undefined ? this.answer(call) : changed;
      if (result instanceof Refusal) return { id, ...(!this.isStrict && { result: null }), error: result };
      return { id, result, ...(!this.isStrict && { error: null }) };
    });
    return { status: 200, body: JSON.stringify(calls.length > 1 ? answers : answers[0]) };
  }

  answer({ method, params: [first] }: ProxiedCall): unknown {
    const head = this.hashOf(this.height);
    switch (method) {
      case 'getblockhash':
        return Number(first) > this.height
          ? new Refusal(-8, 'Block height out of range')
          : this.hashOf(Number(first));
      case 'getblockchaininfo':
        return { blocks: this.height, headers: this.height, bestblockhash: head, chain: 'regtest' };
      case 'getblock': {
        const height = Array.from({ length: this.height + 1 }, (_, index) => index).find(
          (index) => this.hashOf(index) === first,
        );
        if (height === undefined) return new Refusal(-5, 'Block not found');
        const previous = height > 0 ? { previousblockhash: this.hashOf(height - 1) } : {};
        return {
          hash: first,
          height,
          time: 1_700_000_000 + height,
          tx: this.mined.get(height) ?? [],
          ...previous,
        };
      }
      case 'getblockheader':
        return { height: this.height, confirmations: 1, time: 1_700_000_000 };
      case 'getbestblockhash':
        return head;
      case 'getmempoolinfo':
        return { loaded: true, mempoolminfee: 0.00001, minrelaytxfee: 0.00001 };
      case 'getrawmempool':
        return this.mempool;
      case 'getrawtransaction':
        return this.mempool.includes(String(first))
          ? this.form(String(first))
          : new Refusal(-5, 'No such mempool transaction');
      case 'estimatesmartfee':
        return { errors: ['Insufficient data or no feerate found'], blocks: 6 };
      case 'getnetworkinfo':
        return { subversion: '/Satoshi:29.0.0/', version: 290_000, incrementalfee: 0.00001 };
      default:
        return new Refusal(-32601, 'Method not found');
    }
  }
}
