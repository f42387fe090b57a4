/** Many transfers at once from one balance: exactly as many succeed as it can pay for. */
import { describe, expect, it } from 'vitest';
import { engines } from '../support/engines.js';
import { startServer } from '../support/server.js';
import { openShop } from '../support/shop.js';

const requests = 150;
/** A transfer takes 1 and a fee of 0.2. A payment of 54.9 minus its fee is 54.351, which pays for exactly 45. */
const payment = 54.9;
const affordable = 45;

describe.each(engines)('150 parallel transfers from one balance, on $name', (engine) => {
  it('150 parallel transfers never overdraw one balance', { timeout: 120_000 }, async () => {
    const server = await startServer({ engine });
    try {
      const merchant = openShop(server);
      await merchant.fund({ amount: payment });
      const answers = await Promise.all(Array.from({ length: requests }, () => merchant.transfer({})));
      const outcomes = new Map<string, number>();
      for (const { status, body } of answers) {
        const outcome = `${status} ${body.data.code ?? 'pending'}`;
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
      expect(Object.fromEntries(outcomes)).toEqual({
        '200 pending': affordable,
        '400 insufficient_balance': requests - affordable,
      });
      expect((await merchant.balance()).availableBalance).toBe(0.351);
      await merchant.expectBooksInOrder();

      const ids = answers.filter(({ status }) => status === 200).map(({ body }) => String(body.data['id']));
      for (const id of ids) await merchant.until(id, 'success');
      expect(await merchant.balance()).toMatchObject({ availableBalance: 0.351, totalBalance: 0.351 });
      await merchant.expectBooksInOrder();
    } finally {
      await server.stop();
    }
  });
});
