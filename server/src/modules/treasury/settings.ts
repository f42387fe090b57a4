/** The environment variables of the key that pays gas for scheduled sweeps. */
import { path, settingsOf, type Config, type Variables } from '../../core/config.js';
import { StartError } from '../../core/shared/start-error.js';

export const treasurySettings = {
  GAS_KEY_FILE: path(
    'Encrypted keystore (V3) of the key that pays gas for scheduled sweeps; see docs/treasury.md',
  ),
  GAS_KEY_PASSWORD_FILE: path('File with the password of GAS_KEY_FILE'),
} satisfies Variables;

export interface GasKeyFiles {
  readonly file: string;
  readonly passwordFile: string;
}

/** Undefined if no sweeps are scheduled. @throws StartError */
export function gasKeyOf(config: Pick<Config, 'ofModules'>): GasKeyFiles | undefined {
  const { GAS_KEY_FILE: file, GAS_KEY_PASSWORD_FILE: passwordFile } = settingsOf(config, treasurySettings);
  if (file === undefined && passwordFile === undefined) return undefined;
  if (file !== undefined && passwordFile !== undefined) return { file, passwordFile };
  throw new StartError('GAS_KEY_FILE, GAS_KEY_PASSWORD_FILE: set both or none');
}
