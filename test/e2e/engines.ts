/** The three engines that every promise of the widget is tried in. */
import { inject } from 'vitest';
import type { Tab } from '../support/webdriver.js';
import { openChromium, openFirefox, openWebkit } from './payer.js';
import type { Stage } from './stage.js';

export interface Engine {
  readonly name: 'Chromium' | 'Firefox' | 'WebKit';
  /** True if this machine does not have it: its tests are skipped, and the run's last lines say so. */
  readonly isMissing: boolean;
  /** @param expectedErrors that the test causes: Chromium reports all others at the test's end */
  open(stage: Stage, expectedErrors?: RegExp): Promise<Tab>;
}

export const engines: readonly Engine[] = [
  { name: 'Chromium', isMissing: false, open: openChromium },
  { name: 'Firefox', isMissing: inject('firefoxPath') === undefined, open: () => openFirefox() },
  { name: 'WebKit', isMissing: inject('webkitPrograms') === undefined, open: () => openWebkit() },
];
