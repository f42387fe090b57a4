/** Checks the percent-encoding of a request's URL before anything decodes it. */
import { invalidField } from '../shared/problem.js';

/** @throws Problem `validation_error` if path or query is not UTF-8, or has U+0000, which PostgreSQL cannot store */
export function checkEncoding(url: string): void {
  if (!url.includes('%')) return;
  const [path = '', ...query] = url.split('?');
  check('path', path);
  check('query', query.join('?'));
}

function check(part: string, text: string): void {
  if (text.includes('%00')) throw invalidField(part, 'Must not contain the character U+0000');
  try {
    decodeURIComponent(text);
  } catch {
    throw invalidField(part, 'Must be percent-encoded UTF-8');
  }
}
