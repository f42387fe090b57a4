/** The environment variables of the module. */
import { onUnlessOff } from '../../core/config.js';

export const consoleSettings = {
  CONSOLE: onUnlessOff("The console at /console, for the merchant's people"),
};
