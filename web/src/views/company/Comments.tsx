// The comments on a run, a document or an agent. Unsent text is kept as a draft.

import "./comments.css";
import { attempt, call, invalidate, useCall } from "../../data/calls.ts";
import { useDraft } from "../../data/drafts.ts";
import { Button } from "../../parts/Button.tsx";
import { Time } from "../../parts/Time.tsx";
import { AUTHOR, ME } from "./me.ts";
import type { Names } from "./names.ts";

type Target = { target_run_id: string } | { target_artifact_id: string } | { target_agent_id: string };

export function Comments({
  dir,
  project,
  target,
  names,
}: {
  dir: string;
  project: string;
  target: Target;
  names: Names;
}) {
  const query = useCall("comment.list", { workspace_dir: dir, project_id: project, ...ME, ...target, limit: 50 });
  const [body, setBody] = useDraft(`comment.${dir}.${Object.values(target).join()}`);
  const send = async () => {
    const isSent = await attempt("Adding the comment", () =>
      call("comment.add", { workspace_dir: dir, project_id: project, ...target, ...AUTHOR, body: body.trim() }),
    );
    if (!isSent) return;
    setBody("");
    invalidate(["comment.list"], { workspace_dir: dir });
  };
  return (
    <div className="comments">
      {query.data?.map((comment) => (
        <div key={comment.id} className="comment">
          <div className="comment-head">
            <strong>{names.actor(comment.author_id)}</strong>
            <Time at={comment.created_at} />
          </div>
          <p>{comment.body}</p>
        </div>
      ))}
      {query.data?.length === 0 && <p className="muted">No comments yet</p>}
      <form
        className="comment-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (body.trim()) void send();
        }}
      >
        <textarea
          className="input"
          aria-label="Comment"
          placeholder="Add a comment"
          rows={2}
          value={body}
          onChange={(event) => setBody(event.target.value)}
        />
        <Button type="submit" disabled={body.trim() === ""}>
          Comment
        </Button>
      </form>
    </div>
  );
}
