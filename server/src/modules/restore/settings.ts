/** The environment variables of the module. */
import { path, type Variables } from '../../core/config.js';

export const restoreSettings = {
  MARKER_DIRECTORY: path(
    'Folder of a small file by which the server notices that the database was restored from an older backup (default: that of the SQLite file, or ./data). Keep it out of the backup',
  ),
} satisfies Variables;
