/** The signing secrets of a webhook endpoint, as its row keeps them: encrypted, if there is a data key. */
import { sealedJson } from '../db/personal-data.js';
import type { WebhookEndpointTable } from '../db/schema.js';
import type { DataKeys } from '../shared/data-keys.js';
import type { Scope } from '../shared/scope.js';

export type PreviousSecret = EndpointSecrets['previous'][number];

export interface EndpointSecrets {
  readonly secret: string;
  /** Newest first. */
  readonly previous: ReturnType<typeof sealedJson.previousSecrets.read>;
}

export function readSecrets(dataKeys: DataKeys, row: WebhookEndpointTable): EndpointSecrets {
  const place = placeOf({ merchantId: row.merchant_id, mode: row.mode });
  return {
    secret: dataKeys.open(row.secret, place.secret),
    previous: sealedJson.previousSecrets.read(dataKeys.open(row.former_secrets, place.previous)),
  };
}

export function secretColumns(
  dataKeys: DataKeys,
  scope: Scope,
  { secret, previous }: EndpointSecrets,
): Pick<WebhookEndpointTable, 'secret' | 'former_secrets'> {
  const place = placeOf(scope);
  return {
    secret: dataKeys.seal(secret, place.secret),
    former_secrets: dataKeys.seal(sealedJson.previousSecrets.write(previous), place.previous),
  };
}

/** The secrets to sign with now, newest first. */
export function signingSecrets(dataKeys: DataKeys, row: WebhookEndpointTable, now: number): string[] {
  const { secret, previous } = readSecrets(dataKeys, row);
  return [secret, ...previous.filter(({ until }) => until > now).map((one) => one.secret)];
}

/** The secret of one merchant, put into another's row, would sign for both. */
function placeOf({ merchantId, mode }: Scope) {
  const row = `${merchantId}/${mode}`;
  return {
    secret: `webhook_endpoints.secret of ${row}`,
    previous: `webhook_endpoints.former_secrets of ${row}`,
  };
}
