/** Signs PSBTs as a wallet does that has an account's private keys. */
import type { HDKey } from '@scure/bip32';
import { Transaction } from '@scure/btc-signer';

/** The version bytes of extended keys on test networks. */
export const tpub = { public: 0x043587cf, private: 0x04358394 };

/** Signs each input with the key that its derivation path names. */
export function signWith(account: HDKey, psbt: string, sighash?: number): string {
  const transaction = Transaction.fromPSBT(Buffer.from(psbt, 'base64'));
  for (let index = 0; index < transaction.inputsLength; index += 1) {
    const { bip32Derivation, tapBip32Derivation } = transaction.getInput(index);
    const taproot = tapBip32Derivation?.[0]?.[1].der as { path: number[] } | undefined;
    const path = bip32Derivation?.[0]?.[1].path ?? taproot?.path ?? [];
    const key = path
      .slice(-2)
      .reduce<HDKey>((parent, child) => parent.deriveChild(child), account).privateKey;
    if (!key) throw new Error('The account has no private key');
    if (sighash !== undefined) transaction.updateInput(index, { sighashType: sighash });
    transaction.signIdx(key, index, sighash === undefined ? undefined : [sighash]);
  }
  return Buffer.from(transaction.toPSBT(0)).toString('base64');
}
