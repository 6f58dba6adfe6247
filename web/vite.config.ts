// How the web desktop is built and, in development, served in front of a running gateway.
//
//   ACCORD_URL=http://127.0.0.1:17878 ACCORD_TOKEN_FILE=<home>/token npm run dev

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin, type ProxyOptions } from "vite";

const gateway = process.env.ACCORD_URL ?? "http://127.0.0.1:17878";
const tokenFile = process.env.ACCORD_TOKEN_FILE;

/** In production the session of the browser speaks for the page; in development this proxy does. */
const authorised: ProxyOptions = {
  target: gateway,
  headers: tokenFile ? { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` } : {},
};

/** Lays a packed copy beside each file, so that the gateway need not pack them. */
const packed: Plugin = {
  name: "packed",
  apply: "build",
  enforce: "post",
  writeBundle({ dir = "dist" }, files) {
    for (const name of Object.keys(files)) {
      const file = join(dir, name);
      if (/\.(js|css|html)$/.test(name)) writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
    }
  },
};

export default defineConfig({
  plugins: [react(), packed],
  resolve: {
    alias: { "@accord/client": fileURLToPath(new URL("../clients/typescript/src/index.ts", import.meta.url)) },
  },
  build: {
    target: "es2022",
    // Everything is a file of its own, as the Content-Security-Policy of the gateway allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { "/ws": { ...authorised, ws: true }, "/artifacts": authorised, "/uploads": authorised },
  },
});
