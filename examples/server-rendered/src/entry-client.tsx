import { StrictMode } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { App, type AppProps } from './App';

const root = document.getElementById('app');
if (root) {
  const props = JSON.parse(root.dataset['props'] ?? '') as AppProps;
  hydrateRoot(
    root,
    <StrictMode>
      <App {...props} />
    </StrictMode>,
  );
}
