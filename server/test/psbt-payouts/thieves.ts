/**
 * Files that come back from a wallet are not trusted: anyone who changes one on the way gets a refusal that names the
 * change.
 */
import { hex } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { Transaction } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptType } from '../../src/core/addresses/bitcoin-scripts.js';
import type { TestEngine } from '../support/engines.js';
import { hasLitecoind, startLitecoin, type LitecoinNode } from '../support/litecoin.js';
import { signWith } from '../support/sign-psbt.js';
import { openPayoutShop, type PayoutMerchant, type PayoutShop, type ShownPsbt } from './fixture.js';

const SIGHASH = {
  NONE: 2,
  SINGLE: 3,
  ALL_ANYONECANPAY: 0x81,
  NONE_ANYONECANPAY: 0x82,
  SINGLE_ANYONECANPAY: 0x83,
};
const lenient = { allowUnknownOutputs: true, disableScriptCheck: true };
/** Nobody's script: a witness program of zeros. */
const thief = hex.decode(`0014${'00'.repeat(20)}`);

interface Output {
  script: Uint8Array;
  amount: bigint;
}

/** Writes the PSBT again with other outputs or inputs. All fields that a wallet looks at stay. */
function rewrite(
  psbt: string,
  change: (outputs: Output[], inputs: ReturnType<Transaction['getInput']>[]) => void,
  { version = 2, lockTime = 0 } = {},
): string {
  const original = Transaction.fromPSBT(Buffer.from(psbt, 'base64'));
  const inputs = Array.from({ length: original.inputsLength }, (_, index) => original.getInput(index));
  const outputs = Array.from({ length: original.outputsLength }, (_, index) => {
    const { script = new Uint8Array(), amount = 0n } = original.getOutput(index);
    return { script, amount };
  });
  change(outputs, inputs);
  const changed = new Transaction({ ...lenient, version, lockTime });
  for (const input of inputs) changed.addInput(input);
  for (const output of outputs) changed.addOutput(output);
  return Buffer.from(changed.toPSBT(0)).toString('base64');
}

/** An input without the transaction that it spends, which would have another hash. */
function foreignOf({ nonWitnessUtxo: _, ...input }: ReturnType<Transaction['getInput']>) {
  return input;
}

/** Copies the ECDSA signatures of inputs from one transaction to another. */
function copySignatures(from: Transaction, to: Transaction, inputs: number): string {
  for (let index = 0; index < inputs; index += 1) {
    const { partialSig } = from.getInput(index);
    if (partialSig) to.updateInput(index, { partialSig }, true);
  }
  return Buffer.from(to.toPSBT(0)).toString('base64');
}

const at = <T>(list: readonly T[], index: number): T => {
  const found = list.at(index);
  if (found === undefined) throw new Error(`There is nothing at ${index}`);
  return found;
};

