// The sections of the company family, before and after those of the thread tree in the rail.

import { lazy } from "react";
import type { Section } from "../../app/section.ts";
import { CompanyFinder } from "./CompanyFinder.ts";
import { useWaitingCount } from "./count.ts";
import { inCompany, inCompanySidebar } from "./inCompany.tsx";

const home: Section = {
  id: "home",
  title: "Home",
  icon: "home",
  path: "/home",
  Finder: CompanyFinder,
  views: [
    { path: "/home", View: inCompany(lazy(() => import("../home/HomeView.tsx"))) },
    { path: "/open", View: lazy(() => import("./OpenCompany.tsx")) },
    { path: "/home/:project", View: inCompany(lazy(() => import("../home/ProjectView.tsx"))) },
    { path: "/home/:project/doc/:artifact", View: inCompany(lazy(() => import("../home/DocumentView.tsx"))) },
  ],
};

const runs: Section = {
  id: "runs",
  title: "Runs",
  icon: "run",
  path: "/runs",
  Sidebar: inCompanySidebar(lazy(() => import("../run/RunsSidebar.tsx"))),
  views: [
    { path: "/runs", View: inCompany(lazy(() => import("../run/MonitorView.tsx"))) },
    { path: "/runs/:project/:run", View: inCompany(lazy(() => import("../run/RunView.tsx"))) },
    { path: "/sessions", View: inCompany(lazy(() => import("../run/SessionsView.tsx"))) },
    { path: "/jobs", View: inCompany(lazy(() => import("../job/JobsView.tsx"))) },
    { path: "/jobs/:project/:job", View: inCompany(lazy(() => import("../job/JobView.tsx"))) },
  ],
};

const inbox: Section = {
  id: "inbox",
  title: "Inbox",
  icon: "inbox",
  path: "/inbox",
  Sidebar: inCompanySidebar(lazy(() => import("../inbox/InboxSidebar.tsx"))),
  views: [
    { path: "/inbox", View: inCompany(lazy(() => import("../inbox/InboxView.tsx"))) },
    { path: "/inbox/:project/:artifact", View: inCompany(lazy(() => import("../inbox/ItemView.tsx"))) },
  ],
  useCount: useWaitingCount,
};

const plan: Section = {
  id: "plan",
  title: "Plan",
  icon: "plan",
  path: "/plan",
  views: [
    { path: "/plan", View: inCompany(lazy(() => import("../plan/PlansView.tsx"))) },
    { path: "/plan/:project", View: inCompany(lazy(() => import("../plan/PlanView.tsx"))) },
  ],
};

const chat: Section = {
  id: "chat",
  title: "Conversations",
  icon: "chat",
  path: "/chat",
  Sidebar: inCompanySidebar(lazy(() => import("../conversation/ConversationsSidebar.tsx"))),
  views: [
    { path: "/chat", View: inCompany(lazy(() => import("../conversation/ConversationsView.tsx"))) },
    { path: "/chat/:project/:conversation", View: inCompany(lazy(() => import("../conversation/ConversationView.tsx"))) },
  ],
};

const usage: Section = {
  id: "usage",
  title: "Usage",
  icon: "usage",
  path: "/usage",
  views: [{ path: "/usage", View: inCompany(lazy(() => import("../usage/UsageView.tsx"))) }],
};

const people: Section = {
  id: "people",
  title: "People",
  icon: "people",
  path: "/people",
  Sidebar: inCompanySidebar(lazy(() => import("../people/PeopleSidebar.tsx"))),
  views: [
    { path: "/people", View: inCompany(lazy(() => import("../people/PeopleView.tsx"))) },
    { path: "/people/:agent", View: inCompany(lazy(() => import("../people/AgentView.tsx"))) },
    { path: "/heartbeat", View: inCompany(lazy(() => import("../heartbeat/HeartbeatView.tsx"))) },
  ],
};

export const companySections: { before: Section[]; after: Section[] } = {
  before: [home],
  after: [runs, inbox, plan, chat, usage, people],
};
