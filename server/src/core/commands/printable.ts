/** Keeps text that payers and merchants chose, such as names, from controlling the terminal that it is printed on. */

/** Escape sequences begin with one of these. A lone carriage return overwrites its line. */
// eslint-disable-next-line no-control-regex -- it is what this is about
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]|\r(?!\n)/g;

/** Shows control characters as `\u001b`, which in JSON means the same. New lines and tabs stay. */
export function withoutControls(text: string): string {
  return text.replace(controls, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
