/** `sweeps new-key`: makes the key that pays the gas of sweeps. */
import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { errorMessage } from '../../shared/error-message.js';
import { createKeystore } from '../key-file.js';
import { required, text, UsageError, type StandaloneCommand } from '../../commands/command.js';

export const gasKeyCommands: Readonly<Record<string, StandaloneCommand>> = {
  'sweeps new-key': {
    usage: 'sweeps new-key --file FILE --password-file FILE',
    help: `Makes a gas key, and writes it encrypted (keystore V3). Send its address some of the network's own coin, and set
GAS_KEY_FILE and GAS_KEY_PASSWORD_FILE. Whoever steals it gains the gas in it and nothing else.

  --file FILE           where to write the keystore; it must not exist yet
  --password-file FILE  a file with the password that encrypts it. If there is none, it gets a random one`,
    options: { file: text, 'password-file': text },
    positionals: [],
    async runAlone(options) {
      const file = required(options, 'file');
      const passwordFile = required(options, 'password-file');
      const given = await readPassword(passwordFile);
      const password = given ?? randomBytes(24).toString('base64url');
      if (password.length < 12)
        throw new UsageError('--password-file: the password needs at least 12 characters');
      const { keystore, address } = await createKeystore(password);
      await writeNew('file', file, keystore);
      if (given === undefined) {
        // A keystore that nothing opens would take the name of a good one.
        await writeNew('password-file', passwordFile, password).catch(async (error: unknown) => {
          await rm(file);
          throw error;
        });
      }
      const made = given === undefined ? `, and its password in ${passwordFile}` : '';
      return { json: { address, file }, text: `The gas key ${address} is in ${file}${made}` };
    },
  },
};

/** @returns undefined if there is no such file */
async function readPassword(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`--password-file: it cannot be read: ${errorMessage(error)}`, { cause: error });
  }
}

async function writeNew(option: string, file: string, content: string): Promise<void> {
  try {
    await writeFile(file, `${content}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    throw new UsageError(`--${option}: it cannot be written: ${errorMessage(error)}`, { cause: error });
  }
}
