/** The adapter of each family of networks. */
import type { Adapters } from './connect.js';

export const adapters: Adapters = {};
