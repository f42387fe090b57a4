/** The check digit of Nigerian account numbers (NUBAN): the last of their ten digits. */

/**
 * True if the check digit is right. Central Bank of Nigeria, Revised Standards on NUBAN for Banks and Other Financial
 * Institutions (2020), 3.1: a sum of the institution's code, as six digits, and the nine-digit serial number, with
 * the repeating weights 3, 7, 3.
 * @param accountNumber ten digits
 * @param institution the Central Bank's code: three digits for a deposit money bank, five for any other institution
 */
export function hasNubanCheckDigit(accountNumber: string, institution: string): boolean {
  const code = institution.length === 3 ? `000${institution}` : `9${institution}`;
  const sum = [...(code + accountNumber.slice(0, 9))].reduce(
    (total, digit, position) => total + Number(digit) * (position % 3 === 1 ? 7 : 3),
    0,
  );
  return accountNumber.endsWith(String((10 - (sum % 10)) % 10));
}
