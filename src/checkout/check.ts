/** The result of pressing "Check now". */
import type { Payment } from '../contract/checkout.js';

export type CheckResult = 'checkFailed' | 'nothingNew' | 'nothingSeen';

/** Asks the server. @returns undefined if the payment has changed: its own sentence says so */
export async function resultOfCheck(
  shown: { readonly status: string; readonly payment: Payment | undefined },
  controller: { refresh(): Promise<boolean> },
): Promise<CheckResult | undefined> {
  const { status } = shown;
  const seenBefore = shown.payment?.amountSeen;
  const isAnswered = await controller.refresh();
  if (status !== shown.status || seenBefore !== shown.payment?.amountSeen) return undefined;
  if (!isAnswered) return 'checkFailed';
  return seenBefore ? 'nothingNew' : 'nothingSeen';
}
