/** Every state in the gallery, in every look: clean for axe, and within its edges. */
import { expect, test } from 'vitest';
import { loadAxe, useStage } from './stage.js';

const stage = useStage();

test.each([
  { search: 'theme=light', width: 1360 },
  { search: 'theme=dark', width: 1360 },
  { search: 'theme=light&width=320', width: 400 },
  { search: 'theme=light&width=320', width: 400, textSize: '200%' },
  { search: 'theme=light&width=720', width: 1000 },
  { search: 'theme=light&lang=ar-XB&spacing=wide&logo=broken', width: 1360 },
  { search: 'theme=light&accent=yellow', width: 1360 },
  { search: 'theme=light&accent=cream', width: 1360 },
])('$search $textSize', async ({ search, width, textSize = '' }) => {
  // The broken logo, and the calls that some states let fail.
  const page = await stage.page({ expectedErrors: /ERR_NAME_NOT_RESOLVED|crypto-checkout>|broken\.invalid/ });
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.setViewportSize({ width, height: 900 });
  await page.goto(`${stage.server.url}/demo/gallery.html?${search}`);
  await page.locator('crypto-checkout[status="cancelled"] [part="payment-id"]').first().waitFor();
  await page.locator('crypto-checkout[status="awaiting-funds"] [part="time-log"]').first().waitFor();
  await page.locator('[data-state="error, did not open"] [part="error"]').waitFor();
  await page.locator('[data-state="quoted, the lock failed"] [part="error"]').waitFor();
  await page.evaluate((size) => (document.documentElement.style.fontSize = size), textSize);
  const cells = await page.locator('.cell').all();
  expect(cells.length).toBeGreaterThan(25);
  const wider = await page.locator('crypto-checkout').evaluateAll((elements) =>
    elements
      .filter((element) => {
        const card = element.shadowRoot?.querySelector('form');
        return card && card.scrollWidth > card.clientWidth;
      })
      .map((element) => element.parentElement?.dataset['state']),
  );
  expect(wider, 'states wider than their card').toEqual([]);
  const broken = await page.locator('crypto-checkout').evaluateAll((elements) =>
    elements
      .flatMap(({ shadowRoot }) => [
        ...(shadowRoot?.querySelectorAll<HTMLElement>('[part="total"], [part="items"] bdi') ?? []),
      ])
      .filter((price) => {
        const text = document.createRange();
        text.selectNodeContents(price);
        return new Set([...text.getClientRects()].map(({ y }) => y)).size > 1;
      })
      .map(({ innerText }) => innerText),
  );
  expect(broken, 'prices on two lines').toEqual([]);
  await loadAxe(page);
  const violations = await page.evaluate(async () => {
    interface Axe {
      run(
        context: unknown,
        options: object,
      ): Promise<{ violations: { id: string; nodes: { target: unknown; html: string }[] }[] }>;
    }
    const { axe } = window as unknown as { axe: Axe };
    // Each cell repeats the landmarks and headings of the others.
    const rules = {
      'landmark-unique': { enabled: false },
      'duplicate-id': { enabled: false },
      'landmark-no-duplicate-banner': { enabled: false },
    };
    const result = await axe.run(document, { rules });
    return result.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`);
  });
  expect(violations).toEqual([]);
});
