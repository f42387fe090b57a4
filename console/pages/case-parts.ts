/** The staff's work on a payment: notes, who takes care of it, that it is handled, and a sum that is accepted as paid. */
import { html, nothing, type TemplateResult } from 'lit';
import { cases, type PaymentCase } from '../../src/contract/console-cases.js';
import { peopleApi } from '../../src/contract/console-people.js';
import type { PaymentRecord } from '../../src/contract/payment-record.js';
import { transactions } from '../../src/contract/transactions.js';
import { amount, time } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/cases.js';
import type { View } from '../page.js';
import { button } from '../ui/button.js';
import { section, tag } from '../ui/details.js';

const paramsOf = ({ id }: View) => ({ payment_id: id });

/** Money came that an order does not need, or needs and has not. */
export const needsPerson = ({ findings = [], state }: PaymentRecord) =>
  findings.length > 0 || state === 'reversed';

export const handledTag = (one: PaymentCase | undefined) =>
  one?.isHandled ? tag(texts.isHandled, 'good') : nothing;

export function caseSection(payment: PaymentRecord, one: PaymentCase, view: View): TemplateResult {
  const { notes, assignee, isHandled } = one;
  const isMine = assignee?.id === view.session.person.id;
  const content = html`${assignee ? html`<p>${texts.assignee(assignee.email)}</p>` : nothing}
  ${
    notes.length === 0
      ? html`<p>${texts.none}</p>`
      : html`<ol class="notes">
          ${notes.map(
            ({ kind, text, by, at }) =>
              html`<li>
                <p dir="auto">${kind === 'note' ? text : texts.logged[kind](text)}</p>
                <small>${by ?? texts.left}, ${time(at)}</small>
              </li>`,
          )}
        </ol>`
  }`;
  const isHandleable = needsPerson(payment) && !isHandled;
  return section(
    texts.title,
    content,
    html`${button(view, { text: texts.add, permission: 'cases.addNote', kind: 'small', run: () => add(view) })}
    ${
      view.can('team.list')
        ? button(view, {
            text: texts.assign,
            permission: 'cases.assign',
            kind: 'small',
            run: () => assign(one, view),
          })
        : button(view, {
            text: isMine ? texts.giveBack : texts.take,
            permission: 'cases.assign',
            kind: 'small',
            run: () => take(isMine, view),
          })
    }
    ${
      isHandleable
        ? button(view, {
            text: texts.handle,
            permission: 'cases.handle',
            kind: 'small',
            run: () => handle(view),
          })
        : nothing
    }
    ${
      isHandled
        ? button(view, {
            text: texts.reopen,
            permission: 'cases.reopen',
            kind: 'small',
            run: () => reopen(view),
          })
        : nothing
    }`,
  );
}

async function add(view: View): Promise<void> {
  const values = await view.ask({
    title: texts.addTitle,
    fields: [{ name: 'text', label: texts.note, hint: texts.noteHint, isLong: true, isRequired: true }],
    action: texts.save,
  });
  if (!values) return;
  const body = { text: values['text'] ?? '' };
  await view.act(() => view.api(cases.addNote, { params: paramsOf(view), body }), texts.added);
}

const give = (view: View, personId: string | null) =>
  view.api(cases.assign, { params: paramsOf(view), body: { personId } });

async function take(isMine: boolean, view: View): Promise<void> {
  const personId = isMine ? null : view.session.person.id;
  await view.act(() => give(view, personId), isMine ? texts.givenBack : texts.taken);
}

async function assign({ assignee }: PaymentCase, view: View): Promise<void> {
  const team = await view.act(() => view.api(peopleApi.team.list, {}));
  if (!team) return;
  const before = assignee?.id ?? null;
  const values = await view.ask({
    title: texts.assignTitle,
    fields: [
      {
        name: 'person',
        label: texts.person,
        value: before ?? view.session.person.id,
        options: [...team.data.map(({ id, email }) => [id, email] as const), ['', texts.nobody]],
      },
    ],
    action: texts.save,
  });
  if (!values) return;
  await view.act(
    () => give(view, values['person'] || null),
    texts.assigned,
    () => give(view, before),
  );
}

const reopenNow = (view: View) => view.api(cases.reopen, { params: paramsOf(view), body: {} });

async function handle(view: View): Promise<void> {
  const values = await view.ask({
    title: texts.handleTitle,
    text: texts.handleText,
    fields: [{ name: 'note', label: texts.handleNote, isLong: true, isRequired: true }],
    action: texts.handled,
  });
  if (!values) return;
  const body = { note: values['note'] ?? '' };
  await view.act(
    () => view.api(cases.handle, { params: paramsOf(view), body }),
    texts.handled,
    () => reopenNow(view),
  );
}

const reopen = (view: View) => view.act(() => reopenNow(view), texts.undone);

const acceptable: readonly PaymentRecord['state'][] = ['partially_paid', 'expired_partial', 'expired_late'];

export function acceptButton(payment: PaymentRecord, view: View): TemplateResult | typeof nothing {
  if (!acceptable.includes(payment.state) || !payment.amountReceived) return nothing;
  return button(view, {
    text: texts.accept,
    permission: 'transactions.accept',
    isGuarded: true,
    run: () => accept(payment, view),
  });
}

async function accept(payment: PaymentRecord, view: View): Promise<void> {
  const { amountReceived = 0, amount: due, currency = '', id, txRef = id } = payment;
  const sum = amount(amountReceived, currency);
  const values = await view.ask({
    title: texts.acceptTitle(sum),
    text: texts.acceptText(sum, amount(due ?? 0, currency), txRef),
    fields: [{ name: 'note', label: `${texts.acceptNote} (${common.optional})` }],
    action: texts.acceptAction(sum),
    isFinal: true,
  });
  if (!values) return;
  const body = { amount: amountReceived, note: values['note'] ?? '' };
  await view.act(
    () => view.api(transactions.accept, { params: { transaction_id: id }, body }),
    texts.accepted,
  );
}
