// A conversation: its messages and a field to reply. Unsent text is kept as a draft.

import "../company/company.css";
import "./conversation.css";
import type { ConversationMessage } from "@accord/client";
import { useEffect, useRef } from "react";
import { Inspector, InspectorPart, InspectorToggle } from "../../app/Inspector.tsx";
import { Page } from "../../app/Page.tsx";
import { attempt, call, invalidate, useCall } from "../../data/calls.ts";
import { useDraft } from "../../data/drafts.ts";
import { useKeys } from "../../keys/keys.ts";
import { IconButton } from "../../parts/Button.tsx";
import { Markdown } from "../../parts/Markdown.tsx";
import { Await, Empty } from "../../parts/states.tsx";
import { Time } from "../../parts/Time.tsx";
import { Link } from "../../router.tsx";
import { at, COMPANY } from "../company/address.ts";
import { Avatar } from "../company/Avatar.tsx";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { AUTHOR, ME } from "../company/me.ts";
import { audience, shortId, useNames, type Names } from "../company/names.ts";

export default function ConversationView({ workspace, dir, params }: CompanyViewProps) {
  const conversation_id = params["conversation"] ?? "";
  const project = params["project"] === COMPANY ? undefined : params["project"];
  const where = project
    ? ({ workspace_dir: dir, scope: "project", project_id: project } as const)
    : ({ workspace_dir: dir, scope: "workspace" } as const);
  const names = useNames(dir);
  const list = useCall("conversation.list", { ...where, ...ME }).data;
  const conversation = list?.find(({ id }) => id === conversation_id);
  const query = useCall("conversation.messages.list", { ...where, conversation_id, ...ME });
  const [body, setBody] = useDraft(`conversation.${dir}.${conversation_id}`);
  const field = useRef<HTMLTextAreaElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const isDirect = conversation?.kind === "dm";
  const title = isDirect
    ? names.actor(conversation.dm_peer_agent_id)
    : (conversation?.name ?? shortId(conversation_id));
  useKeys("This conversation", [{ key: "r", label: "Reply", run: () => field.current?.focus() }]);
  const last = query.data?.at(-1)?.id;
  // In braces: `scrollIntoView` returns a promise in newer browsers, which is not a cleanup function.
  useEffect(() => {
    end.current?.scrollIntoView({ block: "end" });
  }, [last]);

  const send = async () => {
    const text = body.trim();
    if (!text) return;
    const isSent = await attempt("Sending", () =>
      call("conversation.message.send", {
        ...where,
        conversation_id,
        ...AUTHOR,
        body: text,
        mentions: mentioned(text, names),
      }),
    );
    if (!isSent) return;
    setBody("");
    invalidate(["conversation.messages.list"], { workspace_dir: dir, conversation_id });
  };
  return (
    <Page
      title={title}
      back={at.conversations(workspace)}
      crumbs={project ? [{ label: names.project(project), to: at.project(workspace, project) }] : []}
      state={isDirect ? "Direct message" : conversation && `Visible to: ${audience(conversation.visibility)}`}
      actions={<InspectorToggle />}
    >
      <Await query={query}>
        {(messages) =>
          messages.length === 0 ? (
            <Empty icon="chat" title="No messages yet">
              Write the first message below. Agents read it the next time they run. Use @name to mention an agent.
            </Empty>
          ) : (
            <ol className="messages" aria-label="Messages">
              {messages.map((message, i) => (
                <Message
                  key={message.id}
                  message={message}
                  before={messages[i - 1]}
                  names={names}
                  workspace={workspace}
                />
              ))}
            </ol>
          )
        }
      </Await>
      <div ref={end} />
      <form
        className="speak"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <textarea
          ref={field}
          className="input"
          aria-label="Message"
          placeholder={`Message ${title}`}
          rows={2}
          value={body}
          onChange={(event) => setBody(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") event.currentTarget.blur();
            if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            void send();
          }}
        />
        <IconButton label="Send" icon="send" type="submit" hotkey="Enter" disabled={body.trim() === ""} />
      </form>
      {conversation && (
        <Inspector title="Conversation">
          <InspectorPart title="Members">
            <ul className="members">
              {conversation.participants.agent_ids.map((id) => (
                <li key={id}>
                  <Avatar name={names.actor(id)} />
                  <Link to={at.agent(workspace, id)}>{names.actor(id)}</Link>
                </li>
              ))}
              {conversation.participants.team_ids.map((id) => (
                <li key={id}>
                  <Avatar name={names.team(id)} />
                  Team {names.team(id)}
                </li>
              ))}
            </ul>
          </InspectorPart>
          <InspectorPart title="Details">
            <dl className="facts">
              <dt>Visible to</dt>
              <dd>{audience(conversation.visibility)}</dd>
              <dt>Created</dt>
              <dd>
                <Time at={conversation.created_at} /> by {names.actor(conversation.created_by)}
              </dd>
            </dl>
          </InspectorPart>
        </Inspector>
      )}
    </Page>
  );
}

/** Returns the agents that the text mentions with @. */
function mentioned(text: string, names: Names): string[] {
  const lower = text.toLowerCase();
  return names.agents.filter(({ name }) => lower.includes(`@${name.toLowerCase()}`)).map(({ agent_id }) => agent_id);
}

/** Milliseconds within which messages of one author are grouped. */
const TOGETHER = 5 * 60_000;

function Message({
  message,
  before,
  names,
  workspace,
}: {
  message: ConversationMessage;
  before: ConversationMessage | undefined;
  names: Names;
  workspace: string;
}) {
  const isSame =
    before?.author_id === message.author_id &&
    Date.parse(message.created_at) - Date.parse(before.created_at) < TOGETHER;
  const name = names.actor(message.author_id);
  const isAgent = names.agents.some(({ agent_id }) => agent_id === message.author_id);
  return (
    <li className={isSame ? "message same" : "message"}>
      {isSame ? <span /> : <Avatar name={name} />}
      <div>
        {!isSame && (
          <div className="message-head">
            {isAgent ? <Link to={at.agent(workspace, message.author_id)}>{name}</Link> : <strong>{name}</strong>}
            {message.kind && message.kind !== "text" && <span className="tag">{message.kind}</span>}
            <Time at={message.created_at} />
          </div>
        )}
        <Markdown text={message.body} />
      </div>
    </li>
  );
}
