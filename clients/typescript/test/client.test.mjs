import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import {
  AuthenticationError,
  ClosedError,
  ConnectionLostError,
  QueueFullError,
  RpcError,
  TimeoutError,
  contentRequest,
} from "../dist/index.js";
import { Gateway, Wire, enters, newId, until } from "./gateway.mjs";

const gateway = new Gateway();
before(() => gateway.start());
after(() => gateway.stop());

/** A client with a workspace it follows. */
async function following(options) {
  const client = gateway.connect(options);
  const workspace_id = newId("ws");
  await client.call("workspace/create", { workspace_id });
  await client.follow(workspace_id);
  return { client, workspace_id };
}

/** The versions of the document that were saved, as they come. */
function savedVersions(client) {
  const seen = [];
  client.on("thread/agents_doc/changed", ({ doc }) => seen.push(doc?.version));
  return seen;
}

describe("calls", () => {
  test("a call is answered", async () => {
    const client = gateway.connect();
    const { workspace } = await client.call("workspace/default");
    assert.equal(typeof workspace.id, "string");
    assert.equal(client.state, "open");
  });

  test("the address may be that of the WebSocket, and the constructor one's own", async () => {
    let made = 0;
    class Own extends WebSocket {
      constructor(...args) {
        super(...args);
        made += 1;
      }
    }
    const client = gateway.connect({ url: gateway.url.replace("http", "ws"), WebSocket: Own });
    await client.opened();
    assert.equal(made, 1);
    assert.equal(client.httpUrl, gateway.url);
  });

  test("an error has its code, its kind and its data", async () => {
    const client = gateway.connect();
    const failure = await client.call("thread/tree", { workspace_id: "ws_none" }).catch((error) => error);
    assert.ok(failure instanceof RpcError);
    assert.equal(failure.code, -32602);
    assert.equal(failure.kind, "unknown_workspace");
    assert.equal(failure.method, "thread/tree");
    assert.match(failure.message, /ws_none/);
    const company = await client.call("run.list", { workspace_dir: gateway.folder }).catch((error) => error);
    assert.equal(company.kind, "NOT_A_WORKSPACE");
  });

  test("an unknown method is an error", async () => {
    await assert.rejects(gateway.connect().call("no/such"), { code: -32601, kind: "method_not_found" });
  });

  test("a hundred calls at a time each get their own answer", async () => {
    const client = gateway.connect();
    const ids = Array.from({ length: 100 }, () => newId("ws"));
    const answers = await Promise.all(ids.map((workspace_id) => client.call("workspace/create", { workspace_id })));
    assert.deepEqual(answers.map(({ workspace }) => workspace.id), ids);
  });

  test("params that are too large are refused before they break the connection", async () => {
    const client = gateway.connect();
    const content = "x".repeat(17 << 20);
    await assert.rejects(client.call("thread/agents_doc/save", { workspace_id: "ws", content }), RangeError);
    assert.ok(await client.call("workspace/list"));
  });
});

describe("notifications", () => {
  test("two clients of a workspace hear of a change, a stranger does not", async () => {
    const { client: first, workspace_id } = await following();
    const second = gateway.connect();
    const stranger = gateway.connect();
    await second.follow(workspace_id);
    await stranger.opened();
    const heard = [];
    stranger.on("thread/tree/changed", (params) => heard.push(params));
    const both = [first, second].map((client) => until((listener) => client.on("thread/tree/changed", listener)));
    await first.call("thread/folder/create", { workspace_id, name: "Backend" });
    for (const changed of await Promise.all(both)) assert.equal(changed.workspace_id, workspace_id);
    await stranger.call("workspace/list");
    assert.deepEqual(heard, []);
  });

  test("a listener that fails keeps nobody from hearing, and one that left hears nothing", async (context) => {
    const { client, workspace_id } = await following();
    const errors = context.mock.method(console, "error", () => {});
    const gone = [];
    client.on("thread/tree/changed", () => {
      throw new Error("mine");
    });
    client.on("thread/tree/changed", (params) => gone.push(params))();
    const heard = until((listener) => client.on("thread/tree/changed", listener));
    await client.call("thread/folder/create", { workspace_id, name: "Backend" });
    await heard;
    assert.equal(errors.mock.callCount(), 1);
    assert.deepEqual(gone, []);
  });
});

