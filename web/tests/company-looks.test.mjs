// The appearance of the views of a company: screenshots in both themes and on a phone, without serious findings of axe.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openDesk, settled } from "./desk.mjs";
import { buildCompany } from "./fixtures/company.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const output = fileURLToPath(new URL("./output/", import.meta.url));

let desk;
let company;
let workspace;
let views;
before(async () => {
  mkdirSync(output, { recursive: true });
  desk = await openDesk();
  company = await buildCompany(desk.call, join(desk.gateway.home, "northwind"));
  workspace = company.workspace;
  await company.start("echo 'warming up'; exec sleep 600");
  const agents = await desk.call("workspace.agents.list", { workspace_dir: company.dir });
  const intake = await desk.call("pipeline.client_intake.run", {
    workspace_dir: company.dir,
    project_name: "Loyalty points",
    ceo_actor_id: "human",
    executive_manager_agent_id: agents.find(({ role }) => role === "manager").agent_id,
    intake_text: "Regulars collect points with every order and spend them in the shop.",
  });
  const { project, told, forged, tasks, deltas, decided, report, action, homeConversation, worker } = company;
  views = {
    home: ["/overview", (page) => page.getByRole("main").getByRole("heading", { name: "Projects" })],
    project: [`/home/${project}`, (page) => page.getByRole("link", { name: "Build the pricing API" })],
    inbox: ["/inbox", (page) => page.getByText("decisions waiting for you")],
    "inbox-memory": [`/inbox/${project}/${deltas[0]}`, (page) => page.getByText("Rounding happens once, when")],
    "inbox-milestone": [`/inbox/${project}/${report}`, (page) => page.getByText("214 tests pass")],
    "inbox-action": [`/inbox/${project}/${action}`, (page) => page.getByText("Risk: high")],
    "inbox-decided": [`/inbox/${project}/${decided}`, (page) => page.getByText("was changed as shown below")],
    live: ["/live", (page) => page.getByRole("option", { name: /run.ended/ }).first()],
    run: [`/runs/${project}/${told.run_id}?event=4`, (page) => page.getByText(/Chain verified/)],
    "run-forged": [`/runs/${project}/${forged.run_id}`, (page) => page.getByText(/Chain broken at event/)],
    sessions: ["/sessions", (page) => page.getByRole("button", { name: "Stop" })],
    jobs: ["/jobs", (page) => page.getByRole("cell", { name: "Blocked" })],
    job: [`/jobs/${project}/${company.job}`, (page) => page.getByRole("heading", { name: /Result/ })],
    plans: ["/plans", (page) => page.getByRole("progressbar", { name: "Progress of Data platform" })],
    plan: [
      `/plan/${project}?task=${tasks.api}`,
      (page) => page.getByRole("button", { name: /Build the pricing API, in progress/ }),
    ],
    pipelines: ["/pipelines", (page) => page.getByText("Needs approval")],
    pipeline: [`/pipelines/${intake.project_id}`, (page) => page.getByRole("button", { name: "Approve plan" })],
    "inbox-plan": [
      `/inbox/${intake.project_id}/${intake.artifacts.approval_artifact_id}`,
      (page) => page.getByText("to let its departments assign tasks"),
    ],
    conversation: [`/chat/${project}/${homeConversation}`, (page) => page.getByText("keep the old page reachable")],
    usage: ["/usage", (page) => page.getByText("Tokens by day")],
    people: ["/teams", (page) => page.getByRole("heading", { name: "Backend" }).last()],
    agent: [`/people/${worker}`, (page) => page.getByText("Completed", { exact: true })],
    settings: ["/settings", (page) => page.getByRole("heading", { name: "Workers" })],
    heartbeat: ["/heartbeat", (page) => page.getByText("The heartbeat has not run yet")],
  };
});
after(async () => {
  await company?.stop();
  await desk?.close();
});

