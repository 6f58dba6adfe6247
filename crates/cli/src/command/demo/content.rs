//! Creates the content of the demo company Fernway through the public methods.

use std::{cell::Cell, path::Path};

use gateway::{Sources, sha256_hex};
use jiff::Timestamp;
use protocol::{
    FolderId, Id as _, ThreadId, TurnId, WorkspaceId, artifact::upload::ArtifactUploadSourceKind,
    turn::TurnCompletedNotification,
};
use serde_json::{Value, json};

use super::{
    documents::{self, DemoReport, DemoTask, DemoTeam, TASKS},
    picture,
    worker::{CLAUDE, CODEX, FOLDER, STEPS, Steps},
};
use crate::{
    command::artifact::{UploadRequest, UploadTarget},
    failure::Failure,
    folder,
    local::Local,
    terminal,
};

/// Creates the company in a folder that does not exist yet.
pub(super) async fn create(local: &Local, directory: &Path) -> Result<(), Failure> {
    let builder = ContentBuilder {
        local,
        sources: Sources::system(),
        dir: folder::wire(directory)?.to_string(),
        steps: Cell::new(0),
    };
    let people = builder.people().await?;
    let tree = builder.tree().await?;
    builder.plan(&people).await?;
    let payments = builder.runs(&people).await?;
    builder.decisions(&people, &payments).await?;
    builder.campaign(&people).await?;
    builder.talk(&people, &payments).await?;
    builder.threads(&tree).await?;
    builder.company("index.rebuild", json!({})).await?;
    Ok(())
}

struct ContentBuilder<'a> {
    local: &'a Local,
    sources: Sources,
    /// The company folder.
    dir: String,
    /// Number of steps that were reported.
    steps: Cell<u32>,
}

/// The ids of the project, the agents and the teams.
struct DemoPeople {
    project: String,
    executive: String,
    engineering: DemoDepartment,
    marketing: DemoDepartment,
}

struct DemoDepartment {
    team: String,
    director: String,
    workers: Vec<String>,
}

/// The workspace and the folders for threads.
struct DemoTree {
    workspace: WorkspaceId,
    project: FolderId,
    payments: FolderId,
}

/// A run that has ended.
struct EndedRun {
    id: String,
    context_pack: String,
}

/// The work of one run.
struct DemoRun<'a> {
    provider: &'a str,
    agent: &'a str,
    task: Option<&'a str>,
    prompt: &'a str,
    /// The expected final status.
    status: &'a str,
}

impl DemoPeople {
    fn team(&self, team: DemoTeam) -> &DemoDepartment {
        match team {
            DemoTeam::Engineering => &self.engineering,
            DemoTeam::Marketing => &self.marketing,
        }
    }
}

