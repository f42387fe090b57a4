/** Payers' data as a server without a data key keeps it. */
import { createPersonalData } from '../../src/core/db/personal-data.js';
import { noDataKeys } from '../../src/core/shared/data-keys.js';

export const plainData = createPersonalData(noDataKeys);
