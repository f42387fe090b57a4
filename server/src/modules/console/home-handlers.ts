/** Handlers of `/v1/home` and `/v1/networks`. */
import type { Api } from 'crypto-checkout/contract';
import { replyWith, type Handlers } from '../../core/api/handler.js';
import type { createHome } from './home.js';

export function createHomeHandlers(home: ReturnType<typeof createHome>): Handlers<Api>['home'] {
  return {
    retrieve: (_input, { caller }) => replyWith(home.retrieve(caller)),

    listNetworks: (_input, { caller }) => Promise.resolve({ data: home.listNetworks(caller) }),
  };
}
