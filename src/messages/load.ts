/** Loads the texts of a language. English is loaded like any other. */
import type { Messages } from './en.js';

/** @param _locale a BCP 47 tag; undefined for the page's language */
export async function loadTexts(_locale: string | undefined): Promise<Messages> {
  return (await import('./en.js')).en;
}
