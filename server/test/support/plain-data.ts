/** Payers' data as a server without a data key keeps it. */
import { createPersonalData } from '../../src/db/personal-data.js';
import { noDataKeys } from '../../src/shared/data-keys.js';

export const plainData = createPersonalData(noDataKeys);
