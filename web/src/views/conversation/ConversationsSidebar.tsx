// The sidebar of the Conversations section: channels of the company and its projects, and direct messages.

import "../company/company.css";
import "../company/side.css";
import type { Conversation } from "@accord/client";
import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { callOptions, useCall } from "../../data/calls.ts";
import { usePalette } from "../../palette/registry.ts";
import { IconButton } from "../../parts/Button.tsx";
import { Icon } from "../../parts/Icon.tsx";
import { Loading } from "../../parts/states.tsx";
import { Link, navigate } from "../../router.tsx";
import { at } from "../company/address.ts";
import type { CompanyViewProps } from "../company/inCompany.tsx";
import { ME } from "../company/me.ts";
import { useNames } from "../company/names.ts";
import { NewConversation } from "./NewConversation.tsx";

export default function ConversationsSidebar({ workspace, dir, params }: CompanyViewProps) {
  const names = useNames(dir);
  const company = useCall("conversation.list", { workspace_dir: dir, scope: "workspace", ...ME });
  const projects = useQueries({
    queries: names.projects.map(({ project_id }) =>
      callOptions("conversation.list", { workspace_dir: dir, scope: "project", project_id, ...ME }),
    ),
  });
  const [isNew, setNew] = useState(false);
  const groups = [
    { title: "Company", list: company.data ?? [] },
    ...names.projects.map(({ name }, i) => ({ title: name, list: projects[i]?.data ?? [] })),
  ];
  const all = groups.flatMap(({ title, list }) => list.map((conversation) => ({ title, conversation })));
  const direct = all.filter(({ conversation }) => conversation.kind === "dm").map(({ conversation }) => conversation);
  usePalette({
    group: "Conversations",
    find: () =>
      all.map(({ title, conversation }) => ({
        id: `${title}-${conversation.id}`,
        title: conversation.name,
        hint: title,
        icon: "chat",
        run: () => navigate(at.conversation(workspace, conversation.project_id, conversation.id)),
      })),
  });
  const link = (conversation: Conversation) => (
    <Link
      key={conversation.id}
      className="side-link"
      to={at.conversation(workspace, conversation.project_id, conversation.id)}
      aria-current={conversation.id === params["conversation"] ? "page" : undefined}
    >
      <Icon name={conversation.kind === "dm" ? "people" : conversation.kind === "home" ? "home" : "chat"} />
      <span>{conversation.kind === "dm" ? names.actor(conversation.dm_peer_agent_id) : conversation.name}</span>
    </Link>
  );
  return (
    <>
      <div className="sidebar-head">
        <h2>Conversations</h2>
        <IconButton label="New conversation" icon="plus" onClick={() => setNew(true)} />
      </div>
      <div className="side-scroll">
        {company.isLoading && <Loading />}
        {direct.length > 0 && (
          <>
            <h3 className="side-heading">Direct messages</h3>
            <div className="side-links">{direct.map(link)}</div>
          </>
        )}
        {groups.map(({ title, list }) => (
          <details key={title} className="side-group" open>
            <summary className="side-heading">{title}</summary>
            <div className="side-links">{list.filter(({ kind }) => kind !== "dm").map(link)}</div>
          </details>
        ))}
      </div>
      {isNew && <NewConversation workspace={workspace} dir={dir} names={names} onClose={() => setNew(false)} />}
    </>
  );
}
