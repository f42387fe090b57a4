/** Handlers of PSBTs, which people take to the shop's wallet and bring back in the console. */
import type { ConsoleApi } from 'crypto-checkout/contract';
import type { Handlers } from '../../core/api/handler.js';
import { actorOf } from '../../core/merchants/audit-log.js';
import type { Currencies } from '../../core/money/currencies.js';
import type { PsbtPayouts } from './psbt-payouts.js';
import { newestOf, viewPsbt, viewPsbtRow } from './psbt-view.js';

type Psbt = Awaited<ReturnType<PsbtPayouts['retrieve']>>;

export function createPsbtHandlers(
  psbtPayouts: PsbtPayouts,
  currencies: Pick<Currencies, 'known'>,
): Pick<Handlers<ConsoleApi>, 'psbts'> {
  const view = (psbt: Psbt) => ({ ...viewPsbt(psbt, currencies), file: newestOf(psbt) });
  return {
    psbts: {
      async list(_input, { caller }) {
        return { data: (await psbtPayouts.list(caller)).map(viewPsbtRow) };
      },

      async create({ body: { network, feeRate, fingerprint, path } }, { caller, signal }) {
        const request = { scope: caller, network, feeRate, fingerprint, path };
        const all = { keyId: undefined, transferIds: undefined, actor: actorOf(caller) };
        const { psbt, skipped } = await psbtPayouts.exportWaiting({ ...request, ...all }, signal);
        return { data: { psbt: psbt ? view(psbt) : null, skipped: [...skipped] } };
      },

      async write({ params }, { caller }) {
        return { data: view(await psbtPayouts.handOut(params.psbt_id, caller)) };
      },

      async bump({ params, body }, { caller, signal }) {
        const actor = actorOf(caller);
        return { data: view(await psbtPayouts.bump(params.psbt_id, body.feeRate, caller, actor, signal)) };
      },

      async import({ body }, { caller, signal }) {
        const file = Buffer.from(body.signed, 'base64');
        const imported = await psbtPayouts.importSigned(file, caller, actorOf(caller), signal);
        const { psbt, version, isBroadcast, problem = null } = imported;
        return { data: { id: psbt.id, txHash: version.tx_hash, isBroadcast, problem } };
      },

      async discard({ params }, { caller, signal }) {
        return { data: view(await psbtPayouts.discard(params.psbt_id, caller, actorOf(caller), signal)) };
      },
    },
  };
}