describe("a lost connection", () => {
  const wire = new Wire();
  before(() => wire.lay(gateway.url));
  after(() => wire.stop());

  test("what was missed comes afterwards, in order, once, without a gap", async () => {
    const { client, workspace_id } = await following({ url: wire.url });
    const other = gateway.connect();
    await other.call("thread/tree", { workspace_id });
    const [seen, gaps] = [savedVersions(client), []];
    client.onGap((gap) => gaps.push(gap));
    const save = (content) => other.call("thread/agents_doc/save", { workspace_id, content });
    await save("one");
    const lost = enters(client, "reconnecting");
    wire.cut();
    await lost;
    for (const content of ["two", "three", "four"]) await save(content);
    const back = enters(client, "open");
    wire.mend();
    await back;
    assert.deepEqual(seen, [1, 2, 3, 4]);
    const next = until((listener) => client.on("thread/agents_doc/changed", listener));
    await save("five");
    await next;
    assert.deepEqual(seen, [1, 2, 3, 4, 5]);
    assert.deepEqual(gaps, []);
  });

  test("open threads stay open: a turn that ended meanwhile is told", async () => {
    const { client, workspace_id } = await following({ url: wire.url });
    const thread_id = newId("thr");
    await client.call("thread/start", { workspace_id, thread_id });
    // A thread with a turn is no draft any more: others see it.
    const first = until((listener) => client.on("turn/completed", listener));
    await client.call("turn/start", { thread_id, turn_id: newId("trn"), input: [{ type: "text", text: "Hello" }] });
    await first;
    const started = [];
    client.on("thread/started", (params) => started.push(params));
    const lost = enters(client, "reconnecting");
    wire.cut();
    await lost;
    const other = gateway.connect();
    await other.call("thread/start", { workspace_id, thread_id });
    const turn_id = newId("trn");
    const done = until((listener) => other.on("turn/completed", listener));
    await other.call("turn/start", { thread_id, turn_id, input: [{ type: "text", text: "Again" }] });
    await done;
    const told = until((listener) => client.on("turn/completed", listener));
    wire.mend();
    assert.equal((await told).turn.id, turn_id);
    await client.call("workspace/list");
    assert.deepEqual(started, []);
  });

  test("a workspace that was only named is followed again, with a gap", async () => {
    const workspace_id = newId("ws");
    const other = gateway.connect();
    await other.call("workspace/create", { workspace_id });
    const client = gateway.connect({ url: wire.url });
    await client.call("thread/tree", { workspace_id });
    const gap = until((listener) => client.onGap(listener));
    const back = enters(client, "open");
    wire.cut();
    wire.mend();
    assert.deepEqual(await gap, { workspace_id });
    await back;
    const heard = until((listener) => client.on("thread/tree/changed", listener));
    await other.call("thread/folder/create", { workspace_id, name: "Backend" });
    await heard;
  });

  test("a read that was under way is asked again, a write fails", async () => {
    const { client, workspace_id } = await following({ url: wire.url });
    wire.mute();
    const read = client.call("thread/tree", { workspace_id });
    const write = client.call("thread/folder/create", { workspace_id, name: "Backend" });
    const refused = assert.rejects(write, ConnectionLostError);
    // The gateway has both once another client sees the folder.
    const other = gateway.connect();
    while ((await other.call("thread/tree", { workspace_id })).folders.length === 0);
    wire.cut();
    await refused;
    wire.mend();
    assert.equal((await read).folders.length, 1);
  });

  test("calls made without a connection wait for it, up to a limit", async () => {
    const client = gateway.connect({ url: wire.url, maxPending: 2 });
    await client.opened();
    const lost = enters(client, "reconnecting");
    wire.cut();
    await lost;
    const waiting = [client.call("workspace/list"), client.call("workspace/create", { workspace_id: newId("ws") })];
    await assert.rejects(client.call("workspace/list"), QueueFullError);
    wire.mend();
    const [{ workspaces }, { workspace }] = await Promise.all(waiting);
    assert.ok(workspaces.length > 0);
    assert.ok(workspace.id);
  });

  test("whoever waits may give up or be out of time", async () => {
    const client = gateway.connect({ url: wire.url });
    await client.opened();
    wire.mute();
    const stop = new AbortController();
    const aborted = assert.rejects(client.call("workspace/list", {}, { signal: stop.signal }), { message: "enough" });
    stop.abort(new Error("enough"));
    await aborted;
    await assert.rejects(client.call("workspace/list", {}, { timeout: 5 }), TimeoutError);
    wire.mend();
    assert.ok(await client.call("workspace/list"));
  });

  test("closing fails what waits, and what comes later", async () => {
    const client = gateway.connect({ url: wire.url });
    await client.opened();
    wire.mute();
    const waiting = assert.rejects(client.call("workspace/list"), ClosedError);
    client.close();
    await waiting;
    wire.mend();
    assert.equal(client.state, "closed");
    await assert.rejects(client.call("workspace/list"), ClosedError);
    await assert.rejects(client.opened(), ClosedError);
  });
});

