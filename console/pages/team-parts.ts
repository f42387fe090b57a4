/** The shop's team: who is in it, in which role. */
import { html, nothing, type TemplateResult } from 'lit';
import { peopleApi } from '../../src/contract/console-people.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { time } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/settings.js';
import type { View } from '../page.js';
import { button } from '../ui/button.js';
import { section, tag } from '../ui/details.js';
import { rowActions } from '../ui/more.js';
import { showLink } from '../ui/show-link.js';
import { table } from '../ui/table.js';

export type Member = ParsedData<typeof peopleApi.team.list>[number];
type Role = Member['role'];

const roles = Object.keys(texts.roles) as Role[];
const roleField = (value: Role) => ({
  name: 'role',
  label: texts.role,
  value,
  options: Object.entries(texts.roles),
});
const roleOf = (value: string | undefined) => roles.find((one) => one === value) ?? 'support';
const nameOf = (role: Role) => texts.roles[role].split(':')[0];

export function teamSection(team: readonly Member[], view: View): TemplateResult {
  return section(
    texts.team,
    table<Member>({
      label: texts.team,
      rows: team,
      view,
      columns: [
        {
          label: texts.email,
          cell: ({ id, email }) => (id === view.session.person.id ? html`${email} ${tag(texts.you)}` : email),
        },
        { label: texts.role, cell: ({ role }) => nameOf(role) },
        { label: texts.sessions, kind: 'money', cell: ({ sessions }) => sessions },
        {
          label: texts.lastSignIn,
          kind: 'time',
          cell: ({ lastSignInAt }) => time(lastSignInAt) || texts.never,
        },
        ...(view.can('team.invite')
          ? [
              {
                label: common.actions,
                kind: 'actions' as const,
                cell: (one: Member) => memberActions(one, view),
              },
            ]
          : []),
      ],
      empty: '',
    }),
    button(view, {
      text: texts.invite,
      permission: 'team.invite',
      isGuarded: true,
      kind: 'main',
      run: () => invite(view),
    }),
  );
}

function memberActions({ id, email, role, sessions }: Member, view: View): unknown {
  const params = { person_id: id };
  const small = (text: string, permission: string, run: () => Promise<unknown>) =>
    button(view, { text, permission, run, isGuarded: permission !== 'team.signOut', kind: 'small' });
  return rowActions(id, [
    small(texts.newLink, 'team.invite', () => sendLink(email, role, view)),
    small(texts.changeRole, 'team.update', () => changeRole({ id, email, role }, view)),
    sessions > 0
      ? small(texts.signOut, 'team.signOut', () =>
          view.act(() => view.api(peopleApi.team.signOut, { params }), texts.signedOut),
        )
      : nothing,
    small(texts.remove, 'team.remove', () => remove(id, email, view)),
  ]);
}

export async function invite(view: View): Promise<void> {
  const values = await view.ask({
    title: texts.inviteTitle,
    text: texts.inviteText,
    fields: [{ name: 'email', label: texts.email, type: 'email', isRequired: true }, roleField('support')],
    action: texts.inviteAction,
  });
  if (values) await sendLink(values['email'] ?? '', roleOf(values['role']), view);
}

async function sendLink(email: string, role: Role, view: View): Promise<void> {
  const made = await view.act(() => view.api(peopleApi.team.invite, { body: { email, role } }));
  if (made) await showLink(view, texts.linkReady(email), made.data.signInUrl, texts.linkText);
}

async function changeRole(
  { id, email, role }: Pick<Member, 'id' | 'email' | 'role'>,
  view: View,
): Promise<void> {
  const values = await view.ask({
    title: texts.roleTitle(email),
    text: texts.roleText,
    fields: [roleField(role)],
    action: texts.roleAction,
  });
  if (!values) return;
  const input = { params: { person_id: id }, body: { role: roleOf(values['role']) } };
  await view.act(() => view.api(peopleApi.team.update, input), texts.roleChanged);
}

async function remove(id: string, email: string, view: View): Promise<void> {
  const { removeText: text, removeAction: action } = texts;
  if (!(await view.ask({ title: texts.removeTitle(email), text, action, isFinal: true }))) return;
  await view.act(() => view.api(peopleApi.team.remove, { params: { person_id: id } }), texts.removed);
}
