/** Explains what is wrong with the URL of a PostgreSQL, or with a connection that it describes. No message contains the URL, which has a password. */
import { accessSync, constants } from 'node:fs';
import { errorMessage } from '../shared/error-message.js';
import { isPostgresError } from './errors.js';

/** Everything before the last @ of the first part is the user and the password. */
const form = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^@/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;

const encode =
  'a user or a password with # / ? or @ must be percent-encoded in it: %23 for #, %2F for /, %3F for ?, %40 for @';
const oneHost =
  'it can name one host only. Give it a name that follows the primary, or the address of a pooler or proxy that does: after a failover, the server connects again to where the name leads';
const files = ['sslrootcert', 'sslcert', 'sslkey'] as const;

/** @throws Error that says what to change */
export function checkPostgresUrl(url: string): void {
  const [, host, name = '', query] = form.exec(url) ?? [];
  if (host === undefined || name.includes('@')) throw new Error(encode);
  const parameters = new URLSearchParams(query);
  if (host.includes(',') || parameters.get('host')?.includes(',')) throw new Error(oneHost);
  if (!URL.canParse(url.replace(/@(?=[/?]|$)/, '@localhost'))) {
    throw new Error(`its host or its port cannot be read. Also, ${encode}`);
  }
  if (name === '')
    throw new Error('it names no database. Add the name: postgres://USER:PASSWORD@HOST:PORT/NAME');
  for (const parameter of files) checkFile(parameter, parameters.get(parameter));
}

function checkFile(parameter: (typeof files)[number], path: string | null): void {
  if (path === null) return;
  if (path === 'system') {
    throw new Error(
      `leave ${parameter}=system out: without it, the authorities that Node.js trusts are used`,
    );
  }
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new Error(
      `its ${parameter} must be the path of a PEM file that the server can read: ${errorMessage(error)}`,
      {
        cause: error,
      },
    );
  }
}

const unknownAuthority = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** @returns advice on a connection that failed; undefined if its error says it all */
export function adviceFor(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  if (unknownAuthority.has(code)) {
    return 'Add sslmode=verify-full&sslrootcert=FILE to DATABASE_URL, with the certificate of the authority that signed that of PostgreSQL';
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'DATABASE_URL must have a host name that the certificate has';
  if (error.message.includes('does not support SSL')) {
    return 'Turn on ssl in PostgreSQL, or leave sslmode out of DATABASE_URL if nobody can listen in between';
  }
  if (/no encryption|SSL off/.test(error.message)) {
    return 'PostgreSQL wants TLS: add sslmode=verify-full to DATABASE_URL, and sslrootcert=FILE for an authority of your own';
  }
  const isPassword =
    (isPostgresError(error) && code === '28P01') || error.message.includes('client password must be');
  if (isPassword) return `In DATABASE_URL, ${encode}`;
  return adviceFor(error.cause);
}
