// Code that the compiler must accept or reject; checked with `npm run typecheck`, never run.

import { connect, upload, type ArtifactRef, type Methods, type Notifications, type ThreadTreeResponse } from "../src/index.js";

const client = connect({ url: "ws://127.0.0.1:17878/", token: "…" });

// Methods of both families, with their params and results.
const tree: Promise<ThreadTreeResponse> = client.call("thread/tree", { workspace_id: "ws_1" });
const projects = (await client.call("workspace.projects.list", { workspace_dir: "/company" })).projects;
const name: string | undefined = projects[0]?.name;
await client.call("workspace/list");
await client.call("workspace/list", {}, { timeout: 5 });
await client.call("turn/start", { thread_id: "thr_1", turn_id: "trn_1", input: [{ type: "text", text: "Hello" }] });

// @ts-expect-error there is no such method
await client.call("thread/forest", {});
// @ts-expect-error a param is missing
await client.call("thread/tree", {});
// @ts-expect-error params are missing
await client.call("thread/tree");
// @ts-expect-error a param has the wrong type
await client.call("thread/tree", { workspace_id: 7 });
// @ts-expect-error there is no such kind of input
await client.call("turn/start", { thread_id: "thr_1", turn_id: "trn_1", input: [{ type: "smell" }] });
// @ts-expect-error a result has no such member
(await client.call("workspace/default")).folder;

client.on("item/agent_message/delta", ({ delta, item_id }) => [delta.length, item_id.length]);
client.on("events.notification", ({ event, subscription_id }) => [event, subscription_id.length]);
// @ts-expect-error there is no such notification
client.on("thread/forest/changed", () => {});

// Code that is generic over all methods can use the maps.
type Word = Extract<keyof Methods, `artifact/${string}`>;
const word: Word = "artifact/upload/start";
type Payload = Notifications["artifact/created"]["artifact"]["artifact"];
const artifact: Payload = await upload(client, { workspace_id: "ws_1", file: new Blob([]) }).done;
const reference: ArtifactRef = artifact;

export { name, reference, tree, word };
