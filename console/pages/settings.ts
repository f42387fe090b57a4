/**
 * The entry of the settings in the menu, and the address they all had once: it leads on to the first of them that the role may see.
 *
 * @place {"order": 190, "label": "Settings", "permission": "sessions.list"}
 */
import { html, nothing } from 'lit';
import { texts } from '../messages/settings.js';
import { page, type View } from '../page.js';

/** The filters of the checkout's preview go along. */
function leadOn(view: View): Promise<undefined> {
  const [first] = view.parts('settings');
  if (first) view.replace(view.link(first, undefined, Object.fromEntries(view.query)));
  return Promise.resolve(undefined);
}

export default page<undefined>({
  title: () => texts.title,
  load: leadOn,
  render: () => html`${nothing}`,
  actions: {
    create: (view) => Promise.resolve(view.replace(view.link('team', undefined, { do: 'create' }))),
  },
});
