/**
 * One customer.
 *
 * @place {"order": 110, "parent": "customers", "permission": "customers.retrieve"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { erasure } from '../../src/contract/console-erasure.js';
import { relations } from '../../src/contract/console-relations.js';
import { customers } from '../../src/contract/customers.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import type { PaymentRecord } from '../../src/contract/payment-record.js';
import { transactions } from '../../src/contract/transactions.js';
import { amount, time } from '../format.js';
import { texts } from '../messages/customers.js';
import { texts as ofPayments } from '../messages/payments.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { copyable } from '../ui/copy.js';
import { details, section } from '../ui/details.js';
import { emptyHint } from '../ui/empty.js';
import { table } from '../ui/table.js';
import { customerFields, isErased, stateOf, type Customer } from './customer-parts.js';
import { findingTags, stateTag } from './payment-parts.js';
import { subscriptionList, sumsOf, type Subscriptions } from './subscription-parts.js';

const subscriptionsOf = subscriptionList('customer');

interface Data {
  readonly one: Customer;
  readonly sums: ParsedData<typeof relations.sumCustomer>;
  /** Undefined if the role sees none. */
  readonly subscriptions: Subscriptions | undefined;
  readonly payments: readonly PaymentRecord[];
}

async function load(view: View): Promise<Data> {
  const { api, id, signal } = view;
  const params = { customer_id: id };
  const [{ data: one }, sums] = await Promise.all([
    api(customers.retrieve, { params }, signal),
    api(relations.sumCustomer, { params }, signal),
  ]);
  const customer = one.email;
  const [subscriptions, payments] = await Promise.all([
    view.can('subscribers.list') ? subscriptionsOf.load(view, { customer }) : undefined,
    api(transactions.list, { query: { customer, skip: 5 } }, signal),
  ]);
  return { one, sums: sums.data, subscriptions, payments: payments.data };
}

function render({ one, sums, subscriptions, payments }: Data, view: View): TemplateResult {
  const { email, fullName, phoneNumber, isBlacklisted, createdAt } = one;
  const permission = 'customers.update';
  return html`<div class="panels">
    ${section(
      texts.customer,
      html`${details([
        [texts.email, copyable(email, view)],
        [texts.name, fullName],
        [texts.phone, phoneNumber],
        [texts.state, stateOf(one)],
        [texts.created, time(createdAt)],
        [texts.paidInAll, texts.paidPayments(sumsOf(sums), countOf(sums))],
      ])} `,
      html`${button(view, { text: texts.change, permission, run: () => change(one, view) })}
      ${
        isBlacklisted
          ? button(view, {
              text: texts.unblock,
              permission,
              run: () => update(one, { isBlacklisted: false }, view),
            })
          : button(view, { text: texts.block, permission, run: () => block(one, view) })
      }`,
    )}
    ${
      subscriptions
        ? section(texts.subscriptions, subscriptionsOf.table(subscriptions, view, noSubscriptions(view)))
        : nothing
    }
    ${section(
      texts.lastPayments,
      lastPayments(payments, view),
      html`<a class="button" href=${view.link('payments', undefined, { q: email })}>${texts.allPayments}</a>`,
    )}
    ${
      view.can('erasure.erase') && !isErased(one)
        ? section(
            texts.erase,
            html`<p>${texts.eraseText}</p>`,
            button(view, {
              text: texts.eraseButton,
              permission: 'erasure.erase',
              isGuarded: true,
              run: () => erase(one, view),
            }),
          )
        : nothing
    }
  </div>`;
}

const noSubscriptions = (view: View) =>
  emptyHint(view, texts.noSubscriptions, { text: texts.toPlans, page: 'plans' });

const countOf = (sums: Data['sums']) => sums.reduce((count, { payments }) => count + payments, 0);

const lastPayments = (rows: readonly PaymentRecord[], view: View) =>
  table<PaymentRecord>({
    label: texts.lastPayments,
    rows,
    view,
    href: ({ id }) => view.link('payment', id),
    columns: [
      { label: ofPayments.reference, cell: ({ txRef, id }) => txRef ?? id },
      { label: ofPayments.price, kind: 'money', cell: (one) => amount(one.baseAmount, one.baseCurrency) },
      {
        label: ofPayments.status,
        kind: 'status',
        cell: (one) => html`${stateTag(one)} ${findingTags(one)}`,
      },
      { label: ofPayments.created, kind: 'time', cell: ({ createdAt }) => time(createdAt) },
    ],
    empty: emptyHint(view, texts.noPayments, {
      text: texts.newPayment,
      page: 'payments',
      query: { do: 'create' },
      permission: 'payments.create',
    }),
  });

const update = (
  { id }: Customer,
  body: { fullName?: string; phoneNumber?: string; isBlacklisted?: boolean },
  view: View,
) => view.act(() => view.api(customers.update, { params: { customer_id: id }, body }), texts.saved);

async function change(one: Customer, view: View): Promise<void> {
  const title = texts.changeCustomer;
  const values = await view.ask({ title, fields: customerFields(one), action: texts.save });
  if (!values) return;
  const { fullName = '', phoneNumber = '' } = values;
  await update(one, { fullName, phoneNumber }, view);
}

/** Shows what goes and what stays, wants the address typed, and erases only then. */
async function erase({ id, email }: Customer, view: View): Promise<void> {
  const params = { customer_id: id };
  const found = await view.act(() => view.api(erasure.preview, { params }, view.signal));
  if (!found) return;
  const { payments, blockedBy } = found.data;
  if (blockedBy !== null) {
    await view.ask({ title: texts.eraseBlocked, text: texts.blockers[blockedBy] });
    return;
  }
  const values = await view.ask({
    title: texts.eraseTitle(email),
    text: html`<p>${texts.eraseFinal}</p>
      ${details([
        [texts.goes, texts.goesText],
        [texts.payments, texts.erasedPayments(payments)],
        [texts.stays, texts.staysText],
      ])}`,
    fields: [{ name: 'email', label: texts.typeEmail, type: 'email', isRequired: true }],
    action: texts.eraseAction,
    isFinal: true,
  });
  if (!values) return;
  const body = { email: values['email'] ?? '' };
  view.say(texts.erasing);
  const done = await view.act(() => view.api(erasure.erase, { params, body }));
  if (!done) return;
  const { customers, payments: changed, webhooks, storedReplies, replacedBy } = done.data;
  await view.ask({
    title: texts.erasedTitle,
    text: html`<p>${texts.erasedText}</p>
      ${details([
        [texts.customers, customers],
        [texts.payments, changed],
        [texts.webhooks, webhooks],
        [texts.storedReplies, storedReplies],
        [texts.replacedBy, replacedBy],
      ])}`,
  });
}

async function block(one: Customer, view: View): Promise<void> {
  const { blockText: text, blockAction: action } = texts;
  const isSure = await view.ask({ title: texts.blockTitle(one.email), text, action, isFinal: true });
  if (isSure) await update(one, { isBlacklisted: true }, view);
}

export default page<Data>({ title: (_view, data) => data?.one.email ?? texts.customer, load, render });
