// Loads modules of the desktop into a test, without a browser.

import { fileURLToPath } from "node:url";
import { createServer } from "vite";

/** Creates a server that only loads modules. Dependency discovery would continue after the test has closed it. */
export function moduleServer() {
  const root = fileURLToPath(new URL("../", import.meta.url));
  return createServer({
    root,
    logLevel: "silent",
    optimizeDeps: { noDiscovery: true, include: [] },
    server: { middlewareMode: true, ws: false, watch: null },
  });
}
