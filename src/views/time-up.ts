/** Time is up: nothing that could still be paid stays on the screen, while the last check runs. */
import { html } from 'lit';
import type { TrackedState } from '../checkout/state.js';
import { badge } from './badge.js';
import { checkLine } from './check-line.js';
import { countdown } from './countdown.js';
import { timeLog } from './time-log.js';
import type { View, ViewContext } from './view.js';
import { wrongAssets } from './wrong-assets.js';

export function timeUpView(state: TrackedState, context: ViewContext): View {
  const { text } = context;
  return {
    heading: text('timeUpHeading'),
    sentence: text('timeUp'),
    time: countdown(context),
    content: html`${wrongAssets(state, context)} ${checkLine(context)}`,
    more: html`${timeLog(state, context)}`,
    badge: badge('waiting'),
  };
}
