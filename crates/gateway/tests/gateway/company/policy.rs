//! No method shows or lets an actor decide anything that the policy table forbids.
//!
//! Every object in the company carries a unique mark. A mark anywhere in a response means that its object was shown.

use std::{fs, path::Path, sync::Arc};

use protocol::{
    Access, Dialect, Id as _,
    company::{ProjectId, RunId, Visibility},
    methods,
};
use rpc::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::TestGateway;

const ROUNDS: u64 = 4;
/// The number of marked objects of each kind, and the number of actors that query them.
const OF_EACH: usize = 5;
const ASKING: usize = 5;

const AGENTS: [(&str, &str, &str); 5] = [
    ("agent_a", "worker", "team_a"),
    ("agent_b", "worker", "team_b"),
    ("agent_m", "manager", "team_a"),
    ("agent_d", "director", "team_b"),
    ("agent_c", "ceo", "team_a"),
];
const ROLES: [&str; 5] = ["worker", "manager", "director", "ceo", "human"];
const VISIBILITIES: [&str; 4] = ["org", "managers", "team", "private_agent"];

/// A deterministic pseudo-random number generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// The actor of a call.
#[derive(Clone, Debug)]
struct Actor {
    id: String,
    role: &'static str,
    team: Option<&'static str>,
}

impl Actor {
    fn height(&self) -> usize {
        let place = ROLES.iter().position(|role| *role == self.role);
        place.expect("one of them")
    }
}

/// An object with a mark.
#[derive(Clone, Debug)]
struct Bearer {
    mark: String,
    kind: Kind,
    visibility: &'static str,
    /// The agent that created the object, and its team.
    maker: &'static str,
    team: &'static str,
    is_restricted: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// A document, a comment, an event or a task, visible according to its `visibility`.
    Plain,
    /// A help request to an agent.
    HelpRequest { asked: &'static str },
    /// A message in a channel of which its author is a member.
    Message { channel: &'static str },
    /// The channel itself.
    Channel,
}

impl Bearer {
    /// The policy table, expressed as the conditions under which access is granted.
    fn may_see(&self, actor: &Actor) -> bool {
        if self.is_restricted && actor.height() < 2 {
            return false;
        }
        let is_maker = actor.id == self.maker;
        let by_visibility = |visibility: &str| match visibility {
            "org" => true,
            "managers" => actor.height() >= 1 || is_maker,
            "team" => actor.height() >= 1 || actor.team == Some(self.team) || is_maker,
            _ => actor.role == "human" || is_maker,
        };
        let reads_along = |channel: &str| match channel {
            "org" => true,
            "managers" => actor.height() >= 1 || is_maker,
            _ => actor.height() >= 3 || is_maker,
        };
        match &self.kind {
            Kind::Plain => by_visibility(self.visibility),
            Kind::HelpRequest { asked } => by_visibility(self.visibility) || actor.id == *asked,
            Kind::Channel => reads_along(self.visibility),
            Kind::Message { channel } => {
                reads_along(channel)
                    && (self.visibility == *channel || by_visibility(self.visibility))
            }
        }
    }

    /// Being the creator gives no right to decide.
    fn may_decide(&self, actor: &Actor, least: usize) -> bool {
        let is_seen = match self.visibility {
            "private_agent" => actor.role == "human",
            _ => true,
        };
        actor.height() >= least && is_seen
    }
}

struct Company {
    running: TestGateway,
    owner: Client,
    folder: TempDir,
    project: String,
    run: Value,
    share_pack: String,
    channels: Vec<String>,
    bearers: Vec<Bearer>,
    /// Documents that await a decision.
    pending: Vec<(String, Bearer, usize)>,
}

#[expect(clippy::disallowed_methods, reason = "a test plants files")]
fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    fs::write(path, text).expect("a file");
}

impl Company {
    async fn new(numbers: &mut Numbers) -> Self {
        let running = testkit::gateway().await;
        let owner = running.client();
        let folder = tempfile::tempdir().expect("a folder");
        let mut company = Self {
            running,
            owner,
            folder,
            project: String::new(),
            run: Value::Null,
            share_pack: String::new(),
            channels: Vec::new(),
            bearers: Vec::new(),
            pending: Vec::new(),
        };
        company
            .must("workspace.init", json!({"company_name": "Acme"}))
            .await;
        let made = company
            .must(
                "workspace.project.create_with_defaults",
                json!({"name": "Alpha"}),
            )
            .await;
        company.project = made["project_id"].as_str().expect("an id").to_owned();
        for (id, role, team) in AGENTS {
            put(
                &company.path(&format!("org/agents/{id}/agent.yaml")),
                &format!(
                    "schema_version: 1\ntype: agent\nid: {id}\nname: {id}\nrole: {role}\nprovider: codex\n\
                     team_id: {team}\ncreated_at: \"2025-11-01T00:00:00.000Z\"\n"
                ),
            );
        }
        company.run = company
            .must(
                "run.create",
                // An agent without a team, so that all actors may see the run and only the visibility of its events
                // differs.
                json!({"agent_id": "agent_free", "provider": "cmd"}),
            )
            .await;
        for number in 0..OF_EACH {
            company.fill(numbers, number).await;
        }
        let pack = company.must("sharepack.create", json!({})).await;
        company.share_pack = pack["share_pack_id"].as_str().expect("an id").to_owned();
        company
    }

