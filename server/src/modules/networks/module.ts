/** The module of real networks: how they are configured and reached, and what their nodes say. */
import { defineModule } from '../../core/module.js';
import { StartError } from '../../core/shared/start-error.js';
import { adapters } from './adapters.js';
import { networkCommands } from './commands.js';
import { connectNetworks, createFirstContact } from './connect.js';
import { doubtProviders } from './rpc/providers.js';
import { networkSettings } from './settings.js';
import { compareWallets } from './wallet-checks.js';

export const networks = defineModule({
  name: 'networks',
  settings: networkSettings,
  connect(configured, deps) {
    try {
      return connectNetworks(configured, adapters, deps);
    } catch (cause) {
      throw new StartError('NETWORKS_FILE: a network cannot be used', { cause });
    }
  },
  create({ config, connected, database, hooks, log }) {
    return {
      prepare() {
        for (const { network, nodes } of config.networks) {
          for (const { node, text } of doubtProviders(nodes)) log.warn(`${network.code}: ${node}: ${text}`);
        }
        return Promise.resolve();
      },
      jobs: () =>
        connected.length > 0
          ? [{ name: 'first contact', intervalMs: 2000, run: createFirstContact(connected) }]
          : [],
      answers: {
        goLiveSteps({ mode }) {
          const own = config.networks.filter(({ network }) => network.mode === mode);
          const isLive = config.networks.some(({ network }) => network.mode === 'live');
          return Promise.resolve([
            { code: 'live_network', isDone: isLive },
            ...(own.length > 0
              ? [{ code: 'second_node' as const, isDone: own.every(({ nodes }) => nodes.length > 1) }]
              : []),
          ]);
        },
        compareWallets: (on, signal) =>
          compareWallets({ reader: database.reader, sumUnspent: hooks.sumUnspent() }, on, signal),
      },
    };
  },
  commands: () => [networkCommands],
});
