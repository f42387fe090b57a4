/** The console's script: the page has `<checkout-console base="/console" api-url="" command-line="…">`. */
import './console.css';
import { CheckoutConsole } from './shell.js';

customElements.define('checkout-console', CheckoutConsole);
