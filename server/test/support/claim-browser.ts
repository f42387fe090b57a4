/** A browser on the claim page: it keeps the cookies that it is given, and sends them back. */
import type { Answer } from './call.js';
import type { TestServer } from './server.js';
import type { RefundRecord } from './shop.js';

/** The secret of a refund's link. Only the reply that makes the link has it. */
export const claimTokenOf = ({ claimUrl = '' }: Pick<RefundRecord, 'claimUrl'>) =>
  new URL(claimUrl).hash.slice(1);

export function openClaimBrowser(server: Pick<TestServer, 'api'>) {
  const cookies = new Map<string, string>();
  const given: string[] = [];
  return {
    /** All that the server has set, as it set it. */
    given,
    /** Reads a claim, or gives an address. */
    async claim(token: string, address?: string, signature?: string): Promise<Answer> {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const path = `/v1/refund-claims/${address === undefined ? 'retrieve' : 'address'}`;
      const answer = await server.api('POST', path, {
        key: undefined,
        body: {
          token,
          ...(address !== undefined && { address }),
          ...(signature !== undefined && { signature }),
        },
        ...(cookie !== '' && { headers: { Cookie: cookie } }),
      });
      const set = answer.headers.get('set-cookie');
      if (set !== null) {
        given.push(set);
        const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=');
        cookies.set(name, value);
      }
      return answer;
    },
  };
}
