/**
 * One payment plan.
 *
 * @place {"order": 130, "parent": "plans", "permission": "paymentPlans.retrieve"}
 */
import { html, type TemplateResult } from 'lit';
import { relations } from '../../src/contract/console-relations.js';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { paymentPlans } from '../../src/contract/payment-plans.js';
import { subscribers } from '../../src/contract/subscribers.js';
import { amount } from '../format.js';
import { texts } from '../messages/customers.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { details, section, tag } from '../ui/details.js';
import { subscriptionList, sumsOf, type Subscriptions } from './subscription-parts.js';

type Plan = ParsedData<typeof paymentPlans.retrieve>;

const subscriptionsOf = subscriptionList('plan');

interface Data {
  readonly plan: Plan;
  readonly sums: ParsedData<typeof relations.sumPlan>;
  readonly subscriptions: Subscriptions;
}

async function load(view: View): Promise<Data> {
  const { api, id, signal } = view;
  const [plan, sums, subscriptions] = await Promise.all([
    api(paymentPlans.retrieve, { params: { payment_plan_id: id } }, signal),
    api(relations.sumPlan, { params: { plan_id: id } }, signal),
    subscriptionsOf.load(view, { planId: id }),
  ]);
  return { plan: plan.data, sums: sums.data, subscriptions };
}

function render({ plan: one, sums, subscriptions }: Data, view: View): TemplateResult {
  const { isActive, planName, currencies, frequency, numberOfTimesToCharge } = one;
  const permission = 'paymentPlans.update';
  return html`<div class="panels">
    ${section(
      planName,
      html`${details([
        [texts.state, isActive ? tag(texts.active, 'good') : tag(texts.inactive)],
        [texts.amount, amount(one.amount, one.currency)],
        [texts.frequency, texts.frequencies[frequency]],
        [texts.times, numberOfTimesToCharge],
        [texts.coins, currencies.join(', ')],
        [texts.subscribers, texts.subscriberCount(sums.active, sums.ended)],
        [texts.revenue, sums.paid ? paidText(sums.paid) : texts.tooMany],
      ])} `,
      html`${button(view, { text: texts.changePlan, permission, run: () => change(one, view) })}
      ${
        isActive
          ? button(view, { text: texts.turnOff, permission, run: () => turnOff(one, view) })
          : button(view, { text: texts.turnOn, permission, run: () => update(one, { isActive: true }, view) })
      }`,
    )}
    ${section(
      texts.subscribers,
      subscriptionsOf.table(subscriptions, view, texts.noneOfPlan),
      button(view, {
        text: texts.subscribe,
        permission: 'subscribers.create',
        run: () => subscribe(one, view),
      }),
    )}
  </div>`;
}

const paidText = ({ payments, ...sum }: NonNullable<Data['sums']['paid']>) =>
  texts.paidCharges(sumsOf([sum]), payments);

const update = ({ id }: Plan, body: { amount?: string; isActive?: boolean }, view: View) =>
  view.act(() => view.api(paymentPlans.update, { params: { payment_plan_id: id }, body }), texts.saved);

async function change(one: Plan, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.changePlanTitle,
    text: texts.changePlanText,
    fields: [
      {
        name: 'amount',
        label: `${texts.amount} (${one.currency})`,
        type: 'number',
        isRequired: true,
        value: String(one.amount),
      },
    ],
    action: texts.save,
  });
  if (values) await update(one, { amount: values['amount'] ?? '' }, view);
}

async function turnOff(one: Plan, view: View): Promise<void> {
  const { turnOffText: text, turnOffAction: action } = texts;
  const isSure = await view.ask({ title: texts.turnOffTitle(one.planName), text, action, isFinal: true });
  if (isSure) await update(one, { isActive: false }, view);
}

async function subscribe({ id }: Plan, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.subscribeTitle,
    text: texts.subscribeText,
    fields: [{ name: 'email', label: texts.email, type: 'email', isRequired: true }],
    action: texts.subscribeAction,
  });
  if (!values) return;
  const input = { params: { payment_plan_id: id }, body: { email: values['email'] ?? '' } };
  await view.act(() => view.api(subscribers.create, input), texts.subscribed);
}

export default page<Data>({ title: (_view, data) => data?.plan.planName ?? texts.plan, load, render });
