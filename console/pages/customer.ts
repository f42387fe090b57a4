/**
 * One customer.
 *
 * @place {"order": 110, "parent": "customers", "permission": "customers.retrieve"}
 */
import { html, type TemplateResult } from 'lit';
import { customers } from '../../src/contract/customers.js';
import { time } from '../format.js';
import { common } from '../messages/common.js';
import { texts } from '../messages/customers.js';
import { page, type View } from '../page.js';
import { button } from '../ui/button.js';
import { commands } from '../ui/commands.js';
import { copyable } from '../ui/copy.js';
import { details, section } from '../ui/details.js';
import { customerFields, stateOf, type Customer } from './customer-parts.js';

const load = async ({ api, id, signal }: View): Promise<Customer> =>
  (await api(customers.retrieve, { params: { customer_id: id } }, signal)).data;

function render(one: Customer, view: View): TemplateResult {
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
        ])}
        <div class="actions">
          <a class="button" href=${view.link('payments', undefined, { q: email })}>${texts.payments}</a>
          ${
            view.can('subscribers.list')
              ? html`<a class="button" href=${view.link('subscribers', undefined, { customer: email })}
                  >${texts.subscriptions}</a
                >`
              : ''
          }
        </div>`,
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
    ${section(common.commandLine, commands(view, [[texts.erase, `customers erase ${email} --merchant ${view.session.merchant.id}`]]))}
  </div>`;
}

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

async function block(one: Customer, view: View): Promise<void> {
  const { blockText: text, blockAction: action } = texts;
  const isSure = await view.ask({ title: texts.blockTitle(one.email), text, action, isFinal: true });
  if (isSure) await update(one, { isBlacklisted: true }, view);
}

export default page<Customer>({ title: (_view, data) => data?.email ?? texts.customer, load, render });
