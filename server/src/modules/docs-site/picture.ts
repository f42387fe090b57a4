/** Pictures of the guides: a flowchart in Mermaid, which GitHub draws on its own, as an SVG in the page, without a script. */
import { html, type Html } from '../../core/site/html.js';

interface Step {
  readonly id: string;
  /** Empty for a place through which an arrow passes. */
  readonly lines: readonly string[];
  /** The arrow's, at the first such place. */
  readonly label?: string;
  row: number;
  x: number;
}

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  readonly isDashed: boolean;
}

const lineHeight = 17;
const widthOf = ({ lines, label = '' }: Step) =>
  lines.length === 0 ? 16 + label.length * 7 : Math.max(90, ...lines.map((line) => line.length * 7.4 + 24));
const gap = 22;
const space = 20;

/** @param text `flowchart TD`, then lines such as `a[One text] -->|a label| b` */
export function picture(text: string): Html {
  const { steps, arrows } = read(text);
  const paths = layOut(steps, arrows);
  const all = [...steps.values()];
  const rows = group(all);
  const tops: number[] = [];
  let bottom = 4;
  for (const row of rows) {
    tops.push(bottom);
    bottom += heightOf(row) + space;
  }
  const width = Math.max(...rows.map((row) => placeRow(row, steps, paths)));
  for (const row of rows) {
    const shift = (width - rowWidth(row)) / 2;
    for (const step of row) step.x += shift;
  }
  const top = ({ row }: Step) => tops[row] ?? 0;
  const height = (step: Step) => (step.lines.length === 0 ? heightOf(rows[step.row] ?? []) : boxHeight(step));
  const spoken = arrows.map(
    ({ from, to, label }) => `${nameOf(steps, from)} → ${nameOf(steps, to)}${label && ` (${label})`}`,
  );
  return html`<div class="picture" role="group" aria-label="Picture" tabindex="0">
    <svg
      role="img"
      aria-label="${spoken.join('; ')}"
      viewBox="0 0 ${String(width + 8)} ${String(bottom - space + 8)}"
      width="${String(width + 8)}"
      height="${String(bottom - space + 8)}"
    >
      ${paths.map((path) => line(path, steps, top, height))}
      <g class="labels">
        ${all.filter(({ label = '' }) => label !== '').map((step) => caption(step.x + widthOf(step) / 2, top(step) + height(step) / 2 + 4, step.label ?? ''))}
      </g>
      ${all.filter(({ lines }) => lines.length > 0).map((step) => box(step, top(step)))}
    </svg>
  </div>`;
}

function read(text: string): { steps: Map<string, Step>; arrows: Arrow[] } {
  const steps = new Map<string, Step>();
  const arrows: Arrow[] = [];
  const name = (part: string): string => {
    const [, id = '', label] = /^(\w+)(?:\[\(?([^\])]+)\)?\])?$/.exec(part.trim()) ?? [];
    if (id === '') throw new Error(`A picture of the docs has “${part}”, which is no step`);
    if (!steps.has(id) || label !== undefined) {
      steps.set(id, { id, lines: wrap(label ?? id), row: 0, x: 0 });
    }
    return id;
  };
  for (const row of text.trim().split('\n').slice(1)) {
    const [first = '', ...others] = row.split(/ (-->|-\.->)/);
    let from = name(first);
    for (let index = 0; index + 1 < others.length; index += 2) {
      const [, label = '', target = ''] = /^(?:\|([^|]*)\|)? ?(.*)$/.exec(others[index + 1] ?? '') ?? [];
      const to = name(target);
      arrows.push({ from, to, label, isDashed: others[index] === '-.->' });
      from = to;
    }
  }
  return { steps, arrows };
}

function wrap(text: string): string[] {
  const lines = [''];
  for (const word of text.replaceAll('_', ' ').split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length > 22) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}

interface Path extends Arrow {
  /** From its first to its last step. */
  readonly ids: readonly string[];
}

