/** Every supported coin and network has an icon, others get a letter, and all are hidden from screen readers. */
import { expect, fixture } from '@open-wc/testing';
import { coins } from '../../src/coins/icons.js';
import { coinIcon, networkIcon } from '../../src/views/icons.js';

const icons = {
  coin: { draw: coinIcon, codes: Object.keys(coins) },
  network: {
    draw: networkIcon,
    codes: ['bitcoin', 'litecoin', 'ethereum', 'base', 'bsc', 'polygon', 'tron'],
  },
};

describe('icons', () => {
  for (const [kind, { draw, codes }] of Object.entries(icons)) {
    it(`Icons differ for each ${kind} and fit their square`, async () => {
      const drawings = new Set<string>();
      for (const code of codes) {
        const icon = await fixture<SVGSVGElement>(draw(code));
        const glyph = icon.querySelector('g');
        expect(icon.textContent.trim(), code).to.equal('');
        expect(glyph, code).to.be.instanceOf(SVGGElement);
        const { x, y, width, height } = glyph?.getBBox() ?? new DOMRect();
        expect(Math.min(width, height), code).to.be.greaterThan(8);
        expect(x >= 3 && y >= 3 && x + width <= 29 && y + height <= 29, code).to.equal(true);
        drawings.add(icon.innerHTML.replace(/<!--.*?-->/g, ''));
      }
      expect(drawings.size).to.equal(codes.length);
    });

    it(`The icon of an unknown ${kind} is its first letter`, async () => {
      const icon = await fixture<SVGSVGElement>(draw('xmr'));
      expect(icon.textContent.trim()).to.equal('X');
      const unnamed = await fixture<SVGSVGElement>(draw(''));
      expect(unnamed.textContent.trim()).to.equal('?');
    });

    it(`Icons are hidden from screen readers and have no style attributes: ${kind}`, async () => {
      for (const code of [...codes, 'xmr']) {
        const icon = await fixture<SVGSVGElement>(draw(code));
        expect(icon.getAttribute('aria-hidden'), code).to.equal('true');
        expect(icon.outerHTML, code).not.to.contain('style=');
      }
    });
  }
});
