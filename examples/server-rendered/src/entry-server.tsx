import { StrictMode } from 'react';
import { renderToString } from 'react-dom/server';
import { App, type AppProps } from './App';

export function render(props: AppProps): string {
  return renderToString(
    <StrictMode>
      <App {...props} />
    </StrictMode>,
  );
}
