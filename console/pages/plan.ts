/**
 * One payment plan.
 *
 * @place {"order": 130, "parent": "plans", "permission": "paymentPlans.retrieve"}
 */
import { html, type TemplateResult } from 'lit';
import type { ParsedData } from '../../src/contract/endpoint.js';
import { paymentPlans } from '../../src/contract/payment-plans.js';
import { subscribers } from '../../src/contract/subscribers.js';
import { amount } from '../format.js';
import { texts } from '../messages/customers.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { details, section, tag } from '../ui/details.js';

type Plan = ParsedData<typeof paymentPlans.retrieve>;

const load = async ({ api, id, signal }: View): Promise<Plan> =>
  (await api(paymentPlans.retrieve, { params: { payment_plan_id: id } }, signal)).data;

function render(one: Plan, view: View): TemplateResult {
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
        ])}
        <div class="actions">
          ${button(view, {
            ...{ text: texts.subscribe, permission: 'subscribers.create' },
            run: () => subscribe(one, view),
          })}
        </div>`,
      html`${button(view, { text: texts.changePlan, permission, run: () => change(one, view) })}
      ${
        isActive
          ? button(view, { text: texts.turnOff, permission, run: () => turnOff(one, view) })
          : button(view, { text: texts.turnOn, permission, run: () => update(one, { isActive: true }, view) })
      }`,
    )}
  </div>`;
}

const update = ({ id }: Plan, body: { amount?: string; isActive?: boolean }, view: View) =>
  view.act(() => view.api(paymentPlans.update, { params: { payment_plan_id: id }, body }), texts.saved);

async function change(one: Plan, view: View): Promise<void> {
  const values = await view.ask({
    title: texts.changePlan,
    text: texts.changePlanText,
    fields: [
      {
        ...{ name: 'amount', label: `${texts.amount} (${one.currency})`, type: 'number', isRequired: true },
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

export default page<Plan>({ title: (_view, data) => data?.planName ?? texts.plan, load, render });
