/** Checks a transfer request against currencies, networks and saved addresses: where it goes, and what it costs. */
import { toUnits, type CoreApi, type Input } from 'crypto-checkout/contract';
import { describeInvalid, parseAddress } from '../addresses/formats.js';
import { parseAmount, requireCurrency } from '../money/amounts.js';
import { replyDecimals } from '../money/units.js';
import { invalidField, Problem } from '../shared/problem.js';
import type { Scope } from '../shared/scope.js';
import type { SavedAddress } from '../wallet-addresses/wallet-addresses.js';
import type { Reader } from '../db/engine.js';
import type { WithdrawalsDeps } from './deps.js';

export type TransferRequest = Input<CoreApi['transfers']['create']>['body'];

export type Destination = Awaited<ReturnType<typeof resolveDestination>>;

/** Problems: `unsupported_currency`, `validation_error`, `invalid_address`. */
export async function resolveDestination(
  { currencies, walletAddresses }: WithdrawalsDeps,
  reader: Reader,
  scope: Scope,
  request: TransferRequest,
) {
  const currency = requireCurrency(currencies, request.currency, 'currency');
  if (!currencies.networks(scope.mode).some(({ assets }) => assets[currency.code])) {
    throw new Problem(
      'unsupported_currency',
      `${currency.code} cannot be sent: no network in ${scope.mode} mode supports it`,
      { param: 'currency' },
    );
  }
  const amount = parseAmount(request.amount, currency, 'amount', replyDecimals(currency));
  const saved = isId(request.walletAddress)
    ? await walletAddresses.find(reader, scope, request.walletAddress)
    : undefined;
  if (saved && saved.currency !== currency.code) {
    throw invalidAddress(`The saved address is for ${saved.currency}, not for ${currency.code}`);
  }
  const code = networkCode(request, saved);
  const network = currencies.network(scope.mode, code);
  if (!network?.assets[currency.code]) {
    throw new Problem(
      'unsupported_currency',
      `${currency.code} cannot be sent on the network "${code}"; see GET /v1/currencies`,
      { param: 'walletNetwork' },
    );
  }
  const address = parseAddress(network, saved?.address ?? request.walletAddress);
  if (address === undefined) {
    throw invalidAddress(
      describeInvalid(
        saved?.address ?? request.walletAddress,
        `This is neither a valid address on ${network.name} nor the id of a saved wallet address`,
      ),
    );
  }
  const to = { address, currency: currency.code, network: network.code };
  const same = saved ?? (await walletAddresses.findByAddress(reader, scope, to));
  const withdrawalFee = network.assets[currency.code]?.withdrawalFee ?? '0';
  return {
    currency,
    network,
    /** In the network's canonical form. */
    address,
    /** The id of the saved address, whether the request named its id or the address itself; null if it is not saved. */
    savedId: same?.id ?? null,
    /** When it was saved, by the mode's clock; null if it is not saved. */
    savedAt: same?.created_at ?? null,
    amount,
    fee: toUnits(withdrawalFee, currency.decimals),
  };
}

/** Never guesses: EVM networks share their addresses, and money sent on the wrong one can be lost. */
function networkCode({ walletNetwork }: TransferRequest, saved: SavedAddress | undefined): string {
  const code = walletNetwork || saved?.network;
  if (!code)
    throw invalidField('walletNetwork', 'Is required: the address does not say which network to use');
  if (saved?.network && saved.network.toLowerCase() !== code.toLowerCase()) {
    throw invalidField('walletNetwork', `Must be ${saved.network}, the network of the saved address`);
  }
  return code;
}

function isId(text: string): boolean {
  return /^[0-9A-HJKMNP-TV-Z]{26}$/.test(text);
}

function invalidAddress(message: string): Problem {
  return new Problem('invalid_address', message, { param: 'walletAddress' });
}