const PHONE = [
  "home",
  "project",
  "live",
  "people",
  "inbox-memory",
  "run",
  "sessions",
  "jobs",
  "plan",
  "pipeline",
  "usage",
  "conversation",
  "heartbeat",
  "settings",
];

/** Bypasses the Content-Security-Policy, which forbids evaluating axe in the page. */
function openWindow(options) {
  return desk.window({ bypassCSP: true, ...options });
}

/** The rules of axe: all in the light theme, only those that depend on colours in the dark theme. */
const RULES = { light: {}, dark: { runOnly: ["color-contrast"] } };

async function look(page, name, rules = RULES.light) {
  await settled(page);
  await page.screenshot({ path: `${output}company-${name}.png` });
  await page.evaluate(axe);
  const { violations } = await page.evaluate(
    (rules) => window.axe.run(document, { resultTypes: ["violations"], ...rules }),
    rules,
  );
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const told = serious.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, any }) => `${html} ${any[0]?.message ?? ""}`).join(", ")}`,
  );
  assert.deepEqual(told, [], name);
}

for (const theme of ["light", "dark"]) {
  test(`the views of a company look right and are accessible in ${theme}`, async (context) => {
    const page = await openWindow({ colorScheme: theme });
    const at = (path) => `${desk.url}/w/${workspace}${path}`;
    for (const [name, [path, sign]] of Object.entries(views)) {
      await context.test(name, async () => {
        await page.goto(at(path));
        await sign(page).waitFor();
        await look(page, `${theme}-${name}`, RULES[theme]);
      });
    }
    await context.test("heartbeat after a dry run", async () => {
      await page.getByRole("button", { name: "Dry run" }).first().click();
      await page.getByRole("heading", { name: /The heartbeat is off/ }).waitFor();
      await look(page, `${theme}-heartbeat-off`, RULES[theme]);
      const turn = (enabled) => desk.call("heartbeat.config.set", { workspace_dir: company.dir, enabled });
      await turn(true);
      await page.getByRole("button", { name: "Dry run" }).first().click();
      await page.getByRole("heading", { name: /Would wake/ }).waitFor();
      await look(page, `${theme}-heartbeat-dry`, RULES[theme]);
      await turn(false);
    });
    await context.test("launch with its explanation", async () => {
      await page.goto(at("/sessions"));
      await page.getByRole("button", { name: "Start run", exact: true }).click();
      await page.getByLabel("Shell command").fill("cargo test --workspace");
      await page.getByRole("button", { name: "Preview" }).click();
      await page.getByText("Starts immediately.").waitFor();
      await look(page, `${theme}-launch`, RULES[theme]);
      await page.keyboard.press("Escape");
    });
    await context.test("search in the palette", async () => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Find anything" }).fill("round");
      await page
        .getByRole("option", { name: /Prices are integers/ })
        .first()
        .waitFor();
      await look(page, `${theme}-search`, RULES[theme]);
    });
    await page.context().close();
  });
}

test("without a company folder the desktop asks for one", async () => {
  const page = await openWindow({});
  await desk.call("workspace/create", { workspace_id: "ws_plain", name: "Plain" });
  await page.goto(`${desk.url}/w/ws_plain/home`);
  await page.getByRole("heading", { name: "Open an existing company" }).waitFor();
  await look(page, "light-open");
  await page.context().close();
});

test("on a phone each view is one column", async () => {
  const page = await openWindow({ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });
  for (const name of PHONE) {
    const [path, sign] = views[name];
    await page.goto(`${desk.url}/w/${workspace}${path}`);
    await sign(page).waitFor();
    await look(page, `phone-${name}`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `${name} is ${width} px wide`);
  }
  await page.getByRole("button", { name: "More sections" }).tap();
  await page.getByRole("menuitem", { name: "Conversations" }).waitFor();
  await look(page, "phone-more");
  await page.getByRole("menuitem", { name: "People" }).tap();
  await page.getByRole("link", { name: "Teams" }).waitFor();
  await page.context().close();
});

test("no page complained, and none asked another host", () => assert.deepEqual(desk.problems, []));
