/** `data-key …`: the key that encrypts webhook secrets and payers' data in the database. */
import { forgetOtherDataKeys } from '../db/used-data-keys.js';
import { rotatePersonalData } from '../erasure/rotate-data-key.js';
import { command, type Group } from './command.js';
import { UsageError } from './errors.js';
import { counted } from './records.js';

export const dataKeyCommands: Group = {
  name: 'data-key',
  summary: "The key that encrypts webhook secrets and payers' data in the database.",
  commands: {
    rotate: command({
      summary: "Encrypts all webhook secrets and payers' data with the first key in DATA_KEY_FILE.",
      details:
        'Also those that were stored before there was a key. The servers run meanwhile, and all of them need both keys in the file until it is done: docs/operations.md says in which order. If the command is interrupted, run it again: it continues where it stopped.',
      async run({ database, endpoints, dataKeys, personalData, progress }) {
        const key = dataKeys.current;
        if (key === undefined)
          throw new UsageError('DATA_KEY_FILE is not set: there is no key to encrypt with');
        const changed = await endpoints.rotateDataKey(database, (done, of) => {
          if (done % 100 === 0) progress(`${done} of ${of} endpoints`);
        });
        const values = await rotatePersonalData(database, personalData, (table, rows) => {
          if (rows % 10_000 === 0) progress(`${rows} rows of ${table}`);
        });
        await forgetOtherDataKeys(database, key);
        const before = `The secrets of ${counted(changed, 'endpoint')} and ${counted(values, 'value')} of payers' data`;
        return {
          json: { key, changed, values },
          text: `All webhook secrets and payers' data are encrypted with the key ${key}. ${before} were not before`,
        };
      },
    }),
  },
};
