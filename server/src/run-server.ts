/** Runs the server with the arguments of the process. The bundle of the server begins here. */
import { main } from './start.js';

const words = process.argv.slice(2);
await main(words[0] === 'start' ? words.slice(1) : words);
