/**
 * Encodes text as a QR code (ISO/IEC 18004). It supports only what payments need: byte mode, versions 1 to 10 and error
 * correction level M. A general encoder is five times as large.
 */

export interface QrModules {
  /** Modules per side. */
  readonly size: number;
  isDark(x: number, y: number): boolean;
}

/** For each version, at level M: error correction bytes per block, and the number of blocks. */
const blockTable: readonly (readonly [eccBytes: number, blocks: number])[] = [
  [10, 1],
  [16, 1],
  [26, 1],
  [18, 2],
  [24, 2],
  [16, 4],
  [18, 4],
  [22, 4],
  [22, 5],
  [26, 5],
];

const masks: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** @throws RangeError if the text has more than 213 bytes */
export function encodeQr(text: string): QrModules {
  const bytes = [...new TextEncoder().encode(text)];
  const index = blockTable.findIndex((_blocks, at) => bytes.length <= capacity(at + 1));
  const [eccBytes, blocks] = blockTable[index] ?? [0, 0];
  if (blocks === 0) throw new RangeError(`${bytes.length} bytes do not fit: at most 213 do`);
  const version = index + 1;
  const codewords = withCorrection(dataCodewords(bytes, version), version, eccBytes, blocks);
  const drawings = masks.map((_mask, mask) => draw(codewords, version, mask));
  return drawings.reduce((best, drawing) => (penalty(drawing) < penalty(best) ? drawing : best));
}

/** The codewords of a version: data and error correction together. */
function totalCodewords(version: number): number {
  const aligned = Math.floor(version / 7) + 2;
  let modules = (16 * version + 128) * version + 64;
  if (version > 1) modules -= (25 * aligned - 10) * aligned - 55;
  if (version > 6) modules -= 36;
  return modules >> 3;
}

function dataLength(version: number): number {
  const [eccBytes, blocks] = blockTable[version - 1] ?? [0, 0];
  return totalCodewords(version) - eccBytes * blocks;
}

/** How many bytes of text fit, next to 4 bits for the mode and 8 or 16 for the length. */
function capacity(version: number): number {
  return dataLength(version) - (version < 10 ? 2 : 3);
}

function dataCodewords(bytes: readonly number[], version: number): number[] {
  const binary = (value: number, length: number) => value.toString(2).padStart(length, '0');
  const bits = `0100${binary(bytes.length, version < 10 ? 8 : 16)}${bytes.map((byte) => binary(byte, 8)).join('')}0000`;
  const codewords = bits.match(/.{8}/g)?.map((word) => Number.parseInt(word, 2)) ?? [];
  const used = codewords.length;
  while (codewords.length < dataLength(version))
    codewords.push((codewords.length - used) % 2 === 0 ? 0xec : 0x11);
  return codewords;
}

/** Splits the data into blocks, adds error correction to each, and interleaves them. */
function withCorrection(
  data: readonly number[],
  version: number,
  eccBytes: number,
  blocks: number,
): number[] {
  const total = totalCodewords(version);
  const generator = generatorOf(eccBytes);
  const shortLength = Math.floor(total / blocks) - eccBytes;
  const shortBlocks = blocks - (total % blocks);
  const parts: number[][] = [];
  const corrections: number[][] = [];
  for (let block = 0, start = 0; block < blocks; block += 1) {
    const end = start + shortLength + (block < shortBlocks ? 0 : 1);
    const part = data.slice(start, end);
    parts.push(part);
    corrections.push(remainder(part, generator));
    start = end;
  }
  return [...interleave(parts), ...interleave(corrections)];
}

function interleave(parts: readonly (readonly number[])[]): number[] {
  const longest = Math.max(...parts.map((part) => part.length));
  return Array.from({ length: longest }, (_none, index) =>
    parts.flatMap((part) => part.slice(index, index + 1)),
  ).flat();
}

/** Product in GF(2⁸) modulo x⁸ + x⁴ + x³ + x² + 1. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1)
    product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((b >> bit) & 1) * a);
  return product;
}

/** The coefficients of the Reed-Solomon generator polynomial, highest power first, without the leading 1. */
function generatorOf(degree: number): number[] {
  let generator = [1];
  for (let power = 0, root = 1; power < degree; power += 1, root = multiply(root, 2)) {
    const shifted = [0, ...generator.map((factor) => multiply(factor, root))];
    generator = shifted.map((factor, index) => factor ^ (generator[index] ?? 0));
  }
  return generator.slice(1);
}

function remainder(data: readonly number[], generator: readonly number[]): number[] {
  let rest = generator.map(() => 0);
  for (const byte of data) {
    const factor = byte ^ (rest[0] ?? 0);
    rest = generator.map((coefficient, index) => (rest[index + 1] ?? 0) ^ multiply(coefficient, factor));
  }
  return rest;
}

