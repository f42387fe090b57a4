/** `sweeps new-key`: makes the key that pays the gas of sweeps. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createKeystore } from '../key-file.js';
import { command } from '../../commands/command.js';
import { UsageError } from '../../commands/errors.js';
import { isMissing, readGivenFile, writeNewFile } from '../../commands/files.js';
import * as option from '../../commands/options.js';

export const newGasKey = command({
  name: 'new-key',
  summary: 'Makes a gas key, and writes it encrypted (keystore V3).',
  details:
    "Send its address some of the network's own coin, and set GAS_KEY_FILE and GAS_KEY_PASSWORD_FILE. Whoever steals it gains the gas in it and nothing else.",
  options: {
    file: option.newFile('where to write the keystore').required(),
    passwordFile: option
      .file('a file with the password that encrypts it. If there is none, it gets a random one')
      .required(),
  },
  async runAlone({ file, passwordFile }) {
    const given = (await isMissing(passwordFile)) ? undefined : await readGivenFile(passwordFile);
    const password = given?.toString('utf8').replace(/\r?\n$/, '') ?? randomBytes(24).toString('base64url');
    if (password.length < 12) {
      throw new UsageError('--password-file: the password needs at least 12 characters');
    }
    const { keystore, address } = await createKeystore(password);
    await writeNewFile(file, (created) => created.writeFile(`${keystore}\n`));
    if (!given) {
      // A keystore that nothing opens would take the name of a good one.
      await writeNewFile(passwordFile, (created) => created.writeFile(`${password}\n`)).catch(
        async (error: unknown) => {
          await rm(file);
          throw error;
        },
      );
    }
    const made = given ? '' : `, and its password in ${passwordFile}`;
    return { json: { address, file }, text: `The gas key ${address} is in ${file}${made}` };
  },
});
