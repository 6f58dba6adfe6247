// The sections of the company family, before and after those of the thread tree in the rail.

import { lazy } from "react";
import type { Section } from "../../app/section.ts";
import { CompanyFinder } from "./CompanyFinder.ts";
import { useWaitingCount } from "./count.ts";
import { inCompany, inCompanySidebar } from "./inCompany.tsx";

// The address of a section is its list on a phone, so what main shows there has a second one.
const HomeView = inCompany(lazy(() => import("../home/HomeView.tsx")));
const MonitorView = inCompany(lazy(() => import("../run/MonitorView.tsx")));
const PlansView = inCompany(lazy(() => import("../plan/PlansView.tsx")));
const PeopleView = inCompany(lazy(() => import("../people/PeopleView.tsx")));

const home: Section = {
  id: "home",
  title: "Home",
  icon: "home",
  isInBar: true,
  path: "/home",
  Sidebar: inCompanySidebar(lazy(() => import("../home/HomeSidebar.tsx"))),
  Finder: CompanyFinder,
  views: [
    { path: "/home", View: HomeView },
    { path: "/overview", View: HomeView },
    { path: "/open", View: lazy(() => import("./OpenCompany.tsx")) },
    { path: "/home/:project", View: inCompany(lazy(() => import("../home/ProjectView.tsx"))) },
    { path: "/home/:project/doc/:artifact", View: inCompany(lazy(() => import("../home/DocumentView.tsx"))) },
  ],
};

const runs: Section = {
  id: "runs",
  title: "Runs",
  icon: "run",
  isInBar: true,
  path: "/runs",
  Sidebar: inCompanySidebar(lazy(() => import("../run/RunsSidebar.tsx"))),
  views: [
    { path: "/runs", View: MonitorView },
    { path: "/live", View: MonitorView },
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
  isInBar: true,
  path: "/inbox",
  // Proposals for AGENTS.md files wait in every workspace, with a company folder or without.
  Sidebar: lazy(() => import("../inbox/InboxSidebar.tsx")),
  views: [
    { path: "/inbox", View: lazy(() => import("../inbox/InboxView.tsx")) },
    { path: "/inbox/agents/:proposal", View: lazy(() => import("../proposal/ProposalView.tsx")) },
    { path: "/inbox/:project/:artifact", View: inCompany(lazy(() => import("../inbox/ItemView.tsx"))) },
  ],
  useCount: useWaitingCount,
};

const plan: Section = {
  id: "plan",
  title: "Plan",
  icon: "plan",
  isInBar: true,
  path: "/plan",
  Sidebar: inCompanySidebar(lazy(() => import("../plan/PlansSidebar.tsx"))),
  views: [
    { path: "/plan", View: PlansView },
    { path: "/plans", View: PlansView },
    { path: "/plan/:project", View: inCompany(lazy(() => import("../plan/PlanView.tsx"))) },
    { path: "/pipelines", View: inCompany(lazy(() => import("../pipeline/PipelinesView.tsx"))) },
    { path: "/pipelines/:project", View: inCompany(lazy(() => import("../pipeline/PipelineView.tsx"))) },
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
    {
      path: "/chat/:project/:conversation",
      View: inCompany(lazy(() => import("../conversation/ConversationView.tsx"))),
    },
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
    { path: "/people", View: PeopleView },
    { path: "/teams", View: PeopleView },
    { path: "/people/:agent", View: inCompany(lazy(() => import("../people/AgentView.tsx"))) },
    { path: "/heartbeat", View: inCompany(lazy(() => import("../heartbeat/HeartbeatView.tsx"))) },
  ],
};

export const companySections: { before: Section[]; after: Section[] } = {
  before: [home],
  after: [runs, inbox, plan, chat, usage, people],
};
