/** Opens wallet apps by links. A browser does not report that no app takes a link. */

/** An app that opens takes the focus sooner. */
const patienceMs = 2_000;

/** True in the browser of an app such as Instagram or Telegram, which hands no links to other apps. */
function isInsideApp(): boolean {
  const { userAgent } = window.navigator;
  const isIosApp = /iPhone|iPad/.test(userAgent) && !userAgent.includes('Safari/');
  return (
    isIosApp || /; wv\)|Instagram|FBA[NV]|Telegram|Line\//.test(userAgent) || 'TelegramWebviewProxy' in window
  );
}

/** @param onNone called if no app has opened */
export function openWallet(link: string, onNone: () => void): void {
  // Many of these show an error in place of the page (rainbow-me/rainbowkit#2241), and the payment would be gone.
  if (isInsideApp()) return onNone();
  const waiting = new AbortController();
  const timer = setTimeout(() => {
    waiting.abort();
    if (!document.hidden) onNone();
  }, patienceMs);
  const stop = () => {
    clearTimeout(timer);
    waiting.abort();
  };
  for (const type of ['blur', 'pagehide', 'visibilitychange'])
    addEventListener(type, stop, { capture: true, signal: waiting.signal });
  location.assign(link);
}
