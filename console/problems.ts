/** Failed calls, in words. */
import { html } from 'lit';
import { CallFailure } from './api.js';
import { shellTexts as texts } from './messages/common.js';
import type { Dialog } from './ui/dialog.js';

export const isSignedOut = (error: unknown) =>
  error instanceof CallFailure && error.code === 'session_required';

export function problemOf(error: unknown): {
  readonly text: string;
  readonly requestId?: string | undefined;
} {
  if (!(error instanceof CallFailure)) return { text: String(error) };
  return { text: messageOf(error), requestId: error.requestId };
}

export function messageOf(error: unknown): string {
  if (!(error instanceof CallFailure)) return String(error);
  const { problems } = texts;
  if (error.code === 'rate_limited') return problems.rate_limited(error.waitSeconds ?? 1);
  if (error.code === 'offline' || error.code === 'not_found' || error.code === 'unexpected')
    return problems[error.code];
  return error.message;
}

export const failureDialog = (error: unknown): Dialog => {
  const { text, requestId } = problemOf(error);
  return {
    title: text,
    text: requestId ? html`<p><small>${texts.requestId(requestId)}</small></p>` : undefined,
  };
};
