/** The part of `@vendure/dashboard` that the extension uses. It is not installed here: it needs 660 more packages. */
declare module '@vendure/dashboard' {
  import type { FunctionComponent } from 'react';

  export interface PageContextValue {
    readonly entity?: { readonly id: string; readonly state: string; readonly payments?: unknown };
  }

  export const api: {
    query<Reply>(document: string, variables: Readonly<Record<string, unknown>>): Promise<Reply>;
  };

  interface PageBlock {
    readonly id: string;
    readonly title: string;
    readonly location: {
      readonly pageId: string;
      readonly column: 'main' | 'side' | 'full';
      readonly position: { readonly blockId: string; readonly order: 'before' | 'after' | 'replace' };
    };
    readonly shouldRender: (context: PageContextValue) => boolean;
    readonly component: FunctionComponent<{ context: PageContextValue }>;
  }

  export function defineDashboardExtension(extension: { readonly pageBlocks: readonly PageBlock[] }): void;
}
