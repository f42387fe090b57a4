/** Every QR code that the checkout can draw is decoded by an independent library. */
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

/** The same text in every run, without a regular pattern that could hide mistakes. */
function textOf(length: number): string {
  const characters = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789:?=.&';
  return Array.from(
    { length },
    (_none, index) => characters[(index * 37 + length * 11 + ((index * index) >> 3)) % characters.length],
  ).join('');
}

it('every length up to 213 bytes is readable and uses the smallest version', () => {
  for (let length = 1; length <= 213; length += 1) {
    const modules = encodeQr(textOf(length));
    expect(scan(modules)).toBe(textOf(length));
    // ISO/IEC 18004, table 7: bytes at level M.
    const version = [14, 26, 42, 62, 84, 106, 122, 152, 180, 213].findIndex((most) => length <= most) + 1;
    expect(modules.size).toBe(17 + 4 * version);
  }
});

/** Pseudorandom numbers from 0 to 1, the same in every run (xorshift). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

it('characters of one to four bytes are readable', () => {
  const random = seededRandom(42);
  const ranges = [
    [0x01, 0x7f],
    [0x80, 0x7ff],
    [0x800, 0xd7ff],
    [0x10000, 0x10ffff],
  ] as const;
  const character = () => {
    const [first, last] = ranges[Math.floor(random() * 4)] ?? ranges[0];
    return String.fromCodePoint(first + Math.floor(random() * (last - first + 1)));
  };
  for (let round = 0; round < 100; round += 1) {
    const length = 1 + Math.floor(random() * 50);
    const text = Array.from({ length }, character).join('');
    expect(scan(encodeQr(text)), JSON.stringify(text)).toBe(text);
  }
});

/** True for modules of alignment patterns. Scanners need them to find the code at all. */
function isAlignment(size: number, x: number, y: number): boolean {
  const last = size - 7;
  const centres = size === 21 ? [] : [(last + 6) / 2, last];
  const isNear = (at: number) => centres.some((centre) => Math.abs(at - centre) <= 2);
  return isNear(x) && isNear(y);
}

it('four wrong modules are corrected, in every version', () => {
  const random = seededRandom(7);
  for (let length = 6; length <= 213; length += 3) {
    const { size, isDark } = encodeQr(textOf(length));
    const wrong = new Set<string>();
    while (wrong.size < 4) {
      // Stay clear of the finders and the format and version information.
      const [x, y] = [9 + Math.floor(random() * (size - 9)), 9 + Math.floor(random() * (size - 9))];
      if (!isAlignment(size, x, y)) wrong.add(`${x},${y}`);
    }
    const isScannedDark = (x: number, y: number) => isDark(x, y) !== wrong.has(`${x},${y}`);
    expect(scan({ size, isDark: isScannedDark }), `${length} bytes`).toBe(textOf(length));
  }
});

it('longer text is an error', () => {
  expect(() => encodeQr(textOf(214))).toThrow(RangeError);
});
