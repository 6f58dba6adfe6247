// The build of the web desktop, and its development server in front of a running gateway.
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

/** Authenticates requests of the development server. In production the session of the browser does. */
const authorised: ProxyOptions = {
  target: gateway,
  headers: tokenFile ? { authorization: `Bearer ${readFileSync(tokenFile, "utf8").trim()}` } : {},
};

/** Writes a gzip copy beside each file, so that the gateway does not have to compress them. */
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

/**
 * Declares the order of the cascade layers at the start of every style sheet; a later layer wins. The build splits styles
 * by chunk and loads those of shared chunks before those of the entry, so one declaration in one file would come too late.
 */
const layerOrder: Plugin = {
  name: "layer-order",
  enforce: "pre",
  transform(code, id) {
    if (/\/src\/.*\.css$/.test(id)) return { code: `@layer base, parts, app, views;\n${code}`, map: null };
  },
};

export default defineConfig({
  plugins: [react(), layerOrder, packed],
  resolve: {
    alias: { "@accord/client": fileURLToPath(new URL("../clients/typescript/src/index.ts", import.meta.url)) },
  },
  build: {
    target: "es2022",
    // No inlining: the Content-Security-Policy of the gateway forbids inline code and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { "/ws": { ...authorised, ws: true }, "/artifacts": authorised, "/uploads": authorised },
  },
});
