/** Every QR code that the checkout can draw is read back by a decoder that is not its own. */
import jsQr from 'jsqr';
import { expect, it } from 'vitest';
import { encodeQr, type QrModules } from '../../src/views/qr-encoder.js';

const pixelsPerModule = 4;
const quietZone = 4;

function scan({ size, isDark }: QrModules): string | undefined {
  const side = (size + 2 * quietZone) * pixelsPerModule;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1) {
      const module = (pixel: number) => Math.floor(pixel / pixelsPerModule) - quietZone;
      const [column, row] = [module(x), module(y)];
      const isInside = column >= 0 && row >= 0 && column < size && row < size;
      if (isInside && isDark(column, row)) pixels.fill(0, (y * side + x) * 4, (y * side + x) * 4 + 3);
    }
  }
  return jsQr.default(pixels, side, side)?.data;
}

/** The same for every run, and without a pattern that the code could hide behind. */
function textOf(length: number): string {
  const characters = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789:?=.&';
  return Array.from(
    { length },
    (_none, index) => characters[(index * 37 + length * 11 + ((index * index) >> 3)) % characters.length],
  ).join('');
}

it('at every length up to 213 bytes, in the smallest version that holds it', () => {
  for (let length = 1; length <= 213; length += 1) {
    const modules = encodeQr(textOf(length));
    expect(scan(modules)).toBe(textOf(length));
    // ISO/IEC 18004, table 7: bytes at level M.
    const version = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213].findIndex((most) => length <= most) + 1;
    expect(modules.size).toBe(17 + 4 * version);
  }
});

it('with text beyond ASCII', () => {
  expect(scan(encodeQr('bitcoin:x?label=Café ₦'))).toBe('bitcoin:x?label=Café ₦');
});

it('never cut short: longer text is an error', () => {
  expect(() => encodeQr(textOf(214))).toThrow(RangeError);
});
