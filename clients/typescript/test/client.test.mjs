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

/** Returns a client that follows a new workspace. */
async function following(options) {
  const client = gateway.connect(options);
  const workspace_id = newId("ws");
  await client.call("workspace/create", { workspace_id });
  await client.follow(workspace_id);
  return { client, workspace_id };
}

/** Collects the versions of the saved document as their notifications arrive. */
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

  test("the URL may be that of the WebSocket, and the constructor a custom one", async () => {
    let created = 0;
    class Custom extends WebSocket {
      constructor(...args) {
        super(...args);
        created += 1;
      }
    }
    const client = gateway.connect({ url: gateway.url.replace("http", "ws"), WebSocket: Custom });
    await client.opened();
    assert.equal(created, 1);
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

  test("a hundred concurrent calls each get their own result", async () => {
    const client = gateway.connect();
    const ids = Array.from({ length: 100 }, () => newId("ws"));
    const answers = await Promise.all(ids.map((workspace_id) => client.call("workspace/create", { workspace_id })));
    assert.deepEqual(answers.map(({ workspace }) => workspace.id), ids);
  });

  test("params that are too large are rejected before they break the connection", async () => {
    const client = gateway.connect();
    const content = "x".repeat(17 << 20);
    await assert.rejects(client.call("thread/agents_doc/save", { workspace_id: "ws", content }), RangeError);
    assert.ok(await client.call("workspace/list"));
  });
});

describe("notifications", () => {
  test("both clients of a workspace are notified of a change, an unrelated client is not", async () => {
    const { client: first, workspace_id } = await following();
    const second = gateway.connect();
    const unrelated = gateway.connect();
    await second.follow(workspace_id);
    await unrelated.opened();
    const received = [];
    unrelated.on("thread/tree/changed", (params) => received.push(params));
    const both = [first, second].map((client) => until((listener) => client.on("thread/tree/changed", listener)));
    await first.call("thread/folder/create", { workspace_id, name: "Backend" });
    for (const changed of await Promise.all(both)) assert.equal(changed.workspace_id, workspace_id);
    await unrelated.call("workspace/list");
    assert.deepEqual(received, []);
  });

  test("a listener that throws does not affect others, and a removed one is not called", async (context) => {
    const { client, workspace_id } = await following();
    const errors = context.mock.method(console, "error", () => {});
    const removed = [];
    client.on("thread/tree/changed", () => {
      throw new Error("mine");
    });
    client.on("thread/tree/changed", (params) => removed.push(params))();
    const notified = until((listener) => client.on("thread/tree/changed", listener));
    await client.call("thread/folder/create", { workspace_id, name: "Backend" });
    await notified;
    assert.equal(errors.mock.callCount(), 1);
    assert.deepEqual(removed, []);
  });
});

describe("a lost connection", () => {
  const wire = new Wire();
  before(() => wire.lay(gateway.url));
  after(() => wire.stop());

  test("missed notifications are replayed in order, once, without a gap", async () => {
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

  test("open threads stay open: a turn that completed meanwhile is reported", async () => {
    const { client, workspace_id } = await following({ url: wire.url });
    const thread_id = newId("thr");
    await client.call("thread/start", { workspace_id, thread_id });
    // A thread with a turn is no longer a draft, so other clients see it.
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
    const reported = until((listener) => client.on("turn/completed", listener));
    wire.mend();
    assert.equal((await reported).turn.id, turn_id);
    await client.call("workspace/list");
    assert.deepEqual(started, []);
  });

  test("a workspace that a call only named is followed again, with a gap", async () => {
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
    const notified = until((listener) => client.on("thread/tree/changed", listener));
    await other.call("thread/folder/create", { workspace_id, name: "Backend" });
    await notified;
  });

  test("a read in flight is retried, a write fails", async () => {
    const { client, workspace_id } = await following({ url: wire.url });
    wire.mute();
    const read = client.call("thread/tree", { workspace_id });
    const write = client.call("thread/folder/create", { workspace_id, name: "Backend" });
    const refused = assert.rejects(write, ConnectionLostError);
    // Both requests have arrived when another client sees the folder.
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

  test("a waiting call can be aborted or time out", async () => {
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

  test("closing fails pending and later calls", async () => {
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
  test("a wrong token fails immediately with an authentication error", async () => {
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
    // A browser adds these headers itself.
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

  test("a revoked token closes the client permanently", async () => {
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
  test("open clients receive every change", async () => {
    const { client, workspace_id } = await following();
    const archive = join(gateway.folder, "backup.tar");
    gateway.command("backup", archive);
    // Every start reserves further sequence numbers, so the client has seen numbers that the backup does not contain.
    for (let start = 0; start < 3; start += 1) {
      const back = enters(client, "open");
      await gateway.kill();
      await gateway.start();
      await back;
      const notified = until((listener) => client.on("thread/tree/changed", listener));
      await client.call("thread/folder/create", { workspace_id, name: `After the backup ${start}` });
      await notified;
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

describe("a gateway that is killed and restarted on the same port", () => {
  test("the client reconnects, reports the gap and receives later notifications", async () => {
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
    const notified = until((listener) => client.on("thread/tree/changed", listener));
    await gateway.connect().call("thread/folder/create", { workspace_id, name: "Backend" });
    assert.equal((await notified).workspace_id, workspace_id);
  });
});

describe("company folders", () => {
  test("a company is created, its projects are listed and its events arrive, also after a restart", async () => {
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
