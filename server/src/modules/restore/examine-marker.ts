/** The part of `doctor` about the marker: a lost one is noticed only at the restore that needed it. */
import { access, constants } from 'node:fs/promises';
import type { Core } from '../../core/core.js';
import type { Finding } from '../../core/hooks.js';
import { errorMessage } from '../../core/shared/error-message.js';

/** @param directory MARKER_DIRECTORY */
export async function examineMarker(
  directory: string | undefined,
  { connected, database }: Pick<Core, 'connected' | 'database'>,
): Promise<Finding[]> {
  if (!connected.some(({ network }) => network.mode === 'live')) return [];
  const found = (kind: Finding['kind'], text: string) => [{ section: 'marker', kind, text }];
  if (directory === undefined) {
    return found(
      'warning',
      database.engine === 'sqlite'
        ? 'MARKER_DIRECTORY is not set: a restore of the whole disk is not noticed. Set it to another disk'
        : 'MARKER_DIRECTORY is not set: the marker is in the folder "data". Set it to a disk that stays',
    );
  }
  try {
    await access(directory, constants.W_OK);
    return found('ok', `The marker is in ${directory}`);
  } catch (error) {
    return found('problem', `MARKER_DIRECTORY cannot be written: ${errorMessage(error)}`);
  }
}
