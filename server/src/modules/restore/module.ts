/** The module that notices when the database was restored from an older backup, and stops what cannot be undone. */
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { toUnits } from 'crypto-checkout/contract';
import { settingsOf } from '../../core/config.js';
import type { Core } from '../../core/core.js';
import { defineModule } from '../../core/module.js';
import { createChainEvidence } from './chain-evidence.js';
import { evidenceLines, restoreCommands } from './commands.js';
import { createRestoreGuard } from './guard.js';
import { openMarker } from './marker.js';
import { examineMarker } from './examine-marker.js';
import { ensureDatabaseId } from './restore-store.js';
import { createRestore, type RestoreDeps } from './restore.js';
import { restoreSettings } from './settings.js';

type RestorePorts = Pick<Core, 'config' | 'hooks' | 'connected' | 'depositKeys'>;

export const restore = defineModule({
  name: 'restore',
  settings: restoreSettings,
  async create(
    core: Omit<RestoreDeps, 'marker' | 'hold' | 'forgetWallets' | 'connected' | 'depositKeys'> & RestorePorts,
  ) {
    const { config, database, currencies, depositKeys, connected, hooks, clock, log } = core;
    const id = await ensureDatabaseId(database, randomUUID);
    const { MARKER_DIRECTORY: directory } = settingsOf(config, restoreSettings);
    const marker = openMarker(markerPath(config.databaseUrl, directory, id), log);
    const guard = createRestoreGuard(marker);
    const rules = createRestore({ ...core, marker, ...hooks });
    const evidence = createChainEvidence({
      database,
      depositKeys,
      connected,
      startedAt: clock.real(),
      ...hooks,
      marker,
      suspect: rules.suspect,
      warn: rules.warn,
      isDust: (network, { currency, amount }) => {
        const minimum = currencies.network('live', network)?.assets[currency]?.minAmount ?? '0';
        return amount < toUnits(minimum, currencies.known(currency).decimals);
      },
    });
    return {
      ...rules,
      answers: {
        goLiveSteps: ({ mode }) =>
          Promise.resolve(
            mode === 'live' && connected.some(({ network }) => network.mode === mode)
              ? [{ code: 'marker', isDone: directory !== undefined && marker.isWritable() }]
              : [],
          ),
        ensurePayable: guard.ensurePayable,
        beforePayout: guard.startPayout,
        isUnsafe: guard.isSuspected,
        whyNotPaid: (reader, transfer) => guard.whyNotPaid(reader, transfer.mode, transfer.merchant_id),
        addressEpoch: guard.ensureTrusted,
        onAddressesReserved: guard.reserve,
        watchedAddresses: evidence.watched,
        soughtCoins: evidence.soughtCoins,
        onBatch: evidence.follow,
        examine: () => examineMarker(directory, core),
        async chainStatus() {
          const suspicion = await rules.look();
          if (!suspicion) return [];
          const lines = [...evidenceLines(suspicion), 'See "restore confirm"'];
          return [{ lines, json: { restore: suspicion }, hasFailed: true }];
        },
      },
    };
  },
  commands: (rules) => [restoreCommands(rules)],
});

/** Next to the SQLite file. A database in memory is never restored. */
function markerPath(
  databaseUrl: string,
  directory: string | undefined,
  id: string | undefined,
): string | undefined {
  const file = databaseUrl.startsWith('sqlite:') ? databaseUrl.slice('sqlite:'.length) : undefined;
  if (id === undefined || file === ':memory:') return undefined;
  return join(directory ?? (file === undefined ? 'data' : dirname(file)), `checkout-marker-${id}`);
}