/** Gives each step its row, below all that lead to it, and arrows a place in each row between. Every second row is for such places. */
function layOut(steps: Map<string, Step>, arrows: readonly Arrow[]): Path[] {
  for (let round = 0; round < steps.size; round += 1) {
    for (const { from, to } of arrows) {
      const [one, other] = [steps.get(from), steps.get(to)];
      if (one && other) other.row = Math.min(2 * steps.size, Math.max(other.row, one.row + 2));
    }
  }
  return arrows.map((arrow, index) => {
    const first = steps.get(arrow.from)?.row ?? 0;
    const last = steps.get(arrow.to)?.row ?? 0;
    const between = Array.from({ length: Math.max(0, last - first - 1) }, (_, at) => {
      const id = `${index} ${at}`;
      steps.set(id, { id, lines: [], label: at === 0 ? arrow.label : '', row: first + 1 + at, x: 0 });
      return id;
    });
    return { ...arrow, ids: [arrow.from, ...between, arrow.to] };
  });
}

function group(steps: readonly Step[]): Step[][] {
  const rows: Step[][] = [];
  for (const step of steps) (rows[step.row] ??= []).push(step);
  return rows;
}

const rowWidth = (row: readonly Step[]) => row.reduce((sum, step) => sum + widthOf(step) + gap, -gap);
const boxHeight = ({ lines }: Step) => (lines.length === 0 ? 12 : lines.length * lineHeight + 16);
const heightOf = (row: readonly Step[]) => Math.max(0, ...row.map(boxHeight));

/** Sorts a row by the places of the steps that lead to it. @returns its width */
function placeRow(row: Step[], steps: ReadonlyMap<string, Step>, paths: readonly Path[]): number {
  const wish = (step: Step) => {
    const before = paths.flatMap(({ ids }) => {
      const at = ids.indexOf(step.id);
      const one = at > 0 ? steps.get(ids[at - 1] ?? '') : undefined;
      return one ? [one.x + widthOf(one) / 2] : [];
    });
    return before.reduce((sum, x) => sum + x, 0) / Math.max(1, before.length);
  };
  const wishes = new Map(row.map((step) => [step, wish(step)]));
  row.sort((a, b) => (wishes.get(a) ?? 0) - (wishes.get(b) ?? 0));
  const width = rowWidth(row);
  let x = 4;
  for (const step of row) {
    step.x = x;
    x += widthOf(step) + gap;
  }
  return width;
}

const nameOf = (steps: ReadonlyMap<string, Step>, id: string) => steps.get(id)?.lines.join(' ') ?? id;
const caption = (x: number, y: number, words: string) =>
  html`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="middle">${words}</text>`;

function box(step: Step, top: number): Html {
  const width = widthOf(step);
  return html`<rect
      x="${step.x.toFixed(1)}"
      y="${String(top)}"
      width="${width.toFixed(1)}"
      height="${String(boxHeight(step))}"
      rx="8"
    />${step.lines.map((words, index) => caption(step.x + width / 2, top + 20 + index * lineHeight, words))}`;
}

function line(
  { ids, isDashed }: Path,
  steps: ReadonlyMap<string, Step>,
  top: (step: Step) => number,
  height: (step: Step) => number,
): Html {
  const passed = ids.flatMap((id) => steps.get(id) ?? []);
  const [first, second] = passed;
  if (!first || !second) return html``;
  const middle = (step: Step) => step.x + widthOf(step) / 2;
  let path = '';
  let at: readonly [x: number, y: number] = [middle(first), top(first) + height(first)];
  for (const step of passed.slice(1)) {
    const [x, y] = [middle(step), top(step)];
    const bend = (at[1] + y) / 2;
    path += `M${at.join(' ')} C${at[0]} ${bend} ${x} ${bend} ${x} ${y} `;
    at = [x, y + height(step)];
    // Through the whole row of a place that it only passes.
    if (step.lines.length === 0) path += `M${x} ${y} L${at.join(' ')} `;
  }
  const last = passed.at(-1) ?? second;
  const [x, y] = [middle(last), top(last)];
  return html`<path class="${isDashed ? 'dashed' : 'plain'}" d="${path.trim()}" />
    <path
      class="head"
      d="M${String(x - 4)} ${String(y - 8)} L${String(x + 4)} ${String(y - 8)} L${String(x)} ${String(y)} Z"
    />`;
}
