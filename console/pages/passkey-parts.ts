/** The signed-in person's own passkeys. */
import { html, type TemplateResult } from 'lit';
import { peopleApi } from '../../src/contract/console-people.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { time } from '../format.js';
import { texts } from '../messages/passkeys.js';
import type { View } from '../page.js';
import { addPasskey } from '../passkeys.js';
import { button } from '../ui/button.js';
import { section } from '../ui/details.js';
import { table } from '../ui/table.js';

export type Passkey = ParsedData<typeof peopleApi.passkeys.list>[number];

export function passkeySection(passkeys: readonly Passkey[], view: View): TemplateResult {
  return section(
    texts.title,
    html`<p>${texts.text}</p>
      ${table<Passkey>({
        label: texts.title,
        rows: passkeys,
        view,
        columns: [
          { label: texts.name, cell: ({ name }) => name },
          { label: texts.since, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
          { label: texts.lastUse, kind: 'time', cell: ({ lastUsedAt }) => time(lastUsedAt) || texts.never },
          {
            label: texts.actions,
            kind: 'actions',
            cell: (one) =>
              button(view, {
                text: texts.remove,
                permission: 'passkeys.remove',
                isGuarded: true,
                kind: 'small',
                run: () => remove(one, view),
              }),
          },
        ],
        empty: texts.none,
      })}`,
    button(view, {
      text: texts.add,
      permission: 'passkeys.create',
      isGuarded: true,
      kind: 'main',
      run: () => add(view),
    }),
  );
}

/** Asks for a name, then has the browser make the passkey. @returns true if it is there */
export async function add(view: View): Promise<boolean> {
  const values = await view.ask({
    title: texts.addTitle,
    text: texts.addText,
    fields: [{ name: 'name', label: texts.name, isRequired: true, value: texts.suggested }],
    action: texts.add,
  });
  if (!values) return false;
  const name = (values['name'] ?? '').slice(0, 60);
  return (await view.act(async () => (await addPasskey(view.api, name), true), texts.added)) === true;
}

async function remove({ id, name }: Passkey, view: View): Promise<void> {
  const { removeText: text, remove: action } = texts;
  if (!(await view.ask({ title: texts.removeTitle(name), text, action, isFinal: true }))) return;
  await view.act(() => view.api(peopleApi.passkeys.remove, { params: { passkey_id: id } }), texts.removed);
}