    fn path(&self, relative: &str) -> std::path::PathBuf {
        self.folder.path().join(relative)
    }

    fn with_folder(&self, mut params: Value) -> Value {
        params["workspace_dir"] = json!(self.folder.path());
        if params.get("project_id").is_none() && !self.project.is_empty() {
            params["project_id"] = json!(self.project);
        }
        params
    }

    async fn must(&self, method: &str, params: Value) -> Value {
        let answer = self.owner.call_raw(method, self.with_folder(params)).await;
        answer.unwrap_or_else(|error| panic!("{method}: {error:?}"))
    }

    fn bearer(&mut self, numbers: &mut Numbers, name: &str, number: usize) -> Bearer {
        let (maker, _, team) = numbers.of(&AGENTS);
        Bearer {
            mark: format!("{name}mark{number}end"),
            kind: Kind::Plain,
            visibility: numbers.of(&VISIBILITIES),
            maker,
            team,
            is_restricted: false,
        }
    }

    /// Creates one object of every kind.
    async fn fill(&mut self, numbers: &mut Numbers, number: usize) {
        let (project, run) = (self.project.clone(), self.run["run_id"].clone());
        let run = run.as_str().expect("an id");
        let time = "2025-11-01T00:00:00.000Z";

        for (kind, headings) in [
            ("manager_digest", "## Summary\n\n## Decisions\n\n## Risks\n"),
            ("proposal", "## Summary\n\n## Plan\n\n## Risks\n"),
            ("milestone_report", "## Summary\n\n## Evidence\n\n## Next\n"),
        ] {
            let bearer = self.bearer(numbers, kind.split('_').next().expect("a word"), number);
            let Bearer {
                mark,
                visibility,
                maker,
                ..
            } = &bearer;
            let id = format!("art_{kind}_{number}");
            let of_report = match kind {
                "milestone_report" => format!(
                    "project_id: {project}\ntask_id: task_{number}\nmilestone_id: ms_1\nevidence_artifacts: []\n"
                ),
                _ => String::new(),
            };
            put(
                &self.path(&format!("work/projects/{project}/artifacts/{id}.md")),
                &format!(
                    "---\nschema_version: 1\ntype: {kind}\nid: {id}\ncreated_at: \"{time}\"\ntitle: On {mark}\n\
                     visibility: {visibility}\nproduced_by: {maker}\nrun_id: {run}\ncontext_pack_id: ctx_1\n{of_report}---\n\n\
                     # On {mark}\n\n{headings}"
                ),
            );
            if kind == "milestone_report" {
                self.pending.push((id, bearer.clone(), 1));
            }
            self.bearers.push(bearer);
        }

        let mut delta = self.bearer(numbers, "delta", number);
        delta.is_restricted = delta.visibility != "org" && numbers.below(2) == 0;
        let sensitivity = if delta.is_restricted {
            "restricted"
        } else {
            "internal"
        };
        let proposed = self
            .must(
                "memory.propose_delta",
                json!({
                    "title": format!("Know {}", delta.mark), "scope_kind": "project_memory", "sensitivity": sensitivity,
                    "rationale": format!("For {}", delta.mark), "under_heading": "## Decisions",
                    "insert_lines": ["- a line"], "visibility": delta.visibility, "produced_by": delta.maker,
                    "run_id": run, "context_pack_id": self.run["context_pack_id"], "evidence": ["art_e"],
                }),
            )
            .await;
        let id = proposed["artifact_id"].as_str().expect("an id").to_owned();
        if numbers.below(2) == 0 {
            let notes = format!("As {} says", delta.mark);
            self.must(
                "memory.approve_delta",
                json!({"artifact_id": id, "actor_id": "human", "actor_role": "human", "notes": notes}),
            )
            .await;
        } else {
            self.pending.push((id, delta.clone(), 2));
        }
        self.bearers.push(delta);

        let mut help = self.bearer(numbers, "help", number);
        let asked = numbers.of(&AGENTS).0;
        help.kind = Kind::HelpRequest { asked };
        put(
            &self.path(&format!("inbox/help_requests/help_{number}.md")),
            &format!(
                "---\nschema_version: 1\ntype: help_request\nid: help_{number}\ncreated_at: \"{time}\"\ntitle: {}\n\
                 visibility: {}\nrequester: {}\ntarget_manager: {asked}\n---\n\n# How\n\n## Question\n\nHow?\n\n## Response\n",
                help.mark, help.visibility, help.maker
            ),
        );
        self.bearers.push(help);

        let task = self.bearer(numbers, "task", number);
        put(
            &self.path(&format!("work/projects/{project}/tasks/task_{number}.md")),
            &format!(
                "---\nschema_version: 1\ntype: task\nid: task_{number}\nproject_id: {project}\ntitle: {}\n\
                 created_at: \"{time}\"\nstatus: draft\nvisibility: {}\nassignee_agent_id: {}\n\
                 milestones:\n  - id: ms_1\n    title: One\n    kind: planning\n    status: ready\n    acceptance_criteria: []\n\
                 ---\n\n# Work\n\n## Contract\n\n## Milestones\n",
                task.mark, task.visibility, task.maker
            ),
        );
        self.bearers.push(task);

        let comment = self.bearer(numbers, "comment", number);
        self.comment(&comment).await;
        self.bearers.push(comment);

        let mut channel = self.bearer(numbers, "channel", number);
        channel.kind = Kind::Channel;
        let made = self
            .must(
                "conversation.create_channel",
                json!({
                    "scope": "project", "name": format!("Of {}", channel.mark), "slug": format!("channel-{number}"),
                    "visibility": channel.visibility, "created_by": "human",
                    "participant_agent_ids": [channel.maker],
                }),
            )
            .await;
        let id = made["id"].as_str().expect("an id").to_owned();
        let message = Bearer {
            mark: format!("messagemark{number}end"),
            kind: Kind::Message {
                channel: channel.visibility,
            },
            visibility: numbers.of(&VISIBILITIES),
            ..channel.clone()
        };
        let role = AGENTS.iter().find(|(id, ..)| *id == message.maker);
        self.must(
            "conversation.message.send",
            json!({
                "scope": "project", "conversation_id": id, "author_id": message.maker,
                "author_role": role.expect("one of them").1, "body": message.mark, "visibility": message.visibility,
            }),
        )
        .await;
        self.channels.push(id);
        self.bearers.extend([channel, message]);

        let event = self.bearer(numbers, "event", number);
        self.append(&event);
        self.bearers.push(event);
    }

