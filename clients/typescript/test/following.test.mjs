import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionLostError, RpcError } from "../dist/index.js";
import { Following } from "../dist/following.js";

const workspace_id = "ws_1";
const changed = (seq) => ({ method: "thread/tree/changed", params: { workspace_id }, seq });

/** Returns a `Following` of one workspace that has delivered notification 5 and lost its connection. */
function following() {
  const delivered = [];
  const following = new Following(({ seq }) => delivered.push(seq));
  following.answered("thread/tree", { workspace_id }, {});
  following.arrived(changed(5));
  following.hold();
  return { following, delivered };
}

test("new notifications that overtake replayed ones wait for them, and none is delivered twice", async () => {
  const { following: followed, delivered } = following();
  const gaps = await followed.restore(async (method, params, answered) => {
    assert.deepEqual([method, params], ["session/resume", { workspace_id, after_seq: 5 }]);
    // The connection is subscribed before it resumes: 7 arrives on its own and once more in the replay.
    followed.arrived(changed(7));
    const answer = { replayed: 2, gap: false, next_seq: 8 };
    answered(answer);
    followed.arrived(changed(9));
    assert.deepEqual(delivered, [5]);
    for (const seq of [6, 7]) followed.arrived(changed(seq));
    return answer;
  });
  assert.deepEqual(delivered, [5, 6, 7, 9]);
  assert.deepEqual(gaps, []);
  followed.arrived(changed(9));
  followed.arrived(changed(10));
  assert.deepEqual(delivered, [5, 6, 7, 9, 10]);
});

test("a connection that breaks while notifications are replayed loses none of them", async () => {
  const { following: followed, delivered } = following();
  const broken = followed.restore(async (_, __, answered) => {
    answered({ replayed: 2, gap: false, next_seq: 8 });
    followed.arrived(changed(6));
    followed.hold();
    return { replayed: 2, gap: false, next_seq: 8 };
  });
  await assert.rejects(broken, ConnectionLostError);
  assert.deepEqual(delivered, [5]);
  await followed.restore(async (_, { after_seq }, answered) => {
    assert.equal(after_seq, 5);
    answered({ replayed: 2, gap: false, next_seq: 8 });
    for (const seq of [6, 7]) followed.arrived(changed(seq));
    return { replayed: 2, gap: false, next_seq: 8 };
  });
  assert.deepEqual(delivered, [5, 6, 7]);
});

test("a gap found on a connection that breaks is reported by the next one", async () => {
  const { following: followed } = following();
  followed.answered("events.subscribe", {}, { subscription_id: "sub_1" });
  const answer = { replayed: 0, gap: true, next_seq: 100 };
  const broken = followed.restore(async (method) => {
    if (method === "events.subscribe") throw new ConnectionLostError("gone");
    return answer;
  });
  await assert.rejects(broken, ConnectionLostError);
  const gaps = await followed.restore(async () => ({ ...answer, gap: false }));
  assert.deepEqual(gaps, [{ workspace_id }, { subscription_id: "sub_1" }]);
});

test("after a gap the sequence number of the gateway applies, even if it is lower", async () => {
  const { following: followed, delivered } = following();
  const gaps = await followed.restore(async () => {
    followed.arrived(changed(2));
    return { replayed: 0, gap: true, next_seq: 3 };
  });
  assert.deepEqual(gaps, [{ workspace_id }]);
  followed.arrived(changed(3));
  followed.arrived(changed(3));
  followed.arrived(changed(4));
  assert.deepEqual(delivered, [5, 2, 3, 4]);
});

test("a deleted thread is not created again", async () => {
  const { following: followed } = following();
  followed.answered("thread/start", { workspace_id, thread_id: "thr_1" }, {});
  const methods = [];
  const gaps = await followed.restore(async (method) => {
    methods.push(method);
    if (method === "thread/get") throw new RpcError(method, -32600, "gone", { kind: "unknown_thread" });
    return { replayed: 0, gap: false, next_seq: 6 };
  });
  assert.deepEqual(methods, ["thread/get", "session/resume"]);
  assert.deepEqual(gaps, [{ thread_id: "thr_1" }]);
});

test("events of a run continue after the last one delivered", async () => {
  const { following: followed } = following();
  const params = { workspace_dir: "/company", run_id: "run_1", backfill_limit: 10 };
  followed.answered("events.subscribe", params, { subscription_id: "sub_1" });
  const event = { event_id: "evt_7" };
  followed.arrived({ method: "events.notification", params: { subscription_id: "sub_1", event } });
  let asked;
  const gaps = await followed.restore(async (method, params) => {
    if (method === "events.subscribe") asked = params;
    return { replayed: 0, gap: false, next_seq: 6 };
  });
  const subscription_id = "sub_1";
  assert.deepEqual(asked, { workspace_dir: "/company", run_id: "run_1", subscription_id, after_event_id: "evt_7" });
  assert.deepEqual(gaps, []);
});
