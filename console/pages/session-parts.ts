/** Open sessions: of the signed-in person, and of the whole team. */
import { html, type TemplateResult } from 'lit';
import { peopleApi } from '../../src/contract/console-people.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { time } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/settings.js';
import type { View } from '../page.js';
import { button } from '../ui/button.js';
import { section, tag } from '../ui/details.js';
import { table } from '../ui/table.js';

export type OwnSession = ParsedData<typeof peopleApi.sessions.list>[number];
export type TeamSession = ParsedData<typeof peopleApi.teamSessions.list>[number];

// The first that matches: others name themselves after those that came before them.
const browsers = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;
const devices = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'Mac'],
  [/\bLinux\b/, 'Linux'],
] as const;
const nameIn = (names: readonly (readonly [RegExp, string])[], text: string) =>
  names.find(([form]) => form.test(text))?.[1];

/** “Chrome, Windows”; what the browser says of itself, if that is nothing known. */
function deviceOf(userAgent: string): string {
  const known = [nameIn(browsers, userAgent), nameIn(devices, userAgent)].filter((one) => one !== undefined);
  return known.join(', ') || userAgent || '–';
}

function sessionTable<Row extends OwnSession>(
  label: string,
  rows: readonly Row[],
  view: View,
  more: { readonly person?: (one: Row) => unknown; readonly end: (one: Row) => unknown },
): TemplateResult {
  const { person, end } = more;
  return table<Row>({
    label,
    rows,
    view,
    columns: [
      ...(person ? [{ label: texts.email, cell: person }] : []),
      {
        label: texts.browser,
        cell: ({ userAgent }) => html`<span title=${userAgent}>${deviceOf(userAgent)}</span>`,
      },
      { label: texts.address, cell: ({ address }) => address },
      { label: texts.since, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
      { label: texts.lastUse, kind: 'time', cell: ({ lastUsedAt }) => time(lastUsedAt) },
      {
        label: common.actions,
        kind: 'actions',
        cell: (one) => (one.isCurrent ? tag(texts.thisOne, 'good') : end(one)),
      },
    ],
    empty: '',
  });
}

export const ownSessionSection = (sessions: readonly OwnSession[], view: View): TemplateResult =>
  section(
    texts.mySessions,
    sessionTable(texts.mySessions, sessions, view, {
      end: ({ id }) =>
        button(view, {
          text: texts.end,
          permission: 'sessions.remove',
          kind: 'small',
          run: () =>
            view.act(() => view.api(peopleApi.sessions.remove, { params: { session_id: id } }), texts.ended),
        }),
    }),
  );

export const teamSessionSection = (sessions: readonly TeamSession[], view: View): TemplateResult =>
  section(
    texts.teamSessions,
    html`<p>${texts.teamSessionsText}</p>
      ${sessionTable(texts.teamSessions, sessions, view, {
        person: ({ person }) => person.email,
        end: (one) =>
          button(view, {
            text: texts.endOf,
            permission: 'teamSessions.remove',
            kind: 'small',
            run: () => end(one, view),
          }),
      })}`,
  );

async function end({ id, person, userAgent }: TeamSession, view: View): Promise<void> {
  const sure = await view.ask({
    title: texts.endTitle(person.email),
    text: texts.endText(deviceOf(userAgent)),
    action: texts.endAction,
    isFinal: true,
  });
  if (!sure) return;
  await view.act(() => view.api(peopleApi.teamSessions.remove, { params: { session_id: id } }), texts.ended);
}
