/** The question for a fresh sign-in. Loaded when it is first asked. */
import { html } from 'lit';
import type { ConsoleSession } from '../src/contract/console-people.js';
import { inShell, onServer } from './command-line.js';
import { texts } from './messages/fresh-sign-in.js';
import type { View } from './page.js';
import { copyable } from './ui/copy.js';
import type { Dialog } from './ui/dialog.js';

export function freshSignInDialog(
  { passkeys, merchant, person, role }: ConsoleSession,
  host: Pick<View, 'say'>,
): Dialog {
  const invite = `users invite --merchant ${merchant.id} --email ${inShell(person.email)} --role ${role}`;
  return {
    title: texts.title,
    text: html`<p>${texts.text}</p>
      <p><small>${texts.link}</small> ${copyable(onServer(invite), host)}</p>`,
    action: passkeys > 0 ? texts.passkey : texts.goOn,
  };
}
