// The workspace of a small team, as test data.

export async function tellStory(desk) {
  const { id: workspace_id } = (await desk.call("workspace/default")).workspace;
  await desk.call("workspace/update", { workspace_id, name: "Acme" });
  const folder = async (name, parent_folder_id) => {
    const made = await desk.call("thread/folder/create", { workspace_id, name, parent_folder_id });
    return made.folder.id;
  };
  const thread = async (thread_id, name, folder_id) => {
    await desk.call("thread/start", { workspace_id, thread_id, name });
    await desk.call("thread/move", { workspace_id, thread_id, folder_id });
  };
  const save = (content, folder_id) =>
    desk.call("thread/agents_doc/save", { workspace_id, folder_id, content, save_reason: "manual" });
  const backend = await folder("Backend");
  const api = await folder("API", backend);
  const frontend = await folder("Frontend");
  await save("# Acme\n\n- Be brief.\n");
  await save(
    "# Acme\n\n- Be brief.\n- Run the checks before you finish.\n- **Never** commit secrets; use `ac token create`.\n\n> Ask when in doubt.\n\nSee [the guide](docs/guide.md).\n",
  );
  await save(
    "# Backend instructions\n\n- Run cargo check.\n- Errors say what was expected and what was found.\n",
    backend,
  );
  await thread("fix-login", "Fix the login loop", api);
  await thread("review", "Review of the rate limiter", backend);
  await thread("palette", "Colours of the dark theme", frontend);
  await thread("week", "Plan the week");
  const { proposal } = await desk.call("thread/agents_doc/propose", {
    workspace_id,
    folder_id: backend,
    content:
      "# Backend instructions\n\n- Run cargo clippy, not only cargo check.\n- Errors say what was expected and what was found.\n",
    rationale: "Clippy finds what check does not",
  });
  return { workspace_id, backend, api, frontend, proposal: proposal.id };
}