/** `value` followed by its BCH remainder. */
function withCheck(value: number, generator: number, length: number): number {
  let rest = value;
  for (let step = 0; step < length; step += 1) rest = (rest << 1) ^ ((rest >> (length - 1)) * generator);
  return (value << length) | rest;
}

function draw(codewords: readonly number[], version: number, mask: number): QrModules {
  const size = version * 4 + 17;
  const isFunction = new Uint8Array(size * size);
  const dark = new Uint8Array(size * size);
  const set = (x: number, y: number, isDark: boolean) => {
    if (x < 0 || y < 0 || x >= size || y >= size) return;
    isFunction[y * size + x] = 1;
    dark[y * size + x] = Number(isDark);
  };
  drawPatterns(set, size, version);
  drawFormat(set, size, version, mask);

  let bit = 0;
  for (let column = size - 1; column > 0; column -= 2) {
    // Skip the column of the vertical timing pattern.
    if (column === 6) column = 5;
    for (let step = 0; step < size * 2; step += 1) {
      const x = column - (step % 2);
      const row = step >> 1;
      const y = ((column + 1) & 2) === 0 ? size - 1 - row : row;
      if (isFunction[y * size + x]) continue;
      const value = ((codewords[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
      dark[y * size + x] = value ^ Number(masks[mask]?.(x, y));
      bit += 1;
    }
  }
  return { size, isDark: (x, y) => dark[y * size + x] === 1 };
}

type Set = (x: number, y: number, isDark: boolean) => void;

/** Draws the timing, finder and alignment patterns. */
function drawPatterns(set: Set, size: number, version: number): void {
  const square = (x: number, y: number, radius: number, isDark: (distance: number) => boolean) => {
    for (let dy = -radius; dy <= radius; dy += 1) {
      for (let dx = -radius; dx <= radius; dx += 1) {
        set(x + dx, y + dy, isDark(Math.max(Math.abs(dx), Math.abs(dy))));
      }
    }
  };
  for (let i = 0; i < size; i += 1) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  const last = size - 7;
  const centres = version < 2 ? [] : version < 7 ? [6, last] : [6, (last + 6) / 2, last];
  for (const x of centres) {
    for (const y of centres) {
      const isFinder = (x === 6 && (y === 6 || y === last)) || (x === last && y === 6);
      if (!isFinder) square(x, y, 2, (distance) => distance !== 1);
    }
  }
  const isFinderDark = (distance: number) => distance !== 2 && distance !== 4;
  square(3, 3, 4, isFinderDark);
  square(size - 4, 3, 4, isFinderDark);
  square(3, size - 4, 4, isFinderDark);
}

/** Draws level and mask, twice; from version 7 on, also the version, twice. */
function drawFormat(set: Set, size: number, version: number, mask: number): void {
  const format = withCheck(mask, 0x537, 10) ^ 0x5412;
  for (let i = 0; i < 15; i += 1) {
    const isDark = ((format >> i) & 1) === 1;
    // One copy runs along the top left finder, skipping the timing patterns; the other along the other two finders.
    if (i < 8) set(8, i < 6 ? i : i + 1, isDark);
    else set(i === 8 ? 7 : 14 - i, 8, isDark);
    if (i < 8) set(size - 1 - i, 8, isDark);
    else set(8, size - 15 + i, isDark);
  }
  set(8, size - 8, true);
  if (version < 7) return;
  const bits = withCheck(version, 0x1f25, 12);
  for (let i = 0; i < 18; i += 1) {
    const isDark = ((bits >> i) & 1) === 1;
    const [a, b] = [size - 11 + (i % 3), Math.floor(i / 3)];
    set(a, b, isDark);
    set(b, a, isDark);
  }
}

/** How hard the code is to scan: penalties for runs, blocks, finder look-alikes and imbalance. */
function penalty({ size, isDark }: QrModules): number {
  let score = 0;
  let darkCount = 0;
  for (let y = 0; y < size; y += 1) {
    let [row, column] = ['', ''];
    for (let x = 0; x < size; x += 1) {
      const isThis = isDark(x, y);
      row += Number(isThis);
      column += Number(isDark(y, x));
      darkCount += Number(isThis);
      const isBlock =
        isThis === isDark(x + 1, y) && isThis === isDark(x, y + 1) && isThis === isDark(x + 1, y + 1);
      if (isBlock && x + 1 < size && y + 1 < size) score += 3;
    }
    for (const line of [row, column]) {
      for (const run of line.match(/0{5,}|1{5,}/g) ?? []) score += run.length - 2;
      score += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
    }
  }
  return score + 10 * Math.floor(Math.abs((darkCount * 20) / (size * size) - 10));
}
