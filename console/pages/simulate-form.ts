/** Playing the payer of a test payment: nobody has to copy its address and its amount into a command. */
import type { PaymentRecord } from '../../src/contract/payment-record.js';
import { sandbox } from '../../src/contract/sandbox.js';
import { texts } from '../messages/payments.js';
import type { View } from '../page.js';

export async function simulate(payment: PaymentRecord, view: View): Promise<void> {
  const { addressInformation, currency = '', currencyNetwork = '', amount, amountDue } = payment;
  if (!addressInformation) return;
  const missing = amountDue === undefined || amountDue === 0 ? (amount ?? '') : amountDue;
  const values = await view.ask({
    title: texts.simulateTitle,
    text: texts.simulateText,
    fields: [
      {
        name: 'amount',
        label: `${texts.simulateAmount} (${currency})`,
        type: 'number',
        isRequired: true,
        value: String(missing),
        hint: texts.simulateHint,
      },
    ],
    action: texts.simulateAction,
  });
  if (!values) return;
  const { address } = addressInformation;
  const body = { network: currencyNetwork, currency, address, amount: values['amount'] ?? '' };
  await view.act(() => view.api(sandbox.transfer, { body }), texts.simulated);
}
