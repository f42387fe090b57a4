/** Whatever a merchant picks as accent and background, everything on it can be read. */
import { expect } from '@open-wc/testing';
import { mount, orderAttributes } from '../support/element.js';

/** The pairs that text is shown in: colour, and what is behind it. */
const pairs = [
  ['--_text', '--_background'],
  ['--_muted', '--_background'],
  ['--_text', '--_surface'],
  ['--_muted', '--_surface'],
  ['--_on-accent', '--_accent'],
  ['--_on-accent', '--_hover'],
] as const;

const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });

/** The relative luminance of a colour as it is drawn, by WCAG. */
function luminance(colour: string): number {
  if (!canvas) throw new Error('This browser has no canvas');
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** The same colours in every run. */
function* randomColours(seed: number): Generator<string, never> {
  let state = seed;
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield `#${(state >>> 8).toString(16).padStart(6, '0')}`;
  }
}

describe('derived colours', () => {
  it('Derived colours have a contrast of at least 4.5 for 500 random accents and backgrounds, and for hard ones', async () => {
    const element = await mount({ ...orderAttributes, theme: 'light' });
    const root = element.shadowRoot;
    if (!root) throw new Error('The element has no shadow root');
    const probes = new Map(
      pairs.flat().map((name) => {
        const probe = document.createElement('i');
        probe.style.color = `var(${name})`;
        root.append(probe);
        return [name, probe] as const;
      }),
    );
    const drawn = (name: (typeof pairs)[number][number]) => {
      const probe = probes.get(name);
      return probe ? getComputedStyle(probe).color : '';
    };
    const colours = randomColours(42);
    const random = Array.from({ length: 500 }, () => [colours.next().value, colours.next().value] as const);
    const named = [
      '#ffdd00',
      '#000000',
      '#ffffff',
      '#fbf3e2',
      '#808080',
      '#757575',
      '#ff0000',
      '#0000ff',
      '#00ff00',
    ];
    const hard = named.flatMap((accent) => named.map((background) => [accent, background] as const));
    const failures: string[] = [];
    let [lowest, highest] = [21, 1];
    for (const [accent, background] of [...random, ...hard]) {
      element.style.setProperty('--checkout-accent', accent);
      element.style.setProperty('--checkout-background', background);
      for (const [text, ground] of pairs) {
        const ratio = contrast(drawn(text), drawn(ground));
        lowest = Math.min(lowest, ratio);
        highest = Math.max(highest, ratio);
        if (ratio < 4.5)
          failures.push(`${text} on ${ground}: ${ratio.toFixed(2)} (${accent}, ${background})`);
      }
    }
    // As low as black and white allow on grey, and as high as on white: so these are contrasts.
    expect(lowest).to.be.within(4.5, 4.8);
    expect(highest).to.be.greaterThan(14);
    expect(failures.slice(0, 10)).to.deep.equal([]);
  });
});
