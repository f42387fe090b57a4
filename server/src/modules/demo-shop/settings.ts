/** The environment variables of the module. */
import { onOff, type Variables } from '../../core/config.js';

export const demoSettings = {
  DEMO: onOff('The demo shop at / (default: as SANDBOX, which it needs)'),
} satisfies Variables;