    /// Adds a comment on the run.
    async fn comment(&self, bearer: &Bearer) {
        let role = AGENTS.iter().find(|(id, ..)| *id == bearer.maker);
        self.must(
            "comment.add",
            json!({
                "author_id": bearer.maker, "author_role": role.expect("one of them").1, "body": bearer.mark,
                "target_agent_id": "agent_a", "target_run_id": self.run["run_id"], "visibility": bearer.visibility,
            }),
        )
        .await;
    }

    fn append(&self, bearer: &Bearer) {
        let sources = company::Sources::new(Arc::new(|| 1_777_900_000_000));
        let others =
            company::Companies::new(sources, company::Trust::everywhere(), Arc::new(|_, _| {}));
        let dir = self.folder.path().to_str().expect("a path that is text");
        let company = others.open(dir).expect("a company folder");
        let visibility: Visibility =
            serde_json::from_value(json!(bearer.visibility)).expect("one of them");
        let run = RunId::parse(self.run["run_id"].as_str().expect("an id")).expect("an id");
        let event = company::event_log::Event {
            ts_wallclock: company.sources().now_text(),
            run_id: run.clone(),
            session_ref: "local".to_owned(),
            actor: bearer.maker.to_owned(),
            visibility,
            event_type: format!("said.{}", bearer.mark),
            payload: company::event_log::Payload::new(&json!({"text": bearer.mark})).expect("JSON"),
            event_id: company.sources().id(),
            correlation_id: None,
            causation_id: None,
            ts_monotonic_ms: 0,
        };
        let project = ProjectId::parse(&self.project).expect("an id");
        company
            .append_events(&project, &run, &[event])
            .expect("an event");
    }

