import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Gateway } from "./gateway.mjs";

test("the example of the README runs", async () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const example = /^```js\n(.*?)^```$/ms.exec(readme)[1];
  // Inside the package, so that the import of its name resolves.
  const script = new URL("../dist/readme-example.mjs", import.meta.url);
  writeFileSync(script, example);
  const gateway = await new Gateway().start();
  try {
    const env = { ...process.env, ACCORD_URL: gateway.url, ACCORD_TOKEN: gateway.token };
    const args = ["--experimental-websocket", "--no-warnings", fileURLToPath(script)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    assert.match(stdout, /the tree changed: /);
    assert.match(stdout, /^done 5 of 5$/m);
    assert.match(stdout, /^Hello$/m);
    assert.doesNotMatch(stdout, /missed/);
  } finally {
    await gateway.stop();
  }
});
