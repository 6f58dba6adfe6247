// The appearance of the desktop: screenshots of the main views in both themes, without serious findings of axe.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openDesk, settled } from "./desk.mjs";
import { openProvider } from "./provider.mjs";
import { tellStory } from "./story.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const output = fileURLToPath(new URL("./output/", import.meta.url));
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNkYPhfz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC",
  "base64",
);

let provider;
let desk;
let story;
before(async () => {
  provider = await openProvider();
  desk = await openDesk({ config: `[providers.openai]\nbase_url = "${provider.url}"\napi_key = "test"\n` });
  story = await tellStory(desk);
  mkdirSync(output, { recursive: true });
});
after(async () => {
  await desk?.close();
  provider?.close();
});

async function look(page, name) {
  await settled(page);
  await page.screenshot({ path: `${output}${name}.png` });
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(
    serious.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, any }) => `${html} ${any[0]?.message ?? ""}`).join(", ")}`,
    ),
    [],
    name,
  );
}

/** Bypasses the Content-Security-Policy, which forbids evaluating axe in the page. */
const options = (colorScheme) => ({ colorScheme, bypassCSP: true });

/** Both sides change the same line, and each side also changes another line. */
async function conflict(page, theme) {
  const { workspace_id } = story;
  await page.evaluate(() => {
    const { setTimeout } = window;
    window.waiting = [];
    window.setTimeout = (act, delay, ...rest) =>
      delay === 700 ? window.waiting.push(act) : setTimeout(act, delay, ...rest);
  });
  await page.getByRole("textbox", { name: "AGENTS.md in the root" }).click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  await page.keyboard.type(" Answer in English.");
  const { explicit } = await desk.call("thread/agents_doc/get", { workspace_id });
  const content = explicit.content
    .replace(/- Be brief.*/, `- Be brief and kind. (${theme})`)
    .replace("guide.md", "handbook.md");
  await desk.call("thread/agents_doc/save", { workspace_id, content });
  await page.getByText("changed elsewhere").waitFor();
  await page.evaluate(() => window.waiting.forEach((act) => act()));
  await page.getByRole("region", { name: "Theirs" }).waitFor();
}

for (const theme of ["light", "dark"]) {
  test(`the main views look right and are accessible in ${theme}`, async () => {
    const page = await desk.window(options(theme));
    const at = (path) => `${desk.url}/w/${story.workspace_id}${path}`;
    await page.goto(at("/tree"));
    await page.getByRole("treeitem", { name: "Fix the login loop" }).waitFor();
    await look(page, `${theme}-tree`);

    await page.goto(at("/agents"));
    await page.getByRole("textbox", { name: "AGENTS.md in the root" }).waitFor();
    await page.getByText("saved by you").first().waitFor();
    await look(page, `${theme}-agents-doc`);

    await page.getByRole("button", { name: /^v2 / }).click();
    await page.getByText("Run the checks").last().waitFor();
    await look(page, `${theme}-history`);
    await page.keyboard.press("Escape");
    await conflict(page, theme);
    await look(page, `${theme}-conflict`);
    await page.getByRole("button", { name: "Merge" }).click();
    await page.getByRole("textbox", { name: "Merged text" }).waitFor();
    await look(page, `${theme}-merge`);
    await page.getByRole("button", { name: "Keep theirs" }).click();
    await page.getByRole("treeitem", { name: "Backend" }).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Delete folder" }).waitFor();
    await look(page, `${theme}-menu`);
    await page.keyboard.press("Escape");

    await page.goto(at(`/f/${story.api}/agents`));
    await page.getByText("This file is empty.").waitFor();
    await look(page, `${theme}-inherited`);

    await page.goto(at(`/inbox/agents/${story.proposal}`));
    await page.getByText("Reason: Clippy finds").waitFor();
    await look(page, `${theme}-proposal`);
    await page.goto(at(`/f/${story.backend}/agents`));
    await page.getByRole("link", { name: /Clippy finds/ }).waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Propose a change instead" }).click();
    await page.getByRole("textbox", { name: "AGENTS.md in Backend" }).click();
    await page.keyboard.press("Control+End");
    await page.keyboard.type("- Ask before you add a dependency.");
    await look(page, `${theme}-proposing`);
    await page.getByRole("button", { name: "Propose a change", exact: true }).click();
    await page.getByLabel("Reason").fill("Two crates did the same");
    await look(page, `${theme}-propose`);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Discard" }).click();

    await page.goto(at("/t/fix-login"));
    await page.getByLabel("Provider").selectOption("openai");
    await page.getByLabel("Model", { exact: true }).selectOption("test-model");
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Attach files" }).click();
    await (
      await chooser
    ).setFiles([
      { name: "screenshot.png", mimeType: "image/png", buffer: PNG },
      { name: "trace.json", mimeType: "application/json", buffer: Buffer.from('{"user":"ada","steps":[1,2,3]}') },
    ]);
    await page.getByLabel("Message").fill(`Signing in sends me back to the login page, see the trace. (${theme})`);
    await page.locator(".composer .chip[data-phase=done]").nth(1).waitFor();
    await look(page, `${theme}-composer`);
    await page.keyboard.press("Enter");
    await page.getByText("found the cause").last().waitFor();
    await look(page, `${theme}-streaming`);
    provider.release();
    await page.getByText("214 passed").last().waitFor();
    await page.getByRole("button", { name: "Show prompt" }).last().click();
    await page.getByText("thread_agents_doc_prompt").waitFor();
    await look(page, `${theme}-prompt`);
    await page.getByRole("tab", { name: "Files" }).click();
    await page.locator(".artifact-name", { hasText: "trace.json" }).first().click();
    await page.getByText('"user": "ada"').waitFor();
    await look(page, `${theme}-files`);

    await page.goto(at(`/f/${story.backend}`));
    await page.getByRole("link", { name: /Review of the rate limiter/ }).waitFor();
    await look(page, `${theme}-folder`);

    await page.goto(at("/settings"));
    await page.getByLabel("Anthropic API key").waitFor();
    await look(page, `${theme}-settings`);

    await page.goto(at("/files"));
    await page
      .getByRole("option", { name: /trace.json/ })
      .first()
      .click();
    await page.getByText('"user": "ada"').waitFor();
    await look(page, `${theme}-file`);

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find anything" }).fill("back");
    await page
      .getByRole("option", { name: /Backend/ })
      .first()
      .waitFor();
    await look(page, `${theme}-palette`);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await look(page, `${theme}-keys`);
    await page.context().close();
  });
}

test("on a phone one column shows at a time", async () => {
  const page = await desk.window({
    ...options("light"),
    viewport: { width: 390, height: 780 },
    hasTouch: true,
    isMobile: true,
  });
  await page.goto(`${desk.url}/w/${story.workspace_id}/tree`);
  await page.getByRole("treeitem", { name: "Plan the week" }).waitFor();
  await look(page, "phone-tree");
  await page.getByRole("treeitem", { name: "Fix the login loop" }).tap();
  await page.getByLabel("Message").waitFor();
  assert.equal(await page.getByRole("tree").isVisible(), false);
  await look(page, "phone-thread");
  await page.getByRole("link", { name: "Back to the list" }).tap();
  await page.getByRole("treeitem", { name: "Plan the week" }).waitFor();
  await page.goto(`${desk.url}/w/${story.workspace_id}/inbox/agents/${story.proposal}`);
  await page.getByText("Reason: Clippy finds").waitFor();
  await look(page, "phone-proposal");
  await page.context().close();
});

test("no page complained, and none asked another host", () => assert.deepEqual(desk.problems, []));
