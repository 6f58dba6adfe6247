// Proposed changes of AGENTS.md files and decisions on them in the inbox.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { openDesk } from "./desk.mjs";

const RULES = "# Rules\n\nUse tabs.\n\nTest first.\n\nShip often.\n";

let desk;
let scope;
let workspace_id;
/** The address of the page for a token that may only propose. */
let proposerUrl;
before(async () => {
  desk = await openDesk();
  workspace_id = (await desk.call("workspace/default")).workspace.id;
  const { secret, token } = JSON.parse(desk.gateway.command("token", "create", "--scope", "read,propose", "--json"));
  proposerUrl = await desk.pageFor(secret ?? token);
});
after(() => desk?.close());

/** Every test has its own folder with an AGENTS.md. */
let number = 0;
beforeEach(async () => {
  const { folder } = await desk.call("thread/folder/create", { workspace_id, name: `Folder ${(number += 1)}` });
  scope = { workspace_id, folder_id: folder.id };
  await save(RULES);
});

const save = (content) => desk.call("thread/agents_doc/save", { ...scope, content });
const stored = async () => (await desk.call("thread/agents_doc/get", scope)).explicit;
const propose = async (content, rationale) =>
  (await desk.call("thread/agents_doc/propose", { ...scope, content, base_version: 1, rationale })).proposal;
const editor = (page) => page.getByRole("textbox", { name: /AGENTS.md in/ });

async function openEditor(url = desk.url) {
  const page = await desk.window();
  await page.goto(`${url}/w/${workspace_id}/f/${scope.folder_id}/agents`);
  await editor(page).waitFor();
  await page.locator("[data-doc-state=clean]").waitFor();
  return page;
}

