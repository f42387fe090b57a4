/** Nigerian account numbers: the NUBAN, ten digits of which the last checks the others. */

/**
 * Whether the check digit is right.
 * Central Bank of Nigeria, Revised Standards on NUBAN for Banks and Other Financial Institutions (2020), 3.1: the
 * institution's code in six digits and the nine of the serial number, weighted 3, 7, 3 over and over.
 * @param accountNumber ten digits
 * @param institution the Central Bank's code: three digits of a deposit money bank, five of another institution
 */
export function hasNubanCheckDigit(accountNumber: string, institution: string): boolean {
  const code = institution.length === 3 ? `000${institution}` : `9${institution}`;
  const sum = [...(code + accountNumber.slice(0, 9))].reduce(
    (total, digit, position) => total + Number(digit) * (position % 3 === 1 ? 7 : 3),
    0,
  );
  return accountNumber.endsWith(String((10 - (sum % 10)) % 10));
}