    /// Returns params with every field a method may need, except the actor.
    fn params(&self, method: &str, bearer: &Bearer, channel: &str) -> Value {
        let kind = bearer.mark.split("mark").next().expect("a word");
        let number = bearer.mark.trim_end_matches("end").rsplit("mark").next();
        let document = match kind {
            "manager" => "art_manager_digest_",
            "proposal" => "art_proposal_",
            _ => "art_milestone_report_",
        };
        let params = json!({
            "scope": "project", "view": "activities", "conversation_id": channel,
            "run_id": self.run["run_id"], "share_pack_id": self.share_pack, "agent_id": "agent_a",
            "artifact_id": format!("{document}{}", number.unwrap_or_default()),
            "query": bearer.mark, "goal": format!("Know {}", bearer.mark), "limit": 200, "monitor_limit": 200,
            "max_refs": 200, "job_id": "job_x", "session_ref": "local_x", "format": "csv", "status": "all",
        });
        let mut params = self.with_folder(params);
        let is_about_runs = matches!(
            method,
            "comment.list" | "index.list_runs" | "job.list" | "session.list"
        );
        if is_about_runs && let Some(members) = params.as_object_mut() {
            members.remove("status");
        }
        params
    }

    /// Asserts that a response contains nothing forbidden. Returns the marked objects in it.
    fn check<'a>(&'a self, what: &str, answer: &Value, actor: &Actor) -> Vec<&'a Bearer> {
        let mut text = answer.to_string();
        // The response repeats the search query.
        if let Some(goal) = answer["query"].as_str() {
            text = text.replace(goal, "");
        }
        let shown: Vec<&Bearer> = self
            .bearers
            .iter()
            .filter(|bearer| text.contains(&bearer.mark))
            .collect();
        for bearer in &shown {
            assert!(
                bearer.may_see(actor),
                "{what} shows {actor:?} {bearer:?}: {answer:#}"
            );
        }
        shown
    }
}

fn any_actor(numbers: &mut Numbers) -> Actor {
    if numbers.below(3) == 0 {
        return Actor {
            id: "somebody".to_owned(),
            role: numbers.of(&ROLES),
            team: numbers.of(&[None, Some("team_a"), Some("team_b")]),
        };
    }
    let (id, role, team) = numbers.of(&AGENTS);
    let highest = ROLES.iter().position(|one| *one == role).expect("a role");
    Actor {
        id: id.to_owned(),
        role: ROLES[numbers.below(highest + 1)],
        team: Some(team),
    }
}

/// Methods that take the actor from their params.
const WITH_ACTOR: [&str; 16] = [
    "artifact.read",
    "comment.list",
    "context.plan_for_job",
    "conversation.list",
    "conversation.messages.list",
    "inbox.list_help_requests",
    "inbox.list_reviews",
    "inbox.snapshot",
    "index.list_events",
    "index.search",
    "memory.list_deltas",
    "monitor.snapshot",
    "run.replay",
    "sharepack.replay",
    "ui.snapshot",
    "events.subscribe",
];

