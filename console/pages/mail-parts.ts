/** The choices of e-mail: of the signed-in person, and of the shop's payers. */
import { html, nothing, type TemplateResult } from 'lit';
import { mailApi } from '../../src/contract/console-mail.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { languageName } from '../../src/platform.js';
import { texts } from '../messages/mail.js';
import type { View } from '../page.js';
import { commands } from '../ui/commands.js';
import { section } from '../ui/details.js';
import { field } from '../ui/field.js';

export type OwnMail = ParsedData<typeof mailApi.ownMail.retrieve>;
export type PayerMail = ParsedData<typeof mailApi.payerMail.retrieve>;

interface Choices<Kind extends string> {
  readonly isOn: boolean;
  readonly kinds: readonly Kind[];
  readonly language: string;
  readonly languages: readonly string[];
}

interface Form<Kind extends string> {
  readonly title: string;
  readonly text: string;
  readonly offered: readonly (readonly [Kind, string])[];
  readonly more?: TemplateResult;
  readonly permission: string;
  save(kinds: Kind[], language: string, values: FormData): Promise<unknown>;
}

const textOf = (value: FormDataEntryValue | null): string => (typeof value === 'string' ? value : '');

function choices<Kind extends string>(
  { isOn, kinds, language, languages }: Choices<Kind>,
  { title, text, offered, more, permission, save }: Form<Kind>,
  view: View,
): TemplateResult {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const values = new FormData(event.currentTarget);
    const picked = values.getAll('kind');
    const chosen = offered.flatMap(([kind]) => (picked.includes(kind) ? [kind] : []));
    void view.act(() => save(chosen, textOf(values.get('language')), values), texts.saved);
  };
  const mayChange = view.can(permission);
  return section(
    title,
    html`<p>${text}</p>
      ${
        isOn
          ? nothing
          : html`<p>${texts.isOff}</p>
              ${commands(view, [[texts.test, 'mail test --to YOU@SHOP.EXAMPLE']])}`
      }
      <form @submit=${submit}>
        <fieldset class="checks" ?disabled=${!mayChange}>
          <legend>${texts.kinds}</legend>
          ${offered.map(
            ([kind, label]) =>
              html`<label
                ><input type="checkbox" name="kind" .value=${kind} ?checked=${kinds.includes(kind)} />
                <span>${label}</span></label
              >`,
          )}
        </fieldset>
        ${field({
          name: 'language',
          label: texts.language,
          value: language,
          options: languages.map((code) => [code, languageName(code)]),
        })}
        ${more ?? nothing}
        ${
          mayChange
            ? html`<div class="actions">
                <button class="main" ?disabled=${view.isBusy}>${texts.save}</button>
              </div>`
            : nothing
        }
      </form>`,
  );
}

export const ownMailSection = (own: OwnMail, view: View): TemplateResult =>
  choices(
    own,
    {
      title: texts.own,
      text: texts.ownText(view.session.person.email, texts.modes[view.mode]),
      offered: own.offered.map((kind) => [kind, texts.staffKinds[kind]]),
      permission: 'ownMail.update',
      save: (kinds, language) => view.api(mailApi.ownMail.update, { body: { kinds, language } }),
    },
    view,
  );

/** In the order of the page. */
const payerKinds = Object.keys(texts.payerKinds) as (keyof typeof texts.payerKinds)[];

export const payerMailSection = (payers: PayerMail, view: View): TemplateResult =>
  choices(
    payers,
    {
      title: texts.payers,
      text: texts.payersText(texts.modes[view.mode]),
      offered: payerKinds.map((kind) => [kind, texts.payerKinds[kind]]),
      more: field({
        name: 'replyTo',
        label: texts.replyTo,
        hint: texts.replyToHint,
        type: 'email',
        value: payers.replyTo,
      }),
      permission: 'payerMail.update',
      save: (kinds, language, values) =>
        view.api(mailApi.payerMail.update, {
          body: { kinds, language, replyTo: textOf(values.get('replyTo')) },
        }),
    },
    view,
  );
