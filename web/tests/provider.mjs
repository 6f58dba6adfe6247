// An OpenAI-compatible, streaming model service with configurable answers.

import { createServer } from "node:http";

/** Streams the answer word by word. Pauses at the word `⏸` until `release` is called. Fails if the question contains `fail`. */
export async function openProvider() {
  let release = () => {};
  const server = createServer(async (request, response) => {
    if (request.url.endsWith("/models")) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data: [{ id: "test-model", object: "model" }] }));
      return;
    }
    let body = "";
    for await (const part of request) body += part;
    const question = JSON.stringify(JSON.parse(body).messages.at(-1).content);
    if (question.includes("fail")) {
      response.statusCode = 400;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ error: { message: "the model refuses this question" } }));
      return;
    }
    response.setHeader("content-type", "text/event-stream");
    const send = (delta) => response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
    for (const word of ANSWER.split(/(?<= )/)) {
      if (word.startsWith("⏸")) await new Promise((resolve) => (release = resolve));
      else send({ content: word });
      if (response.destroyed) return;
    }
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n`);
    response.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    release: () => release(),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const ANSWER = `I looked at the **login** and found the cause. ⏸ 

The session was checked *before* the cookie was read:

\`\`\`rust
let session = sessions.get(&cookie)?;
\`\`\`

1. Read the cookie first.
2. Add a test that signs in twice.

| Check | Result |
|---|---|
| format | passed |
| tests | 214 passed |

See \`crates/gateway/src/auth.rs\` and https://example.com/login for the rest.`;