/** The changes that a thief makes, and the words of the refusal. */
const thefts: readonly [string, (psbt: string) => string, RegExp][] = [
  [
    'another address',
    (psbt) => rewrite(psbt, (outputs) => (at(outputs, 0).script = thief)),
    /Output 1 goes to rltc1qqqqqqqq\S+ instead of rltc1q/,
  ],
  [
    'less for a receiver, and more for the fee',
    (psbt) => rewrite(psbt, (outputs) => (at(outputs, 1).amount -= 1n)),
    /Output 2 to \S+ is 0.04999999 LTC instead of 0.05 LTC/,
  ],
  [
    'amounts moved from one receiver to another',
    (psbt) =>
      rewrite(psbt, (outputs) => {
        at(outputs, 0).amount += 1000n;
        at(outputs, 1).amount -= 1000n;
      }),
    /Output 1 to \S+ is 0.15001 LTC instead of 0.15 LTC/,
  ],
  [
    'the change of somebody else',
    (psbt) => rewrite(psbt, (outputs) => (at(outputs, -1).script = thief)),
    /The change goes to rltc1qqqqqqqq\S+ instead of/,
  ],
  [
    'a smaller change, so that a miner gets the rest',
    (psbt) => rewrite(psbt, (outputs) => (at(outputs, -1).amount -= 1_000_000n)),
    /The change to \S+ is \S+ LTC instead of \S+ LTC, so that the fee is 0.01\d+ LTC instead of 0.00\d+ LTC/,
  ],
  [
    'no change at all',
    (psbt) => rewrite(psbt, (outputs) => void outputs.pop()),
    /The change, \S+ LTC to \S+, is missing/,
  ],
  [
    'another output',
    (psbt) =>
      rewrite(psbt, (outputs) => {
        at(outputs, -1).amount -= 50_000n;
        outputs.push({ script: thief, amount: 50_000n });
      }),
    /The change to \S+ is \S+ LTC instead of/,
  ],
  [
    'another output, paid by nobody',
    (psbt) => rewrite(psbt, (outputs) => void outputs.push({ script: thief, amount: 1n })),
    /It has another output: 0.00000001 LTC to rltc1qqqqqqqq/,
  ],
  [
    'an output of data',
    (psbt) => rewrite(psbt, (outputs) => void outputs.push({ script: hex.decode('6a0101'), amount: 0n })),
    /It has another output: 0 LTC to the script 6a0101/,
  ],
  [
    'outputs in another order',
    (psbt) => rewrite(psbt, (outputs) => void outputs.reverse()),
    /Output 1 goes to \S+ instead of/,
  ],
  [
    'an input that is not ours',
    (psbt) =>
      rewrite(
        psbt,
        (_, inputs) =>
          void inputs.push({
            ...foreignOf(at(inputs, 0)),
            txid: hex.decode('ab'.repeat(32)),
            index: 7,
          }),
      ),
    /It spends (ab){32}:7, which is not one of the inputs that were exported/,
  ],
  [
    'an input less',
    (psbt) => rewrite(psbt, (_, inputs) => void inputs.pop()),
    /It does not spend \S+:\d+, which was exported/,
  ],
  [
    'inputs in another order',
    (psbt) => rewrite(psbt, (_, inputs) => void inputs.reverse()),
    /Input 1 is another one than in the export/,
  ],
  [
    'an input that cannot be replaced any more',
    (psbt) => rewrite(psbt, (_, inputs) => (at(inputs, 0).sequence = 0xffffffff)),
    /The sequence of input 1 is 4294967295 instead of 4294967293/,
  ],
  [
    'a lock time of years',
    (psbt) => rewrite(psbt, () => {}, { lockTime: 1_900_000_000 }),
    /Its lock time is 1900000000 instead of 0/,
  ],
  ['another version', (psbt) => rewrite(psbt, () => {}, { version: 1 }), /Its version is 1 instead of 2/],
];

