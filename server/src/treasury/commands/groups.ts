/** The commands of the treasury, in the order of the help. */
import type { Group } from '../../commands/command.js';
import { sweepCommands } from './sweeps.js';
import { transferExportCommands } from './transfer-export.js';

export const treasuryCommands: readonly Group[] = [transferExportCommands, sweepCommands];
