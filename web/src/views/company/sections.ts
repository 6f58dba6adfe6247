// The sections of the company family, before and after that of the thread tree.

import { later } from "../../app/later.tsx";
import type { Section } from "../../app/section.ts";
import { CompanyFinder } from "./CompanyFinder.ts";
import { useWaitingCount } from "./count.ts";
import { inCompany, inCompanySidebar } from "./inCompany.tsx";

// On a phone the address of a section shows its sidebar, so the view in main has a second address.
const HomeView = inCompany(later(() => import("../home/HomeView.tsx")));
const MonitorView = inCompany(later(() => import("../run/MonitorView.tsx")));
const PlansView = inCompany(later(() => import("../plan/PlansView.tsx")));
const PeopleView = inCompany(later(() => import("../people/PeopleView.tsx")));

const home: Section = {
  id: "home",
  title: "Home",
  icon: "home",
  isInBar: true,
  path: "/home",
  Sidebar: inCompanySidebar(later(() => import("../home/HomeSidebar.tsx"))),
  Finder: CompanyFinder,
  views: [
    { path: "/home", View: HomeView },
    { path: "/overview", View: HomeView },
    { path: "/open", View: later(() => import("./OpenCompany.tsx")) },
    { path: "/home/:project", View: inCompany(later(() => import("../home/ProjectView.tsx"))) },
    { path: "/home/:project/doc/:artifact", View: inCompany(later(() => import("../home/DocumentView.tsx"))) },
    {
      path: "/home/:project/evidence/:report/:evidence",
      View: inCompany(later(() => import("../home/EvidenceView.tsx"))),
    },
  ],
};

const runs: Section = {
  id: "runs",
  title: "Runs",
  icon: "run",
  isInBar: true,
  path: "/runs",
  Sidebar: inCompanySidebar(later(() => import("../run/RunsSidebar.tsx"))),
  views: [
    { path: "/runs", View: MonitorView },
    { path: "/live", View: MonitorView },
    { path: "/runs/:project/:run", View: inCompany(later(() => import("../run/RunView.tsx"))) },
    { path: "/sessions", View: inCompany(later(() => import("../run/SessionsView.tsx"))) },
    { path: "/jobs", View: inCompany(later(() => import("../job/JobsView.tsx"))) },
    { path: "/jobs/:project/:job", View: inCompany(later(() => import("../job/JobView.tsx"))) },
    { path: "/pipelines", View: inCompany(later(() => import("../pipeline/PipelinesView.tsx"))) },
    { path: "/pipelines/:project", View: inCompany(later(() => import("../pipeline/PipelineView.tsx"))) },
  ],
};

const inbox: Section = {
  id: "inbox",
  title: "Inbox",
  icon: "inbox",
  isInBar: true,
  path: "/inbox",
  // Every workspace can have proposals for AGENTS.md files, also without a company folder.
  Sidebar: later(() => import("../inbox/InboxSidebar.tsx")),
  views: [
    { path: "/inbox", View: later(() => import("../inbox/InboxView.tsx")) },
    { path: "/inbox/agents/:proposal", View: later(() => import("../proposal/ProposalView.tsx")) },
    { path: "/inbox/:project/:artifact", View: inCompany(later(() => import("../inbox/ItemView.tsx"))) },
  ],
  useCount: useWaitingCount,
};

const plan: Section = {
  id: "plan",
  title: "Plan",
  icon: "plan",
  isInBar: true,
  path: "/plan",
  Sidebar: inCompanySidebar(later(() => import("../plan/PlansSidebar.tsx"))),
  views: [
    { path: "/plan", View: PlansView },
    { path: "/plans", View: PlansView },
    { path: "/plan/:project", View: inCompany(later(() => import("../plan/PlanView.tsx"))) },
  ],
};

const chat: Section = {
  id: "chat",
  title: "Conversations",
  description: "Messages between you and the agents and teams of the company.",
  icon: "chat",
  path: "/chat",
  Sidebar: inCompanySidebar(later(() => import("../conversation/ConversationsSidebar.tsx"))),
  views: [
    { path: "/chat", View: inCompany(later(() => import("../conversation/ConversationsView.tsx"))) },
    {
      path: "/chat/:project/:conversation",
      View: inCompany(later(() => import("../conversation/ConversationView.tsx"))),
    },
  ],
};

const usage: Section = {
  id: "usage",
  title: "Usage",
  icon: "usage",
  path: "/usage",
  views: [{ path: "/usage", View: inCompany(later(() => import("../usage/UsageView.tsx"))) }],
};

const people: Section = {
  id: "people",
  title: "People",
  icon: "people",
  path: "/people",
  Sidebar: inCompanySidebar(later(() => import("../people/PeopleSidebar.tsx"))),
  views: [
    { path: "/people", View: PeopleView },
    { path: "/teams", View: PeopleView },
    { path: "/people/:agent", View: inCompany(later(() => import("../people/AgentView.tsx"))) },
    { path: "/heartbeat", View: inCompany(later(() => import("../heartbeat/HeartbeatView.tsx"))) },
  ],
};

export const companySections: { before: Section[]; after: Section[] } = {
  before: [home],
  after: [runs, inbox, plan, chat, usage, people],
};

/** Returns whether a section shows the company folder of the workspace. */
export const isOfCompany = (section: Section) =>
  [...companySections.before, ...companySections.after].includes(section);
