/** The URLs of a network's nodes: fills in what the environment keeps for them. They hold credentials and are never shown. */

const variable = /\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;

type Environment = Readonly<Record<string, string | undefined>>;

/** The names in `{env:NAME}` that the environment does not have. */
export function missingVariables(text: string, environment: Environment): string[] {
  return [...text.matchAll(variable)].map(([, name = '']) => name).filter((name) => !environment[name]);
}

/** Replaces each `{env:NAME}`. */
export function fillVariables(text: string, environment: Environment): string {
  return text.replace(variable, (_, name: string) => environment[name] ?? '');
}

export function isNodeUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
