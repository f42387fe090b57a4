/**
 * The fields of a payment that a public key may read. Anyone can have the key and the link, so they must not reveal
 * who pays.
 */
import type { PaymentRecord } from 'crypto-checkout/contract';

/** Abbreviates the payer's email and name, and leaves out the phone number, the metadata and the merchant's credits. */
export function publicView(record: PaymentRecord, isDeposit: boolean): PaymentRecord {
  const { credited: _credited, metadata: _metadata, linkId: _linkId, ...payment } = record;
  const { email, fullName } = record.customerDetails ?? {};
  const shortEmail = email === undefined ? undefined : abbreviateEmail(email);
  const shortName = fullName === undefined ? undefined : initials(fullName);
  return {
    ...payment,
    ...(payment.refunds && { refunds: payment.refunds.map(({ id: _id, ...refund }) => refund) }),
    // The stored description names the payer, or the merchant's wallet.
    description: isDeposit ? 'Deposit to a wallet' : `Payment from ${shortName ?? shortEmail ?? 'anonymous'}`,
    customer: shortEmail ?? 'anonymous',
    customerDetails: {
      ...(shortEmail !== undefined && { email: shortEmail }),
      ...(shortName !== undefined && { fullName: shortName }),
    },
  };
}

/** "ada@example.com" → "a…@example.com". */
function abbreviateEmail(email: string): string {
  return `${firstCharacter(email)}…${email.slice(email.lastIndexOf('@'))}`;
}

/** "Ada Example" → "A. E." */
function initials(name: string): string {
  return name
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part) => `${firstCharacter(part)}.`)
    .join(' ');
}

/** The first character, even if it takes two UTF-16 code units. */
function firstCharacter(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) ?? 0);
}