describe("access", () => {
  test("a wrong token is an authentication error at once", async () => {
    const client = gateway.connect({ token: "wrong", backoff: { first: 60_000, max: 60_000 } });
    const waiting = assert.rejects(client.call("workspace/list"), AuthenticationError);
    await assert.rejects(client.opened(), { name: "AuthenticationError", message: /token is not valid/ });
    await waiting;
    assert.equal(client.state, "closed");
  });

  test("a page of the gateway that has signed in needs its page key and no token", async () => {
    const { hash, origin } = new URL(gateway.signInUrl);
    const answer = await fetch(`${origin}/sign-in`, { method: "POST", body: hash.replace("#code=", "") });
    const { page_key: pageKey } = await answer.json();
    const cookie = answer.headers.get("set-cookie").split(";")[0];
    // What a browser adds by itself.
    const headers = { cookie, origin: new URL(gateway.url).origin };
    class OfPage extends WebSocket {
      constructor(url, protocols) {
        super(url, { protocols, headers });
      }
    }
    const client = gateway.connect({ token: undefined, pageKey, WebSocket: OfPage });
    assert.ok(await client.call("workspace/list"));
    assert.equal(contentRequest(client, { workspace_id: "ws_a", artifact_id: "art_a" }).headers["Accord-Page-Key"], pageKey);
    const byCookie = gateway.connect({ token: undefined, pageKey: "x", WebSocket: OfPage });
    await assert.rejects(byCookie.opened(), AuthenticationError);
  });

  test("a revoked token closes the client for good", async () => {
    const made = JSON.parse(gateway.command("token", "create", "--json"));
    const client = gateway.connect({ token: made.token });
    await client.opened();
    const closed = enters(client, "closed");
    gateway.command("token", "revoke", made.id);
    await closed;
    await assert.rejects(client.call("workspace/list"), /access_revoked/);
  });
});

describe("a home that is restored from a backup", () => {
  test("open clients hear every change", async () => {
    const { client, workspace_id } = await following();
    const archive = join(gateway.folder, "backup.tar");
    gateway.command("backup", archive);
    // Every start takes further numbers, so the client has seen numbers that the backup does not know of.
    for (let start = 0; start < 3; start += 1) {
      const back = enters(client, "open");
      await gateway.kill();
      await gateway.start();
      await back;
      const heard = until((listener) => client.on("thread/tree/changed", listener));
      await client.call("thread/folder/create", { workspace_id, name: `After the backup ${start}` });
      await heard;
    }
    const back = enters(client, "open");
    await gateway.kill();
    rmSync(gateway.home, { recursive: true });
    gateway.command("restore", archive);
    writeFileSync(join(gateway.home, "token"), gateway.token, { mode: 0o600 });
    await gateway.start();
    await back;
    const seen = savedVersions(client);
    const last = until((listener) => client.on("thread/agents_doc/changed", listener), ({ doc }) => doc?.version === 20);
    const writer = gateway.connect();
    for (let version = 1; version <= 20; version += 1) {
      await writer.call("thread/agents_doc/save", { workspace_id, content: `Rule ${version}` });
    }
    await last;
    assert.deepEqual(seen, Array.from({ length: 20 }, (_, index) => index + 1));
  });
});

describe("a gateway that is killed and comes back on the same port", () => {
  test("the client comes back, tells of the gap and hears what follows", async () => {
    const { client, workspace_id } = await following();
    const thread_id = newId("thr");
    await client.call("thread/start", { workspace_id, thread_id, name: "Plan" });
    const states = [];
    client.onState((state) => states.push(state));
    const lost = enters(client, "reconnecting");
    const gap = until((listener) => client.onGap(listener), (gap) => "workspace_id" in gap);
    await gateway.kill();
    await lost;
    const waiting = client.call("thread/tree", { workspace_id });
    await gateway.start();
    assert.ok((await waiting).tree_version !== undefined);
    assert.deepEqual(await gap, { workspace_id });
    assert.deepEqual(states, ["reconnecting", "open"]);
    const heard = until((listener) => client.on("thread/tree/changed", listener));
    await gateway.connect().call("thread/folder/create", { workspace_id, name: "Backend" });
    assert.equal((await heard).workspace_id, workspace_id);
  });
});

describe("company folders", () => {
  test("a company is made, its projects are listed and its events are heard, also after a restart", async () => {
    const client = gateway.connect();
    const workspace_dir = `${gateway.folder}/company`;
    assert.deepEqual(await client.call("workspace.init", { workspace_dir, company_name: "Acme" }), { ok: true });
    const { subscription_id } = await client.call("events.subscribe", { workspace_dir });
    const made = await client.call("workspace.project.create_with_defaults", { workspace_dir, name: "Alpha" });
    const { projects } = await client.call("workspace.projects.list", { workspace_dir });
    assert.deepEqual(projects.map(({ name }) => name), ["Alpha"]);

    const { project_id, project_secretary_agent_id: agent_id } = made;
    const createRun = () => client.call("run.create", { workspace_dir, project_id, agent_id, provider: "cmd" });
    const nextEvent = () => until((listener) => client.on("events.notification", listener), ({ event }) => event.run_id);
    const [event, run] = await Promise.all([nextEvent(), createRun()]);
    assert.equal(event.subscription_id, subscription_id);
    assert.equal(event.event.run_id, run.run_id);

    const gap = until((listener) => client.onGap(listener), (gap) => "subscription_id" in gap);
    await gateway.kill();
    await gateway.start();
    assert.deepEqual(await gap, { subscription_id });
    const [again, later] = await Promise.all([nextEvent(), createRun()]);
    assert.equal(again.subscription_id, subscription_id);
    assert.equal(again.event.run_id, later.run_id);
  });
});
