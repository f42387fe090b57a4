/** `restore …`: why a restore is suspected, and its confirmation. */
import { command, type Group } from '../../core/commands/command.js';
import type { CommandContext } from '../../core/commands/context.js';
import * as option from '../../core/commands/options.js';
import { counted } from '../../core/commands/records.js';
import { isoTime } from '../../core/shared/clock.js';
import type { Restore, RestorePlan } from './restore.js';
import { payouts, type Suspicion, type UnknownAddress } from './restore-store.js';

/** @param rules of a running command */
export const restoreCommands = (rules: (context: CommandContext) => Restore): Group => ({
  name: 'restore',
  summary: 'After the database was restored from a backup: what is known, and how work continues.',
  commands: {
    status: command({
      summary: 'Says whether the database may be older than the work done with it, and by which evidence.',
      details:
        'Exits with 1 if it may. Then no address of the keys that it names is given out in live mode, and nothing of their merchants is paid.',
      options: {},
      async run(context) {
        const restore = rules(context);
        const suspicion = await restore.look();
        const warnings = await restore.warnings();
        const lines = suspicion ? evidenceLines(suspicion) : ['No restore is suspected'];
        return {
          json: {
            isSuspected: suspicion !== undefined,
            ...(suspicion && { ...suspicion, since: isoTime(suspicion.since) }),
            ...(warnings.length > 0 && { warnings }),
          },
          text: [...lines, ...warningLines(warnings)].join('\n'),
          hasFailed: suspicion !== undefined,
        };
      },
    }),
    confirm: command({
      summary:
        'Lets work continue after a restore, and leaves out what may have been given out or paid since the backup.',
      details: `Without --yes it only says what was found and what it will do. It leaves out the addresses that may have been given out, gives treasuries new contracts for their addresses, and holds the transfers that may have been paid, which it names. Settle each with "transfers settle", or let it go: docs/backup.md says how. Raise the gap limit of wallets by as many addresses as it says.`,
      options: {
        spare: option.integer(
          'N',
          'how many addresses of each key to leave out beyond the last one that is known; 100 by default, 1000 if only the chain shows the restore',
          { min: 0, max: 1_000_000 },
        ),
        yes: option.flag('does it'),
      },
      async run(context, { spare, yes }) {
        const restore = rules(context);
        const { actor } = context;
        const plan = yes ? await restore.confirm(spare, actor) : await restore.plan(spare);
        if (!plan) return { json: { isSuspected: false }, text: 'No restore is suspected' };
        const end = yes ? 'Confirmed: work continues.' : 'Nothing was changed yet: add --yes to do it.';
        return {
          json: { ...planJson(plan), isConfirmed: yes },
          text: [...evidenceLines(plan.suspicion), ...planLines(plan), end].join('\n'),
          hasFailed: !yes,
        };
      },
    }),
  },
});

export function evidenceLines({ since, marker, addresses, transfers, coins }: Suspicion): string[] {
  return [
    `The database may have been restored from an older backup; noticed ${isoTime(since)}:`,
    ...Object.entries(marker).map(([name, value]) =>
      name === payouts
        ? '  payouts were started that are not in it'
        : `  addresses of ${name} were given out up to index ${value - 1}`,
    ),
    ...addresses.map(
      ({ address, index, network, txHash }) =>
        `  ${address} on ${network}, of index ${index}, was never given out, and was paid in ${txHash}`,
    ),
    ...transfers.map(
      ({ transferId, network, txHash }) =>
        `  the transfer ${transferId} on ${network} was never exported, and ${txHash} pays just that`,
    ),
    ...coins.map(
      ({ merchantId, coin, network, txHash }) =>
        `  the coin ${coin} of ${merchantId} on ${network} was spent by ${txHash}, which is of no PSBT, though transfers wait`,
    ),
  ];
}

function warningLines(warnings: readonly UnknownAddress[]): string[] {
  if (warnings.length === 0) return [];
  return [
    'Money came to addresses that were never given out, although the marker says that nothing is missing. They were left out; nothing stopped:',
    ...warnings.map(
      ({ address, index, network, txHash }) =>
        `  ${address} on ${network}, of index ${index}, was paid in ${txHash}`,
    ),
  ];
}

function planJson({ suspicion, skips, treasuries, held }: RestorePlan) {
  return {
    suspicion,
    skipped: skips.map(({ key, from, to }) => ({ keyId: key.id, from, to })),
    treasuries: treasuries.map(({ merchantId, treasury }) => ({ merchantId, treasury })),
    held: held.map(({ id }) => id),
  };
}

function planLines({ skips, treasuries, held }: RestorePlan): string[] {
  return [
    ...skips.map(
      ({ key, from, to }) =>
        `The key ${key.id} of ${key.merchantId} (${key.family}) leaves out ${to - from} addresses: the next one is that of index ${to}`,
    ),
    ...treasuries.map(
      ({ merchantId, treasury }) => `${merchantId} gets new contracts that pay to ${treasury ?? ''}`,
    ),
    `${counted(held.length, 'transfer')} may have been paid and ${held.length === 1 ? 'is' : 'are'} held${held.length === 0 ? '' : ': '}${held.map(({ id }) => id).join(', ')}`,
  ];
}