impl ContentBuilder<'_> {
    fn progress(&self, what: &str) {
        self.steps.set(self.steps.get() + 1);
        terminal::complain(&format!("  {}/8  {what}", self.steps.get()));
    }

    /// Calls a method of the company family.
    async fn company(&self, method: &str, mut params: Value) -> Result<Value, Failure> {
        params["workspace_dir"] = json!(self.dir);
        Ok(self.local.client.call_raw(method, params).await?)
    }

    fn now(&self) -> Timestamp {
        let now = self.sources.clock.now_ms();
        Timestamp::from_millisecond(now).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    async fn people(&self) -> Result<DemoPeople, Failure> {
        self.progress("two teams");
        let params = json!({
            "company_name": "Fernway", "project_name": "Online booking", "workers_per_dept": 2,
            "departments": ["engineering", "marketing"],
        });
        let made = self
            .company("workspace.bootstrap.enterprise", params)
            .await?;
        let department = |index: usize| {
            let department = &made["departments"][index];
            let workers = department["worker_agent_ids"]
                .as_array()
                .into_iter()
                .flatten();
            DemoDepartment {
                team: text(&department["team_id"]),
                director: text(&department["director_agent_id"]),
                workers: workers.map(text).collect(),
            }
        };
        Ok(DemoPeople {
            project: text(&made["project_id"]),
            executive: text(&made["agents"]["executive_manager_agent_id"]),
            engineering: department(0),
            marketing: department(1),
        })
    }

    /// Writes AGENTS.md documents at three levels, before any worker runs.
    async fn tree(&self) -> Result<DemoTree, Failure> {
        self.progress("instructions for the company, a project and a part of it");
        let client = &self.local.client;
        let listed = client.call_raw("workspace/list", json!({})).await?;
        let workspaces = listed["workspaces"].as_array().into_iter().flatten();
        let mut linked = workspaces.filter(|one| one["dir"].is_string());
        let linked = linked.next().ok_or_else(|| Failure::Argument {
            detail: "the company folder of the demo has no workspace".to_owned(),
        })?;
        let workspace = WorkspaceId::parse(&text(&linked["id"]))?;
        let select = json!({"workspace_id": workspace, "make_current": true});
        client.call_raw("workspace/select", select).await?;
        let of_workspace = json!({"workspace_id": workspace});
        let tree = client.call_raw("thread/tree", of_workspace).await?;
        let mut folders = tree["folders"].as_array().into_iter().flatten();
        let project = folders.find(|folder| folder["name"] == "Online booking");
        let project = FolderId::parse(&text(&project.unwrap_or(&Value::Null)["id"]))?;
        let folder =
            json!({"workspace_id": workspace, "name": "Payments", "parent_folder_id": project});
        let made = client.call_raw("thread/folder/create", folder).await?;
        let payments = FolderId::parse(&text(&made["folder"]["id"]))?;
        let levels = [
            (None, documents::RULES),
            (Some(&project), documents::PROJECT_RULES),
            (Some(&payments), documents::PAYMENTS_RULES),
        ];
        for (folder, content) in levels {
            let doc = json!({
                "workspace_id": workspace, "folder_id": folder, "content": content, "save_reason": "manual",
            });
            client.call_raw("thread/agents_doc/save", doc).await?;
        }
        Ok(DemoTree {
            workspace,
            project,
            payments,
        })
    }

    /// Runs a worker and waits until it ends.
    async fn work(
        &self,
        people: &DemoPeople,
        work: DemoRun<'_>,
        steps: impl FnOnce(&EndedRun) -> Steps,
    ) -> Result<EndedRun, Failure> {
        let project = &people.project;
        let run = json!({
            "project_id": project, "agent_id": work.agent, "provider": work.provider, "goal": work.prompt,
        });
        let made = self.company("run.create", run).await?;
        let run = EndedRun {
            id: text(&made["run_id"]),
            context_pack: text(&made["context_pack_id"]),
        };
        let launch = json!({
            "project_id": project, "run_id": run.id, "prompt_text": work.prompt,
            "task_id": work.task.map(DemoTask::id), "env": {STEPS: steps(&run).into_text(), FOLDER: self.dir},
            "actor_id": "human", "actor_role": "human",
        });
        let launched = self.company("session.launch", launch).await?;
        let session = json!({"session_ref": launched["session_ref"]});
        let ended = self.company("session.collect", session).await?;
        if ended["status"] == work.status {
            Ok(run)
        } else {
            Err(Failure::Argument {
                detail: format!(
                    "the worker of the demo did not end as expected: {}",
                    ended["error"].as_str().unwrap_or("its status is different")
                ),
            })
        }
    }

    async fn plan(&self, people: &DemoPeople) -> Result<(), Failure> {
        self.progress("a plan with a critical path");
        let work = DemoRun {
            provider: CLAUDE,
            agent: &people.executive,
            task: None,
            prompt: "Split online booking into tasks for both teams. Every task needs a contract and milestones.",
            status: "ended",
        };
        let now = self.now();
        self.work(people, work, |_| {
            let steps = TASKS.iter().fold(Steps::default(), |steps, task| {
                let team = people.team(task.team);
                let worker = &team.workers[task.worker];
                let path = format!(
                    "work/projects/{}/tasks/{}.md",
                    people.project,
                    DemoTask::id(task.key)
                );
                steps.file(&path, &task.text(&people.project, &team.team, worker, now))
            });
            let answer = "Eight tasks are written. Payments decide when we can open: everything waits for the load test.";
            steps.claude(answer, 18_400, 3_900, 0.1138)
        })
        .await?;
        for task in TASKS {
            let plan = json!({
                "project_id": people.project, "task_id": DemoTask::id(task.key), "schedule": task.schedule(now),
            });
            self.company("task.update_plan", plan).await?;
        }
        Ok(())
    }

    /// Runs the workers. Returns the run that leaves a report.
    async fn runs(&self, people: &DemoPeople) -> Result<EndedRun, Failure> {
        self.progress("workers at work");
        let (engineering, marketing) = (&people.engineering.workers, &people.marketing.workers);
        self.work(
            people,
            DemoRun {
                provider: CODEX,
                agent: &engineering[0],
                task: Some("tours"),
                prompt: "Store tours, dates and seats. A seat is sold once, whatever happens at the same time.",
                status: "ended",
            },
            |_| {
                Steps::default().codex(
                    "Two guests may take the last seat in the same moment, so the seat must be locked.",
                    "Tours, dates and seats are stored. 200 threads fought for 12 seats, and 12 were sold.",
                    41_300,
                    6_120,
                )
            },
        )
        .await?;
        self.work(
            people,
            DemoRun {
                provider: CODEX,
                agent: &engineering[0],
                task: Some("page"),
                prompt: "Build the first half of the booking page: date, tour and seats.",
                status: "ended",
            },
            |_| {
                Steps::default().codex(
                    "The calendar must say what it shows to somebody who cannot see it.",
                    "A guest can choose date, tour and seats, with the keyboard alone too. Two texts are TODO(words).",
                    67_900,
                    9_450,
                )
            },
        )
        .await?;
        self.work(
            people,
            DemoRun {
                provider: CLAUDE,
                agent: &marketing[0],
                task: Some("words"),
                prompt: "Write the words of the booking page in English, Dutch and German.",
                status: "ended",
            },
            |_| {
                Steps::default().claude(
                    "English and Dutch are done. For German I need to know whether we say *du* or *Sie*.",
                    9_800,
                    2_240,
                    0.0630,
                )
            },
        )
        .await?;
        self.work(
            people,
            DemoRun {
                provider: CLAUDE,
                agent: &marketing[1],
                task: Some("guide"),
                prompt: "Take pictures of the booking page for the guide.",
                status: "failed",
            },
            |_| {
                Steps::default()
                    .fail("The booking page does not open yet: the second half is missing.")
            },
        )
        .await?;
        let work = DemoRun {
            provider: CODEX,
            agent: &engineering[1],
            task: Some("payments"),
            prompt: "Charge and refund in the sandbox, by the refund rules of the season. Leave a report with proof.",
            status: "ended",
        };
        let now = self.now();
        self.work(people, work, |run| {
            let report = DemoReport {
                project: &people.project,
                run: &run.id,
                context_pack: &run.context_pack,
                by: &engineering[1],
            };
            let files = report.files(now);
            let steps = files.iter().fold(Steps::default(), |steps, (name, text)| {
                let path = format!("work/projects/{}/artifacts/{name}", people.project);
                steps.file(&path, text)
            });
            steps.codex(
                "Half of an odd price must be rounded, once, when the booking is closed.",
                "Charging and refunding work in the sandbox: 61 tests pass. The report waits for a decision.",
                88_200,
                12_700,
            )
        })
        .await
    }

    async fn decisions(&self, people: &DemoPeople, run: &EndedRun) -> Result<(), Failure> {
        self.progress("things that wait for your decision");
        let propose = |title: &str, rest: Value| {
            let mut delta = json!({
                "project_id": people.project, "title": title, "scope_kind": "project_memory",
                "sensitivity": "internal", "visibility": "managers", "produced_by": people.engineering.workers[1],
                "run_id": run.id, "context_pack_id": run.context_pack, "evidence": ["art_refunds_report"],
            });
            for (name, value) in rest.as_object().into_iter().flatten() {
                delta[name] = value.clone();
            }
            self.company("memory.propose_delta", delta)
        };
        let decided = propose(
            "The sandbox forgets on Mondays",
            json!({
                "rationale": "A run looked for last week's payments in vain", "under_heading": "## Links",
                "insert_lines": ["- The sandbox of the payment provider is emptied every Monday at six."],
            }),
        );
        let decided = decided.await?;
        let resolve = json!({
            "project_id": people.project, "artifact_id": decided["artifact_id"], "decision": "approved",
            "actor_id": "human", "actor_role": "human", "notes": "True, they told us in May.",
        });
        self.company("inbox.resolve", resolve).await?;
        let waiting = propose(
            "Refunds are rounded once",
            json!({
                "rationale": "Two refunds of the same group differed by a cent",
                "under_heading": "## Decisions",
                "insert_lines": [
                    "- Prices and refunds are whole cents.",
                    "- A refund is rounded once, in favour of the guest.",
                ],
            }),
        );
        waiting.await?;
        let waiting = propose(
            "Look whether the page opens before taking pictures",
            json!({
                "rationale": "A run failed after twenty minutes because a page was missing",
                "scope_kind": "agent_guidance", "scope_ref": people.marketing.workers[1],
                "under_heading": "## Recurring Mistakes To Avoid",
                "insert_lines": ["- Open the page first; if it does not open, say so and stop."],
            }),
        );
        waiting.await?;
        Ok(())
    }

    /// Creates a second project from a client intake. Its plan waits for a decision as well.
    async fn campaign(&self, people: &DemoPeople) -> Result<(), Failure> {
        self.progress("a second project");
        let intake = json!({
            "project_name": "Spring campaign", "ceo_actor_id": "human_ceo",
            "executive_manager_agent_id": people.executive, "intake_text": documents::CAMPAIGN,
        });
        let made = self.company("pipeline.client_intake.run", intake).await?;
        let tasks = made["assigned_task_ids"].as_array().into_iter().flatten();
        let (now, mut before) = (self.now(), Vec::new());
        for (task, start) in tasks.zip([9, 12]) {
            let plan = json!({
                "project_id": made["project_id"], "task_id": task,
                "schedule": {
                    "planned_start": documents::day(now, start), "planned_end": documents::day(now, start + 3),
                    "duration_days": 3, "depends_on_task_ids": before,
                },
            });
            self.company("task.update_plan", plan).await?;
            before.push(task.clone());
        }
        Ok(())
    }

    async fn talk(&self, people: &DemoPeople, run: &EndedRun) -> Result<(), Failure> {
        self.progress("conversations");
        let project = &people.project;
        let send = |conversation: String, author: &str, role: &str, body: &str| {
            let scope = if conversation.contains("_workspace_") {
                json!({"scope": "workspace"})
            } else {
                json!({"scope": "project", "project_id": project})
            };
            let mut message = json!({
                "conversation_id": conversation, "author_id": author, "author_role": role, "body": body,
            });
            for (name, value) in scope.as_object().into_iter().flatten() {
                message[name] = value.clone();
            }
            self.company("conversation.message.send", message)
        };
        let office = || "conv_workspace_home".to_owned();
        let home = || format!("conv_{project}_home");
        let (engineering, marketing) = (&people.engineering, &people.marketing);
        send(
            office(),
            "human",
            "human",
            "Welcome to **Fernway**. Nothing here is real: the workers are a shell script, and nothing leaves this machine. \
             Look around, decide what waits in the inbox, change an AGENTS.md.",
        )
        .await?;
        send(
            office(),
            &people.executive,
            "manager",
            "Online booking opens when the load test has passed. The spring campaign waits for your approval of its plan.",
        )
        .await?;
        send(
            home(),
            &engineering.director,
            "director",
            "Payments have their second milestone:\n\n- a booking is charged once\n- refunds follow the rules of the season\n\n\
             The report waits for your decision.",
        )
        .await?;
        send(
            home(),
            &marketing.director,
            "director",
            "The words are done in English and Dutch. Do we say *du* or *Sie* in German?",
        )
        .await?;
        send(
            home(),
            "human",
            "human",
            "*Du*, as in our letters. And please keep the old form open until the pilot is over.",
        )
        .await?;
        let comment = |author: &str, role: &str, body: &str, target: (&str, &str)| {
            let mut comment = json!({
                "project_id": project, "author_id": author, "author_role": role, "body": body,
                "visibility": "managers",
            });
            comment[target.0] = json!(target.1);
            self.company("comment.add", comment)
        };
        let about_run = ("target_run_id", run.id.as_str());
        comment(
            &engineering.director,
            "director",
            "I ran the nine new tests by hand too. They fail without the patch.",
            about_run,
        )
        .await?;
        let about_report = ("target_artifact_id", "art_refunds_report");
        comment(
            "human",
            "human",
            "Does the weather rule count from the tour's start or from the forecast?",
            about_report,
        )
        .await?;
        Ok(())
    }

    /// Creates threads with turns and files.
    async fn threads(&self, tree: &DemoTree) -> Result<(), Failure> {
        self.progress("threads and files");
        let chart = picture::bars(&[22, 31, 28, 45, 52, 61, 58, 74, 83, 96]);
        let threads = [
            (
                "Bookings per week",
                None,
                "Ten weeks of bookings are in the chart. The last bar is this week, with two days to go.",
                ("bookings-per-week.png", chart),
            ),
            (
                "Prices of the season",
                Some(&tree.project),
                "These are the prices the booking page shows. Children are those under fourteen.",
                ("prices-spring.json", documents::prices().into_bytes()),
            ),
            (
                "Refund rules",
                Some(&tree.payments),
                "The rules are agreed with all three harbours. What is left open: vouchers for groups.",
                (
                    "refund-rules.md",
                    documents::REFUND_NOTES.as_bytes().to_vec(),
                ),
            ),
        ];
        for (name, folder, words, file) in threads {
            self.thread(tree, name, folder, words, file).await?;
        }
        Ok(())
    }

    async fn thread(
        &self,
        tree: &DemoTree,
        name: &str,
        folder: Option<&FolderId>,
        words: &str,
        (file_name, bytes): (&str, Vec<u8>),
    ) -> Result<(), Failure> {
        let client = &self.local.client;
        let workspace = &tree.workspace;
        let thread: ThreadId = self.sources.id();
        let turn: TurnId = self.sources.id();
        let start = json!({
            "workspace_id": workspace, "thread_id": thread, "name": name, "model_provider": "echo",
        });
        client.call_raw("thread/start", start).await?;
        let place = json!({"workspace_id": workspace, "thread_id": thread, "folder_id": folder});
        client.call_raw("thread/move", place).await?;
        let upload = UploadRequest {
            name: file_name.to_owned(),
            mime_type: file_name
                .ends_with(".md")
                .then(|| "text/markdown".to_owned()),
            size: bytes.len() as u64,
            sha256: sha256_hex(&bytes),
            source_kind: ArtifactUploadSourceKind::Api,
            target: UploadTarget {
                thread_id: Some(thread.clone()),
                artifact_id: None,
            },
        };
        let read = |offset: u64, len: u64| {
            let at = usize::try_from(offset).unwrap_or(usize::MAX);
            let piece = bytes
                .iter()
                .skip(at)
                .take(usize::try_from(len).unwrap_or(0));
            Ok(piece.copied().collect())
        };
        upload.send(self.local, workspace, read).await?;
        let input = json!([{"type": "text", "text": words}]);
        let asked = json!({"thread_id": thread, "turn_id": turn, "input": input});
        client.call_raw("turn/start", asked).await?;
        loop {
            let completed = client.wait_for::<TurnCompletedNotification>().await;
            let completed = completed.ok_or(Failure::Call(rpc::client::Error::Closed))?;
            if completed.turn.id == turn {
                return Ok(());
            }
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