async function openProposal({ id }) {
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace_id}/inbox/agents/${id}`);
  await page.getByRole("heading", { name: /^AGENTS.md in/ }).waitFor();
  return page;
}

/** Types at the end of the file. */
async function type(page, text) {
  await editor(page).click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type(text);
}

/** Enters the reason and sends the proposal. */
async function send(page, why) {
  await page.getByRole("button", { name: "Propose a change", exact: true }).click();
  await page.getByLabel("Reason").fill(why);
  await page.getByRole("button", { name: "Propose", exact: true }).click();
  await page.getByText("Proposal sent to the inbox").waitFor();
}

test("who may not save proposes what was typed, and a person approves it in the inbox", async () => {
  const page = await openEditor(proposerUrl);
  await type(page, "Be kind.");
  await page.getByText("You can read this file and propose changes.").waitFor();
  await page.reload();
  await editor(page).getByText("Be kind.").waitFor();
  await send(page, "People said so");
  await page.locator("[data-doc-state=clean]").waitFor();
  assert.equal((await stored()).content, RULES);

  const person = await desk.window();
  await person.goto(`${desk.url}/w/${workspace_id}/inbox`);
  await person.getByText("1 decision waiting for you").waitFor();
  await person.getByRole("listbox", { name: "Waiting for a decision" }).getByRole("option").first().waitFor();
  await person.keyboard.press("j");
  await person.getByText("Reason: People said so").waitFor();
  await person.getByText("Be kind.").waitFor();
  await person.keyboard.press("e");
  await person.keyboard.type("Good.");
  await person.keyboard.press("Escape");
  await person.keyboard.press("a");
  const outcome = person.getByRole("region", { name: "Outcome" });
  await outcome.getByText("Approved by the owner").waitFor();
  await outcome.getByText("Note: Good.").waitFor();
  assert.equal((await stored()).content, `${RULES}Be kind.`);
  await outcome.getByRole("link", { name: "version 2" }).click();
  await editor(person).getByText("Be kind.").waitFor();
  // The window of the author is updated automatically.
  await editor(page).getByText("Be kind.").waitFor();
  await page.context().close();
  await person.context().close();
});

test("who may save can propose instead, and nothing is saved meanwhile", async () => {
  const page = await openEditor();
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Propose a change instead" }).click();
  await page.getByText("You are editing a proposal").waitFor();
  await type(page, "Sleep well.");
  await page.reload();
  await page.getByText("You are editing a proposal").waitFor();
  await send(page, "It helps");
  assert.equal((await stored()).version, 1);
  await page.getByLabel("Inspector").getByRole("link", { name: "It helps" }).click();
  await page.getByText("Waiting for you").waitFor();
  await page.getByRole("button", { name: "Withdraw proposal" }).click();
  await page.getByText("Withdrawn by the owner").waitFor();
  await page.context().close();
});

test("a proposal that is thrown away leaves the file as it was", async () => {
  const page = await openEditor();
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Propose a change instead" }).click();
  await type(page, "Nonsense.");
  await page.getByRole("button", { name: "Discard" }).click();
  await page.locator("[data-doc-state=clean]").waitFor();
  assert.equal(await editor(page).getByText("Nonsense.").count(), 0);
  assert.equal((await stored()).content, RULES);
  await page.context().close();
});

test("a denial says why and changes nothing", async () => {
  const page = await openProposal(await propose(RULES.replace("tabs", "spaces"), "Spaces are wider"));
  await page.getByLabel("Note").fill("They are not.");
  await page.getByRole("button", { name: /Deny/ }).click();
  const outcome = page.getByRole("region", { name: "Outcome" });
  await outcome.getByText("Denied by the owner").waitFor();
  await outcome.getByText("The file was not changed.").waitFor();
  await outcome.getByText("Note: They are not.").waitFor();
  assert.equal((await stored()).content, RULES);
  await page.context().close();
});

test("a stale proposal is rebased before it can be approved", async () => {
  const page = await openProposal(await propose(RULES.replace("tabs", "spaces"), "Spaces"));
  await page.getByRole("button", { name: /Approve/ }).waitFor();
  await save(RULES.replace("often", "daily"));
  await page.getByText("This proposal is based on version 1. The current version is 2.").waitFor();
  await page.getByRole("option", { name: /AGENTS.md, stale/ }).waitFor();
  assert.ok(await page.getByRole("button", { name: /Approve/ }).isDisabled());
  await page.getByRole("button", { name: "Rebase" }).click();
  await page.getByText("This proposal is based on version 1").waitFor({ state: "detached" });
  await page.getByRole("button", { name: /Approve/ }).click();
  await page.getByText("Approved by the owner").waitFor();
  assert.equal((await stored()).content, RULES.replace("often", "daily").replace("tabs", "spaces"));
  await page.context().close();
});

test("lines that both changed are merged by hand", async () => {
  const page = await openProposal(await propose(RULES.replace("tabs", "spaces"), "Spaces again"));
  await save(RULES.replace("tabs", "tabs, always"));
  await page.getByRole("button", { name: "Rebase" }).click();
  await page.getByText("Conflicts left: 1 of 1").waitFor();
  const merged = page.getByRole("textbox", { name: "Merged text" });
  await merged.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Backspace");
  await page.keyboard.type(RULES.replace("tabs", "spaces, always"));
  await page.getByRole("button", { name: "Propose merged text" }).click();
  await page.getByText("spaces, always").waitFor();
  await page.getByRole("button", { name: /Approve/ }).click();
  await page.getByText("Approved by the owner").waitFor();
  assert.equal((await stored()).content, RULES.replace("tabs", "spaces, always"));
  await page.getByRole("button", { name: "Decided" }).click();
  await page.getByRole("option", { name: /Spaces again/ }).waitFor();
  await page.context().close();
});

test("who types faster than the page is drawn finds every letter where it belongs", async () => {
  const page = await openProposal(await propose(RULES.replace("tabs", "two spaces"), "Two spaces"));
  await save(RULES.replace("tabs", "tabs, ever"));
  await page.getByRole("button", { name: "Rebase" }).click();
  const merged = page.getByRole("textbox", { name: "Merged text" });
  await merged.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Backspace");
  const text = "Nothing that is typed is lost.";
  // Types a letter after each step of the page, also between rendering and its effects.
  await page.evaluate(async (letters) => {
    const { port1, port2 } = new MessageChannel();
    for (const letter of letters) {
      document.execCommand("insertText", false, letter);
      const step = new Promise((resolve) => (port1.onmessage = resolve));
      port2.postMessage("");
      await step;
    }
  }, text);
  await page.getByText("All conflicts resolved.").waitFor();
  assert.equal(await merged.textContent(), text);
  await page.context().close();
});

test("no page complained, and none asked another host", () => assert.deepEqual(desk.problems, []));
