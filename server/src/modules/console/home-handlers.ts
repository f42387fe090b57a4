/** Handlers of `/v1/home` and `/v1/networks`. */
import { replyWith, type ApiHandlers } from '../../core/api/handler.js';
import type { createHome } from './home.js';

export function createHomeHandlers(home: ReturnType<typeof createHome>): ApiHandlers<'home'> {
  return {
    retrieve: (_input, { caller }) => replyWith(home.retrieve(caller)),

    listNetworks: (_input, { caller }) => Promise.resolve({ data: home.listNetworks(caller) }),
  };
}
