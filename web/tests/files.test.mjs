// Files: drop and paste, interrupted uploads, previews, downloads, deletion and restoring.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { openDesk, until } from "./desk.mjs";

let desk;
let workspace_id;
before(async () => {
  desk = await openDesk();
  workspace_id = (await desk.call("workspace/default")).workspace.id;
});
after(() => desk?.close());

async function open(thread_id) {
  await desk.call("thread/start", { workspace_id, thread_id, name: thread_id });
  await desk.call("thread/move", { workspace_id, thread_id });
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace_id}/t/${thread_id}`);
  await page.getByLabel("Message").waitFor();
  return page;
}

const listed = async (thread_id) => (await desk.call("artifact/list/thread", { workspace_id, thread_id })).items;
const chip = (page, phase) => page.locator(`.composer .chip[data-phase=${phase}]`);

async function attach(page, name, buffer, mimeType = "application/octet-stream") {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Attach files" }).click();
  await (await chooser).setFiles([{ name, mimeType, buffer }]);
}

/** Passes a file to the page as a drop or a paste does. */
const give = (page, selector, kind, name, text) =>
  page.locator(selector).evaluate(
    (element, { kind, name, text }) => {
      const data = new DataTransfer();
      data.items.add(new File([text], name, { type: "text/plain" }));
      const event =
        kind === "paste"
          ? new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true })
          : new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
      element.dispatchEvent(event);
    },
    { kind, name, text },
  );

test("dropped and pasted files go with the message", async () => {
  const page = await open("give");
  await give(page, ".thread-scroll", "drop", "dropped.txt", "dropped words");
  await give(page, ".composer-input", "paste", "pasted.txt", "pasted words");
  await chip(page, "done").nth(1).waitFor();
  await page.getByLabel("Message").fill("two files");
  await page.keyboard.press("Enter");
  await page.locator(".turn[data-status=Completed]").waitFor();
  await page.locator(".said .chip", { hasText: "dropped.txt" }).click();
  // The answer repeats the question.
  await page.getByLabel("Contents of dropped.txt").filter({ hasText: "dropped words" }).waitFor();
  const names = (await listed("give")).map(({ artifact }) => artifact.display_name).sort();
  assert.deepEqual(names, ["dropped.txt", "pasted.txt"]);
  await page.context().close();
});

/** Slows the sockets of a page down after some chunks, so that an upload can be interrupted. */
async function slow(page, chunks) {
  await page.addInitScript((allowed) => {
    const send = WebSocket.prototype.send;
    let left = allowed;
    WebSocket.prototype.send = function (data) {
      if (typeof data === "string" || window.isFast || left-- > 0) send.call(this, data);
    };
  }, chunks);
  await page.reload();
  await page.getByLabel("Message").waitFor();
}

test("an upload interrupted by a restart of the gateway goes on where it was", async () => {
  const bytes = randomBytes(3 << 20);
  const page = await open("restart");
  await slow(page, 3);
  await attach(page, "large.bin", bytes);
  await until(async () => /^[5-9]\d\d(\.\d)? KiB|MiB of/.test((await page.locator(".chip-note").textContent()) ?? ""));
  await desk.gateway.kill();
  await page.getByText("waiting for the gateway").waitFor();
  await page.evaluate(() => (window.isFast = true));
  await desk.gateway.start();
  await chip(page, "done").waitFor();
  const [{ artifact }] = await until(async () => {
    const items = await listed("restart");
    return items.length > 0 && items;
  });
  assert.equal(artifact.sha256, createHash("sha256").update(bytes).digest("hex"));
  await page.context().close();
});

test("an upload can be paused, and goes on after a reload of the page", async () => {
  const bytes = randomBytes(3 << 20);
  const page = await open("reload");
  await slow(page, 3);
  await attach(page, "large.bin", bytes);
  await until(async () => /KiB of/.test((await page.locator(".chip-note").textContent()) ?? ""));
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("paused at").waitFor();
  await page.addInitScript(() => (window.isFast = true));
  await page.reload();
  await page.getByText("paused at").waitFor();
  await page.getByRole("button", { name: "Resume" }).click();
  await chip(page, "done").waitFor();
  const [{ artifact }] = await until(async () => {
    const items = await listed("reload");
    return items.length > 0 && items;
  });
  assert.equal(artifact.sha256, createHash("sha256").update(bytes).digest("hex"));
  await page.context().close();
});

test("a file is downloaded with its bytes, deleted, restored and added to another thread", async () => {
  const page = await open("keep");
  await attach(page, "notes.md", Buffer.from("# Notes\n"), "text/markdown");
  await chip(page, "done").waitFor();
  await page.getByRole("tab", { name: "Files" }).click();
  const menu = async (item) => {
    await page.getByRole("button", { name: "Menu of notes.md" }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  const download = page.waitForEvent("download");
  await menu("Download");
  assert.equal(readFileSync(await (await download).path(), "utf8"), "# Notes\n");

  await menu("Delete");
  await page.locator(".artifact").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".artifact").waitFor();
  await menu("Delete");
  await page.getByLabel("deleted").check();
  await page.locator(".artifact[data-status=deleted]").waitFor();
  await menu("Restore");
  await page.locator(".artifact[data-status=ready]").waitFor();

  await desk.call("thread/start", { workspace_id, thread_id: "other", name: "Other thread" });
  await desk.call("thread/move", { workspace_id, thread_id: "other" });
  await menu("Add to a thread…");
  await page.getByRole("option", { name: "Other thread" }).click();
  await until(async () => (await listed("other")).some(({ artifact }) => artifact.display_name === "notes.md"));
  await page.context().close();
});

test("pictures and the text of a PDF are shown", async () => {
  const page = await open("show");
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNkYPhfz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";
  await attach(page, "dot.png", Buffer.from(png, "base64"), "image/png");
  await attach(page, "hello.pdf", pdf("Hello from a PDF"), "application/pdf");
  await chip(page, "done").nth(1).waitFor();
  await page.getByRole("tab", { name: "Files" }).click();
  await page.locator(".artifact-name", { hasText: "dot.png" }).click();
  await until(() => page.locator(".preview-image").evaluate((image) => image.naturalWidth === 10));
  await page.locator(".artifact-name", { hasText: "hello.pdf" }).click();
  await page.locator(".preview-text", { hasText: "Hello from a PDF" }).waitFor();
  await page.context().close();
});

/** Returns a minimal PDF with a text. */
function pdf(text) {
  const stream = `BT /F1 24 Tf 20 100 Td (${text}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let body = "%PDF-1.4\n";
  const offsets = objects.map((object, i) => {
    const at = body.length;
    body += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const rows = offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("");
  body += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
  return Buffer.from(body);
}

/** Uploads a file as another client. */
async function upload(file_name, bytes, more = {}) {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const start = {
    workspace_id,
    client_attachment_id: file_name,
    file_name,
    size_bytes: bytes.length,
    sha256,
    source_kind: "api",
    ...more,
  };
  const { upload_id } = await desk.call("artifact/upload/start", start);
  const content_base64 = Buffer.from(bytes).toString("base64");
  await desk.call("artifact/upload/chunk", { workspace_id, upload_id, offset: 0, content_base64 });
  return (await desk.call("artifact/upload/finish", { workspace_id, upload_id })).artifact;
}

test("files of every type appear in the list while it is open", async () => {
  await desk.call("thread/start", { workspace_id, thread_id: "live", name: "live" });
  await desk.call("thread/move", { workspace_id, thread_id: "live" });
  const page = await desk.window();
  await page.goto(`${desk.url}/w/${workspace_id}/files`);
  await page.getByText("Storage used").waitFor();
  // A file without a projection, so that only its creation is notified.
  for (const more of [{}, { thread_id: "live" }]) {
    const name = `live-${Object.keys(more).length}.bin`;
    await upload(name, Buffer.concat([Buffer.from([0, 159, 146, 150]), randomBytes(64)]), more);
    await page.locator(".file-row", { hasText: name }).waitFor();
  }
  await page.context().close();
});

test("the files of a thread come page by page", async () => {
  const page = await open("pages");
  for (let number = 0; number < 52; number += 1)
    await upload(`page-${number}.bin`, randomBytes(32), { thread_id: "pages" });
  await page.getByRole("tab", { name: "Files" }).click();
  await page.locator(".artifact-name", { hasText: "page-51.bin" }).waitFor();
  await page.getByRole("button", { name: "Show older files" }).click();
  await until(async () => (await page.locator(".artifact").count()) === 52);
  assert.equal(await page.getByRole("button", { name: "Show older files" }).count(), 0);
  await page.context().close();
});

test("no page complained", () => assert.deepEqual(desk.problems, []));
