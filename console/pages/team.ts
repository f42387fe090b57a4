/**
 * The shop's team, and where it is signed in.
 *
 * @place {"order": 194, "label": "Team", "parent": "settings", "permission": "team.list"}
 */
import { html, nothing, type TemplateResult } from 'lit';
import { peopleApi } from '../../src/contract/console-people.js';
import { texts } from '../messages/settings.js';
import { guarded, page, type View } from '../page.js';
import { teamSessionSection, type TeamSession } from './session-parts.js';
import { invite, teamSection, type Member } from './team-parts.js';

interface Data {
  readonly team: readonly Member[];
  /** Undefined for roles that may not see them. */
  readonly sessions: readonly TeamSession[] | undefined;
}

async function load({ api, signal, can }: View): Promise<Data> {
  const [team, sessions] = await Promise.all([
    api(peopleApi.team.list, {}, signal),
    can('teamSessions.list') ? api(peopleApi.teamSessions.list, {}, signal) : undefined,
  ]);
  return { team: team.data, sessions: sessions?.data };
}

const render = ({ team, sessions }: Data, view: View): TemplateResult =>
  html`<div class="panels">
    ${teamSection(team, view)} ${sessions ? teamSessionSection(sessions, view) : nothing}
  </div>`;

export default page<Data>({
  title: () => texts.team,
  load,
  render,
  actions: { create: guarded(invite) },
  everyMs: 15_000,
});
