/** The settings of real networks. */
import { path, type Variables } from '../../core/config.js';
import { readNetworksFile } from './networks-file.js';

export const networkSettings = {
  NETWORKS_FILE: {
    ...path(
      'JSON file of the real networks and their nodes, in addition to the simulated ones; see docs/going-live.md',
    ),
    networks: readNetworksFile,
  },
} satisfies Variables;
