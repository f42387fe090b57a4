/** Crypto payments of an order, newest first, as a block of its page shows them. */
import type { ReactElement } from 'react';

/** As the Admin API describes it: `CryptoOrderPayment`. */
export interface ShownPayment {
  readonly paymentId: string;
  readonly payment: string;
  readonly refunds: string;
  readonly console: string;
}

/** Only a link to a page: the address of the server is what somebody has typed. */
const isPage = (text: string) => /^https?:\/\//.test(text);

export function CryptoPayments({ payments }: { readonly payments: readonly ShownPayment[] }): ReactElement {
  return (
    <div className="flex flex-col gap-4 text-sm">
      {payments.map(({ paymentId, payment, refunds, console: page }) => (
        <div key={paymentId} className="flex flex-col gap-2 break-words">
          <p>{payment}</p>
          {refunds === '' ? null : <p>Refunds: {refunds}</p>}
          {isPage(page) ? (
            <a className="underline" href={page} target="_blank" rel="noreferrer">
              Open it in the console
            </a>
          ) : null}
        </div>
      ))}
    </div>
  );
}