#[tokio::test]
async fn nobody_is_shown_what_the_table_forbids_on_any_path() {
    let mut shown = std::collections::BTreeMap::<&str, usize>::new();
    for round in 0..ROUNDS {
        let mut numbers = Numbers(77 + round);
        let company = Company::new(&mut numbers).await;
        for _ in 0..ASKING {
            let actor = any_actor(&mut numbers);
            for method in WITH_ACTOR {
                if method == "events.subscribe" {
                    continue;
                }
                let bearer = &company.bearers[numbers.below(company.bearers.len())];
                let channel = &company.channels[numbers.below(company.channels.len())];
                let mut params = company.params(method, bearer, channel);
                for who in ["actor", "manager_actor"] {
                    params[format!("{who}_id")] = json!(actor.id);
                }
                params["actor_role"] = json!(actor.role);
                params["manager_role"] = json!(actor.role);
                if actor.id == "somebody" {
                    params["actor_team_id"] = json!(actor.team);
                    params["manager_team_id"] = json!(actor.team);
                }
                if let Ok(answer) = company.owner.call_raw(method, params).await {
                    *shown.entry(method).or_default() +=
                        company.check(method, &answer, &actor).len();
                }
            }
        }
        // Calls with a token need not name an actor.
        for role in ["worker", "manager", "director", "ceo"] {
            let client = company.running.client_with_role(role, &["read"], &[]).await;
            let actor = Actor {
                id: "somebody".to_owned(),
                role,
                team: None,
            };
            for (family, method) in methods() {
                let is_read = family.dialect == Dialect::Company && method.access == Access::Read;
                if !is_read || method.name.starts_with("events.") {
                    continue;
                }
                let bearer = &company.bearers[numbers.below(company.bearers.len())];
                let channel = &company.channels[numbers.below(company.channels.len())];
                let mut params = company.params(method.name, bearer, channel);
                if matches!(method.name, "artifact.read" | "memory.list_deltas") {
                    params["actor_id"] = json!("somebody");
                    params["actor_role"] = json!(role);
                }
                params["manager_actor_id"] = json!("somebody");
                params["manager_role"] = json!(role);
                if method.name == "desktop.bootstrap.snapshot" {
                    params["actor_id"] = json!("somebody");
                }
                if let Ok(answer) = client.call_raw(method.name, params).await {
                    *shown.entry(method.name).or_default() +=
                        company.check(method.name, &answer, &actor).len();
                }
            }
        }
    }
    for method in WITH_ACTOR {
        assert!(
            method == "events.subscribe" || shown.get(method).is_some_and(|count| *count > 0),
            "{method} never shows anything: {shown:?}"
        );
    }
}

#[tokio::test]
async fn nobody_hears_of_events_the_table_forbids_neither_old_nor_new_ones() {
    for round in 0..ROUNDS {
        let mut numbers = Numbers(1_000 + round);
        let mut company = Company::new(&mut numbers).await;
        let mut listeners = Vec::new();
        for _ in 0..ASKING {
            let actor = any_actor(&mut numbers);
            let client = company.running.client();
            let mut params = company.with_folder(json!({
                "subscription_id": "all", "backfill_limit": 500, "actor_id": actor.id, "actor_role": actor.role,
            }));
            if actor.id == "somebody" {
                params["actor_team_id"] = json!(actor.team);
            }
            let subscribed = client.call_raw("events.subscribe", params).await;
            subscribed.expect("a subscription");
            listeners.push((actor, client));
        }
        for number in 100..100 + OF_EACH {
            let comment = company.bearer(&mut numbers, "live", number);
            company.comment(&comment).await;
            company.bearers.push(comment);
        }
        let end = Bearer {
            mark: "thisistheend".to_owned(),
            visibility: "org",
            ..company.bearers[0].clone()
        };
        company.comment(&end).await;
        for (actor, client) in &listeners {
            loop {
                let told = client.notification().await.expect("a connection");
                company.check("events.subscribe", &told.params, actor);
                if told.params.to_string().contains(&end.mark) {
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn nobody_decides_what_the_table_forbids() {
    for round in 0..ROUNDS {
        let mut numbers = Numbers(2_000 + round);
        let company = Company::new(&mut numbers).await;
        for (id, bearer, least) in &company.pending {
            let mut is_decided = false;
            for turn in 0..ASKING {
                let actor = any_actor(&mut numbers);
                let method = match (least, turn % 3) {
                    (_, 0) => "inbox.resolve",
                    (_, 1) => "ui.resolve",
                    (2, _) => "memory.approve_delta",
                    _ => "milestone.approve",
                };
                let number = id.rsplit('_').next().expect("a number");
                let mut params = company.with_folder(json!({
                    "artifact_id": id, "report_artifact_id": id, "task_id": format!("task_{number}"),
                    "milestone_id": "ms_1", "decision": "approved", "actor_id": actor.id, "actor_role": actor.role,
                }));
                if actor.id == "somebody" {
                    params["actor_team_id"] = json!(actor.team);
                }
                let answer = company.owner.call_raw(method, params).await;
                let reason = match &answer {
                    Ok(answer) => {
                        company.check(method, answer, &actor);
                        "done".to_owned()
                    }
                    Err(rpc::client::Error::Rpc { data, .. }) => {
                        data["reason_code"].as_str().unwrap_or_default().to_owned()
                    }
                    Err(error) => panic!("{error}"),
                };
                let expected = match (bearer.may_decide(&actor, *least), is_decided) {
                    (false, _) => "POLICY_DENIED",
                    (true, true) => "ALREADY_DECIDED",
                    (true, false) => "done",
                };
                assert_eq!(reason, expected, "{method} {actor:?} {bearer:?} {answer:?}");
                is_decided |= reason == "done";
            }
        }
    }
}