export const testThieves = (engine: TestEngine): unknown =>
  describe.skipIf(!hasLitecoind)(`A PSBT that came back changed, on ${engine.name}`, () => {
    let node: LitecoinNode;
    beforeAll(async () => {
      node = await startLitecoin();
    });
    afterAll(() => node.stop());

    let shop: PayoutShop;
    const merchants = new Map<ScriptType, { merchant: PayoutMerchant; exported: ShownPsbt }>();

    beforeAll(async () => {
      shop = await openPayoutShop(engine, node);
      for (const script of ['p2wpkh', 'p2pkh', 'p2tr', 'p2sh-p2wpkh'] as const) {
        const merchant = await shop.merchant(script);
        await merchant.fund('0.2', '0.1');
        await merchant.transfers('0.15', '0.05');
        merchants.set(script, { merchant, exported: await merchant.export() });
      }
    });
    afterAll(() => shop.close());

    function of(script: ScriptType) {
      const found = merchants.get(script);
      if (!found) throw new Error(`There is no merchant with ${script}`);
      return found;
    }
    const signedBy = (script: ScriptType, psbt: string) => signWith(of(script).merchant.account, psbt);

    it.each(thefts)('A PSBT with %s is refused', async (_, steal, message) => {
      const { exported } = of('p2wpkh');
      // Signed by the right wallet: it was shown the changed one.
      let stolen = steal(exported.psbt);
      try {
        stolen = signedBy('p2wpkh', stolen);
      } catch {
        // A wallet that cannot sign a foreign input returns the PSBT as far as it got.
      }
      await expect(shop.import(stolen)).rejects.toThrow(message);
      await expect(shop.import(stolen)).rejects.toThrow('Nothing was stored or sent');
      expect(await shop.show(exported.id)).toMatchObject({ state: 'open' });
    });

    it('A final transaction with another output is refused', async () => {
      const { exported, merchant } = of('p2pkh');
      const stolen = rewrite(exported.psbt, (outputs) => (at(outputs, 0).script = thief));
      const transaction = Transaction.fromPSBT(Buffer.from(merchant.sign(stolen), 'base64'), lenient);
      transaction.finalize();
      await expect(shop.import(transaction.hex)).rejects.toThrow(/Output 1 goes to/);
    });

    it.each([
      ...Object.entries(SIGHASH).map(([name, sighash]) => ['p2wpkh', name, sighash] as const),
      ['p2pkh', 'NONE', SIGHASH.NONE],
      ['p2pkh', 'SINGLE_ANYONECANPAY', SIGHASH.SINGLE_ANYONECANPAY],
      ['p2sh-p2wpkh', 'SINGLE', SIGHASH.SINGLE],
      ['p2tr', 'NONE', SIGHASH.NONE],
      ['p2tr', 'ALL_ANYONECANPAY', SIGHASH.ALL_ANYONECANPAY],
    ] as const)('%s signed with the sighash type %s is refused', async (script, name, sighash) => {
      const { exported, merchant } = of(script);
      const signed = merchant.sign(exported.psbt, sighash);
      await expect(shop.import(signed)).rejects.toThrow(
        `has the sighash type ${name.replace('_', '|')}, which leaves a part of the transaction open`,
      );
    });

    it('p2tr signed with ALL instead of DEFAULT is the same, and is taken', async () => {
      const { exported, merchant } = of('p2tr');
      expect(await shop.import(merchant.sign(exported.psbt, 1))).toMatchObject({ isBroadcast: true });
    });

    it('A PSBT that is not signed, or only in part, is refused', async () => {
      const { exported } = of('p2sh-p2wpkh');
      await expect(shop.import(exported.psbt)).rejects.toThrow('Only 0 of 2 inputs are signed');
      const half = Transaction.fromPSBT(Buffer.from(signedBy('p2sh-p2wpkh', exported.psbt), 'base64'));
      const bare = Transaction.fromPSBT(Buffer.from(exported.psbt, 'base64'));
      await expect(shop.import(copySignatures(half, bare, 1))).rejects.toThrow(
        'Only 1 of 2 inputs are signed: the signature of input 2 is missing',
      );
    });

    it.each<ScriptType>(['p2wpkh', 'p2pkh', 'p2sh-p2wpkh'])(
      'with the signatures of another transaction, %s, is refused',
      async (script) => {
        const { exported } = of(script);
        const stolen = rewrite(exported.psbt, (outputs) => (at(outputs, 0).script = thief));
        const signed = Transaction.fromPSBT(Buffer.from(signedBy(script, stolen), 'base64'), lenient);
        const honest = Transaction.fromPSBT(Buffer.from(exported.psbt, 'base64'));
        await expect(shop.import(copySignatures(signed, honest, honest.inputsLength))).rejects.toThrow(
          'The signature of input 1 is not valid for the transaction that was exported',
        );
      },
    );

    it('A PSBT signed by another wallet counts as not signed', async () => {
      const other = HDKey.fromMasterSeed(new Uint8Array(32).fill(9));
      const { exported } = of('p2wpkh');
      const transaction = Transaction.fromPSBT(Buffer.from(exported.psbt, 'base64'));
      const key = other.privateKey ?? new Uint8Array();
      expect(() => transaction.signIdx(key, 0)).toThrow();
      await expect(shop.import(exported.psbt)).rejects.toThrow('Only 0 of 2');
    });

    it.each([
      ['nothing', ''],
      ['a picture', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)],
      ['half a PSBT', Buffer.from('70736274ff0100520200000001', 'hex')],
      ['text', 'Dear wallet, please sign this'],
      ['digits', 'deadbeef'],
    ])('%s is refused', async (_, content) => {
      await expect(shop.import(content)).rejects.toThrow(
        /neither a PSBT nor a signed transaction|cannot be read/,
      );
    });

    it('a PSBT of somebody else is refused', async () => {
      const foreign = rewrite(of('p2wpkh').exported.psbt, (_, inputs) => {
        inputs.splice(0, inputs.length, {
          ...foreignOf(at(inputs, 0)),
          txid: hex.decode('cd'.repeat(32)),
        });
      });
      await expect(shop.import(foreign)).rejects.toThrow(
        'It spends no coin of a PSBT that was exported here',
      );
    });

    it.each<[string, (signed: string) => string | Uint8Array]>([
      ['in base64', (signed) => signed],
      ['in base64 with line breaks', (signed) => signed.replaceAll(/(.{64})/g, '$1\r\n')],
      ['in binary', (signed) => Buffer.from(signed, 'base64')],
      ['in hexadecimal digits', (signed) => Buffer.from(signed, 'base64').toString('hex')],
    ])('after all that, the honest one is taken, %s, any number of times', async (_, write) => {
      const { exported, merchant } = of('p2wpkh');
      const imported = await shop.import(write(merchant.sign(exported.psbt)));
      expect(imported).toMatchObject({ state: 'sent', isBroadcast: true });
      expect(await node.rpc<string[]>('getrawmempool')).toContain(imported.versions[0]?.txHash);
    });
  });
