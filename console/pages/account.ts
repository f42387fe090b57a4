/**
 * The signed-in person's own passkeys, sessions and e-mail.
 *
 * @place {"order": 196, "label": "Your account", "parent": "settings", "permission": "sessions.list"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { mailApi } from '../../src/contract/console-mail.js';
import { peopleApi } from '../../src/contract/console-people.js';
import { texts } from '../messages/settings.js';
import { page, type View } from '../page.js';
import { ownMailSection, type OwnMail } from './mail-parts.js';
import { passkeySection, type Passkey } from './passkey-parts.js';
import { ownSessionSection, type OwnSession } from './session-parts.js';

interface Data {
  readonly sessions: readonly OwnSession[];
  readonly passkeys: readonly Passkey[];
  /** Undefined on a server without mail. */
  readonly ownMail: OwnMail | undefined;
}

async function load({ api, signal, can }: View): Promise<Data> {
  const [sessions, passkeys, ownMail] = await Promise.all([
    api(peopleApi.sessions.list, {}, signal),
    api(peopleApi.passkeys.list, {}, signal),
    can('ownMail.retrieve') ? api(mailApi.ownMail.retrieve, {}, signal) : undefined,
  ]);
  return { sessions: sessions.data, passkeys: passkeys.data, ownMail: ownMail?.data };
}

const render = ({ sessions, passkeys, ownMail }: Data, view: View): TemplateResult =>
  html`<div class="panels">
    ${passkeySection(passkeys, view)} ${ownSessionSection(sessions, view)}
    ${ownMail ? ownMailSection(ownMail, view) : nothing}
  </div>`;

export default page<Data>({ title: () => texts.account, load, render, everyMs: 15_000 });
