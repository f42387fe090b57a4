/** Checks that apply to every list of records. */
import { expect } from 'vitest';
import type { Answer } from './call.js';

export type Records = Record<string, unknown>[];

/** The records of a list's reply. */
export function rowsOf(answer: Answer): Records {
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data as unknown as Records;
}

export const idsOf = (answer: Answer) => rowsOf(answer).map(({ id }) => id);

/** Checks paging and date ranges of a list. @param ids of all its records, newest first; at least three */
export async function expectPages(get: (query: string) => Promise<Answer>, ids: readonly unknown[]) {
  const total = ids.length;
  const page = async (query: string) => {
    const answer = await get(query);
    return { ids: idsOf(answer), ...(answer.body.meta as { pagination: object }).pagination };
  };
  expect(await page('')).toEqual({ ids, total, count: total, from: 1, to: total });
  expect(await page('?page=1&skip=2')).toEqual({ ids: ids.slice(0, 2), total, count: 2, from: 1, to: 2 });
  expect(await page('?page=2&skip=2')).toMatchObject({ ids: ids.slice(2, 4), total, from: 3 });
  expect(await page('?page=99')).toEqual({ ids: [], total, count: 0, from: 0, to: 0 });
  expect(await page('?skip=1000')).toMatchObject({ ids, total });
  for (const wrong of [
    'page=0',
    'page=-1',
    'page=x',
    'skip=0',
    'skip=1.5',
    'from=yesterday',
    'to=2026-02-30',
  ]) {
    const { status, body } = await get(`?${wrong}`);
    expect([status, body.data.code, body.data.param], wrong).toEqual([
      400,
      'validation_error',
      wrong.split('=')[0],
    ]);
  }
  expect((await get('?from=2026-02-02&to=2026-02-01')).status).toBe(400);
  expect(await page('?to=2000-01-01')).toEqual({ ids: [], total: 0, count: 0, from: 0, to: 0 });
  expect(await page('?from=2100-01-01')).toMatchObject({ ids: [], total: 0 });
  const newest = rowsOf(await get('?skip=1'))[0]?.['createdAt'];
  expect((await page(`?from=${String(newest)}`)).ids).toContain(ids[0]);
  expect(await page(`?from=2000-01-01&to=${String(newest)}`)).toMatchObject({ ids, total });
}
