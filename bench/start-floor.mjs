/** Starts a floor in its own process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} Floor
 * @property {string} url
 * @property {number | undefined} pid
 * @property {() => Promise<void>} stop
 */

/**
 * @param {import('./floor.mjs').FloorTask | import('./replay.mjs').ReplayTask} task
 * @param {object} [options]
 * @param {string} [options.script] next to this file
 * @param {readonly string[]} [options.flags] of Node.js
 * @param {NodeJS.ProcessEnv} [options.env] additional environment variables
 * @returns {Promise<Floor>} resolves when it listens
 */
export async function startFloor(task, { script = 'floor.mjs', flags = [], env = {} } = {}) {
  const child = fork(fileURLToPath(new URL(script, import.meta.url)), {
    execArgv: [...flags],
    env: { ...process.env, NODE_ENV: 'production', ...env },
  });
  const exited = once(child, 'exit');
  child.send(task);
  const [message] = await Promise.race([
    once(child, 'message'),
    exited.then(([code]) => {
      throw new Error(`The floor exited with code ${code}`);
    }),
  ]);
  return {
    url: `http://127.0.0.1:${message.port}`,
    pid: child.pid,
    stop: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
