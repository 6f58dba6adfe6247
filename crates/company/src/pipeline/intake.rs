//! Creates the planning package of a new project. All content is prepared first and then written in one atomic step.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read as _},
    path::Path,
    sync::Arc,
};

use protocol::company::{
    AgentId, AgentRole, ConversationId, ConversationMessageId, DocumentId, MessageKind,
    MilestoneId, MilestoneKind, ProjectId, RunStatus, TaskId, Text, Visibility,
    conversation::{ConversationMessage, ConversationMessageTag},
    pipeline::{
        PipelineArtifacts, PipelineClientIntakeRunResponse, PipelineGeneration,
        PipelineGenerationMode,
    },
};
use serde_json::{Value, json};

use super::{DEPARTMENT_PLAN, NewTask, agent, department, fill::Target, new_log};
use crate::{
    Company, Error, Writer,
    decisions::plan_approval,
    document::{
        ActionProposalHead, ActionProposalTag, Agent, DocumentHead, DocumentKind, EventsTail,
    },
    documents,
    event_log::{self, Event, Payload},
    execution::run::NewRun,
    folder::intent::WriteSet,
    format::collation,
    layout,
    org::{self, defaults::COUNCIL, text},
    secret,
};

/// Maximum size of an intake file in bytes.
const MAX_INTAKE_BYTES: u64 = 1 << 20;
/// Intake text that is used if the request contains none.
const NO_INTAKE: &str = "Client intake draft pending detailed requirements.";

/// A client request that a project is created for.
#[derive(Clone, Debug)]
pub struct NewIntake {
    /// Name of the project.
    pub project_name: String,
    /// Actor id of the CEO.
    pub ceo: String,
    /// Agent that manages the project.
    pub executive: AgentId,
    /// Text of the client's request; mutually exclusive with `file`.
    pub text: Option<String>,
    /// Path of a file with the client's request. A relative path refers to the company folder.
    pub file: Option<String>,
    /// Whether workers write the documents, or templates are used.
    pub mode: PipelineGenerationMode,
}

/// Planning package created from an intake.
#[derive(Clone, Debug)]
pub struct Package {
    /// Response of the request.
    pub response: PipelineClientIntakeRunResponse,
    /// Documents that workers may rewrite, in this order.
    pub targets: Vec<Target>,
    /// Name of the project.
    pub project_name: String,
    /// Text of the client's request.
    pub intake: String,
}

/// Creates a project with its planning package from an intake.
pub fn run(company: &Company, new: &NewIntake) -> Result<Package, Error> {
    let name = new.project_name.trim();
    let ceo = new.ceo.trim();
    for (field, value) in [("project_name", name), ("ceo_actor_id", ceo)] {
        if value.is_empty() {
            return Err(Error::Refused(format!("{field} is required")));
        }
    }
    let intake = intake(company, new)?;
    secret::refuse("intake", &intake)?;
    secret::refuse("project_name", name)?;
    agent(company, &new.executive)?;
    company.write(|writer| {
        let plan = PackagePlan::new(writer, new, name, ceo, &intake)?;
        let (package, writes) = plan.build_package()?;
        writer.put_all(&writes)?;
        let log = format!("{}/events.jsonl", plan.run_folder());
        company.events_appended(&log, 0);
        Ok(package)
    })
}

#[allow(
    clippy::disallowed_methods,
    reason = "a file outside of the company folder, named by a caller that may run any command"
)]
fn open_absolute(path: &str) -> io::Result<fs::File> {
    fs::File::open(path)
}

/// Returns the client's request from the text or the file of the intake.
fn intake(company: &Company, new: &NewIntake) -> Result<String, Error> {
    let given = |value: &Option<String>| {
        let value = value.as_deref().map(str::trim);
        value.filter(|value| !value.is_empty()).map(str::to_owned)
    };
    match (given(&new.text), given(&new.file)) {
        (Some(_), Some(_)) => Err(Error::Refused(
            "Provide only one of intake_text or intake_file".to_owned(),
        )),
        (Some(text), None) => Ok(text),
        (None, None) => Ok(NO_INTAKE.to_owned()),
        (None, Some(path)) => {
            let unreadable =
                |detail: &str| Error::Refused(format!("intake_file `{path}` {detail}"));
            let file = if Path::new(&path).is_absolute() {
                open_absolute(&path).map_err(|_| unreadable("cannot be read"))?
            } else {
                company.open(&path)?
            };
            if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
                return Err(unreadable("is not a file"));
            }
            let mut bytes = Vec::new();
            file.take(MAX_INTAKE_BYTES + 1)
                .read_to_end(&mut bytes)
                .map_err(|_| unreadable("cannot be read"))?;
            if bytes.len() as u64 > MAX_INTAKE_BYTES {
                return Err(unreadable("is larger than 1 MiB"));
            }
            let text = String::from_utf8(bytes).map_err(|_| unreadable("is not UTF-8"))?;
            Ok(match text.trim() {
                "" => NO_INTAKE.to_owned(),
                text => text.to_owned(),
            })
        }
    }
}

/// A director with the documents and the task prepared for them.
struct DepartmentPlan {
    key: String,
    label: String,
    director: Arc<Agent>,
    plan: DocumentId,
    task: TaskId,
    milestone: MilestoneId,
    task_text: String,
}

/// Content of the planning package, prepared with its ids before anything is written.
struct PackagePlan<'a> {
    writer: &'a Writer<'a>,
    new: &'a NewIntake,
    name: &'a str,
    ceo: &'a str,
    intake: &'a str,
    project: ProjectId,
    run: NewRun,
    brief: DocumentId,
    executive_plan: DocumentId,
    transcript: DocumentId,
    approval: DocumentId,
    departments: Vec<DepartmentPlan>,
}

impl<'a> PackagePlan<'a> {
    fn new(
        writer: &'a Writer<'a>,
        new: &'a NewIntake,
        name: &'a str,
        ceo: &'a str,
        intake: &'a str,
    ) -> Result<Self, Error> {
        let company = writer.company();
        let sources = company.sources();
        let project: ProjectId = sources.id();
        let mut plan = Self {
            run: NewRun::new(company, &project, &new.executive, "pipeline")?,
            brief: sources.id(),
            executive_plan: sources.id(),
            transcript: sources.id(),
            approval: sources.id(),
            departments: Vec::new(),
            writer,
            new,
            name,
            ceo,
            intake,
            project,
        };
        let teams = org::teams(company)?;
        let mut directors: Vec<_> = org::agents(company)?
            .into_iter()
            .filter(|agent| agent.role == AgentRole::Director && agent.team_id.is_some())
            .collect();
        directors.sort_by(|left, right| collation::compare(&left.name, &right.name));
        for director in directors {
            let team = teams
                .iter()
                .find(|team| Some(team.id.as_str()) == director.team_id.as_deref());
            let (key, label) = match team {
                Some(team) => department(team),
                None => (director.id.to_string(), director.id.to_string()),
            };
            let key = plan.free_key(key);
            let document: DocumentId = sources.id();
            let task = NewTask {
                title: format!("{label}: Director Planning and Task Contract"),
                visibility: Visibility::Managers,
                team_id: director.team_id.as_deref(),
                assignee: &director.id,
                milestone: "Produce department delivery contract",
                kind: MilestoneKind::Planning,
                criteria: vec![
                    format!("{DEPARTMENT_PLAN}{document}"),
                    "Dependencies and risks are documented".to_owned(),
                ],
                needs: Vec::new(),
            };
            let (task, milestone, task_text) = task.made(writer, &plan.project)?;
            plan.departments.push(DepartmentPlan {
                key,
                label,
                director,
                plan: document,
                task,
                milestone,
                task_text,
            });
        }
        Ok(plan)
    }

    /// Returns a key that no department of the plan uses: a second director of a department gets `<key>#2`.
    fn free_key(&self, key: String) -> String {
        let is_taken = |key: &str| self.departments.iter().any(|known| known.key == key);
        if !is_taken(&key) {
            return key;
        }
        let mut numbers = (2..).map(|number| format!("{key}#{number}"));
        numbers.find(|key| !is_taken(key)).unwrap_or(key)
    }

    fn run_folder(&self) -> String {
        layout::run(&self.project, &self.run.run_id)
    }

    /// Builds the package and the files to write.
    fn build_package(&self) -> Result<(Package, WriteSet), Error> {
        let writer = self.writer;
        let company = writer.company();
        let folder = layout::project(&self.project);
        let mut files = self.documents()?;
        let produced: Vec<_> = files
            .iter()
            .map(|(id, kind, _)| (id.clone(), *kind))
            .collect();
        let mut writes = WriteSet::default();
        for (name, text) in writer.project_files(&self.project, self.name)? {
            writes.files.push((format!("{folder}/{name}"), text));
        }
        for (id, _, text) in files.drain(..) {
            writes
                .files
                .push((layout::document(&self.project, &id), text));
        }
        for department in &self.departments {
            writes.files.push((
                layout::task(&self.project, &department.task),
                department.task_text.clone(),
            ));
        }
        writes.files.extend(self.run_files(&produced)?);
        let council: ConversationId =
            protocol::Id::parse(&format!("conv_{}_{COUNCIL}", self.project))
                .map_err(|error: protocol::InvalidId| Error::Refused(error.to_string()))?;
        let messages = format!(
            "{}/messages.jsonl",
            layout::conversation(Some(&self.project), &council, "")
        );
        let defaults =
            writer.project_default_files(&self.project, self.ceo, Some(&self.new.executive))?;
        for (path, text) in defaults {
            let text = if path == messages {
                self.message(&council)?
            } else {
                text
            };
            writes.files.push((path, text));
        }
        let audit = new_log(company, &self.project, "client_intake_generation");
        let rows = match self.new.mode {
            PipelineGenerationMode::ProviderWithFallback => String::new(),
            PipelineGenerationMode::Deterministic => {
                let row = json!({
                    "ts": writer.now(),
                    "event": "provider_fill_skipped",
                    "reason": "model_not_provided",
                });
                format!("{row}\n")
            }
        };
        writes.files.push((audit.clone(), rows));
        let dirs = layout::PROJECT_DIRS.iter();
        writes.dirs = dirs.map(|name| format!("{folder}/{name}")).collect();
        writes.dirs.push(format!("{}/outputs", self.run_folder()));
        let pack = layout::context_pack(&self.project, &self.run.context_pack_id);
        writes.dirs.push(format!("{pack}/bundle"));
        Ok((self.package(council, audit), writes))
    }

    fn package(&self, council: ConversationId, audit: String) -> Package {
        let executive = text(&self.new.executive);
        let of_project = |kind, document: &DocumentId, title: String| Target {
            kind,
            department: None,
            document: document.clone(),
            agent_id: executive.clone(),
            title,
        };
        let mut targets = vec![
            of_project(
                DocumentKind::ExecutivePlan,
                &self.executive_plan,
                self.executive_plan_title(),
            ),
            of_project(
                DocumentKind::MeetingTranscript,
                &self.transcript,
                self.transcript_title(),
            ),
        ];
        targets.extend(self.departments.iter().map(|department| Target {
            kind: DocumentKind::DepartmentPlan,
            department: Some((department.key.clone(), department.label.clone())),
            document: department.plan.clone(),
            agent_id: department.director.id.clone(),
            title: department.title(),
        }));
        let departments = self.departments.iter();
        let response = PipelineClientIntakeRunResponse {
            project_id: self.project.clone(),
            artifacts: PipelineArtifacts {
                intake_brief_artifact_id: self.brief.clone(),
                executive_plan_artifact_id: self.executive_plan.clone(),
                meeting_transcript_artifact_id: self.transcript.clone(),
                approval_artifact_id: self.approval.clone(),
            },
            department_plan_artifact_ids: departments
                .clone()
                .map(|one| (one.key.clone(), one.plan.clone()))
                .collect::<BTreeMap<_, _>>(),
            director_task_ids: departments
                .clone()
                .map(|one| (one.key.clone(), one.task.clone()))
                .collect::<BTreeMap<_, _>>(),
            assigned_task_ids: departments.map(|one| one.task.clone()).collect(),
            meeting_conversation_id: council,
            generation: PipelineGeneration {
                mode: self.new.mode,
                attempted: 0,
                succeeded: 0,
                failed: 0,
                failure_artifact_ids: Vec::new(),
                audit_log_relpath: audit,
            },
        };
        Package {
            response,
            targets,
            project_name: self.name.to_owned(),
            intake: self.intake.to_owned(),
        }
    }

    fn executive_plan_title(&self) -> String {
        format!("Executive Plan: {}", self.name)
    }

    fn transcript_title(&self) -> String {
        format!("Planning Council Transcript: {}", self.name)
    }

    /// Prints all documents, validated as when they are read.
    fn documents(&self) -> Result<Vec<(DocumentId, DocumentKind, String)>, Error> {
        let executive = self.new.executive.as_str();
        let mut printed = Vec::new();
        let mut add =
            |kind, id: &DocumentId, title: &str, visibility, by: &str, sections: &[String]| {
                let head = self.head(kind, id, title, visibility, by);
                let text = documents::print(&head, &body(title, kind, sections))?;
                printed.push((id.clone(), kind, text));
                Ok::<_, Error>(())
            };
        let lines = |line: &dyn Fn(&DepartmentPlan) -> String, none: &str| {
            let lines: Vec<_> = self.departments.iter().map(line).collect();
            if lines.is_empty() {
                none.to_owned()
            } else {
                lines.join("\n")
            }
        };
        let none = "- No department directors are configured.";
        add(
            DocumentKind::IntakeBrief,
            &self.brief,
            &format!("Client Intake: {}", self.name),
            Visibility::Org,
            self.ceo,
            &[
                self.intake.to_owned(),
                "- Executive manager produces a comprehensive cross-department plan.\n\
                 - Department directors provide scoped plans with risks/dependencies.\n\
                 - CEO approves before worker execution begins."
                    .to_owned(),
                "- Enforce policy, budget, and secret-risk hard stops.\n\
                 - Keep planning artifacts canonical and auditable."
                    .to_owned(),
            ],
        )?;
        for department in &self.departments {
            add(
                DocumentKind::DepartmentPlan,
                &department.plan,
                &department.title(),
                Visibility::Managers,
                &department.director.id,
                &[
                    format!(
                        "- Department: {}\n- Director: {}\n- Project: {}",
                        department.label, department.director.name, self.name
                    ),
                    "- Department implementation roadmap\n\
                     - Dependency and risk checklist\n\
                     - Director-to-worker task split proposal"
                        .to_owned(),
                    "- Requirement ambiguity across departments\n- Cross-team dependency slippage"
                        .to_owned(),
                    "- Executive plan approval by CEO\n\
                     - Coordination with planning council decisions"
                        .to_owned(),
                ],
            )?;
        }
        add(
            DocumentKind::ExecutivePlan,
            &self.executive_plan,
            &self.executive_plan_title(),
            Visibility::Managers,
            executive,
            &[
                format!(
                    "Project: {}\nExecutive manager: {executive}\n\
                     High-level plan synthesized from CEO intake and director department plans.",
                    self.name
                ),
                lines(
                    &|one| {
                        let DepartmentPlan {
                            label, plan, task, ..
                        } = one;
                        format!("- {label}: artifact `{plan}`, task `{task}`")
                    },
                    none,
                ),
                "- Cross-department dependencies tracked in planning council.\n\
                 - Director-level assignments proceed after CEO approval."
                    .to_owned(),
                "- Required approver: CEO\n- Status: pending\n\
                 - Worker execution tasks are blocked until approval."
                    .to_owned(),
            ],
        )?;
        let attendees = self.departments.iter();
        let attendees: String = attendees
            .map(|one| format!("\n- Director: {}", one.director.id))
            .collect();
        add(
            DocumentKind::MeetingTranscript,
            &self.transcript,
            &self.transcript_title(),
            Visibility::Managers,
            executive,
            &[
                format!(
                    "- CEO: {}\n- Executive Manager: {executive}{attendees}",
                    self.ceo
                ),
                lines(
                    &|one| {
                        format!(
                            "- {}: provided scoped plan and dependency notes.",
                            one.label
                        )
                    },
                    none,
                ),
                lines(
                    &|one| {
                        let DepartmentPlan {
                            label,
                            task,
                            milestone,
                            ..
                        } = one;
                        format!(
                            "- {label}: director task `{task}` created (milestone `{milestone}`)."
                        )
                    },
                    none,
                ),
                lines(
                    &|one| {
                        let label = &one.label;
                        format!("- {label}: confirm integration sequencing with other departments.")
                    },
                    none,
                ),
            ],
        )?;
        printed.push((
            self.approval.clone(),
            DocumentKind::HeartbeatActionProposal,
            self.proposal()?,
        ));
        Ok(printed)
    }

    fn head(
        &self,
        kind: DocumentKind,
        id: &DocumentId,
        title: &str,
        visibility: Visibility,
        produced_by: &str,
    ) -> DocumentHead {
        DocumentHead {
            schema_version: 1,
            r#type: kind,
            id: text(id),
            created_at: text(self.writer.now()),
            title: text(title),
            visibility,
            produced_by: text(produced_by),
            run_id: text(&self.run.run_id),
            context_pack_id: text(&self.run.context_pack_id),
        }
    }

    /// The proposal that asks the CEO for approval of the executive plan.
    fn proposal(&self) -> Result<String, Error> {
        let plan = &self.executive_plan;
        let (key, rationale) = (
            plan_approval::key(&self.project, plan),
            plan_approval::rationale(plan),
        );
        let action = json!({
            "idempotency_key": key,
            "risk": "medium",
            "needs_approval": true,
            "kind": "create_approval_item",
            "project_id": self.project,
            "title": format!("Approve executive plan {plan}"),
            "rationale": rationale,
            "proposed_action": {
                "idempotency_key": format!("{key}:noop"),
                "risk": "low",
                "needs_approval": false,
                "kind": "noop",
                "reason": "Approval marker only",
            },
        });
        let title = format!("CEO Approval Required: {} Executive Plan", self.name);
        let head = ActionProposalHead {
            schema_version: 1,
            r#type: ActionProposalTag::It,
            id: text(&self.approval),
            created_at: text(self.writer.now()),
            title: text(&title),
            visibility: Visibility::Managers,
            produced_by: text(&self.new.executive),
            run_id: text(&self.run.run_id),
            context_pack_id: text(&self.run.context_pack_id),
            project_id: text(&self.project),
            proposed_action: action.as_object().cloned().unwrap_or_default(),
            rationale: Text::new(rationale),
        };
        let sections = [
            "Executive plan package is ready for CEO approval before director-to-worker execution begins."
                .to_owned(),
            format!("```json\n{action:#}\n```"),
            "Only the CEO, or a person, decides about it.".to_owned(),
        ];
        let body = body(&title, DocumentKind::HeartbeatActionProposal, &sections);
        documents::print(&head, &body)
    }

    /// Files of the run that produced the package. The run has already ended when it is written.
    fn run_files(
        &self,
        produced: &[(DocumentId, DocumentKind)],
    ) -> Result<Vec<(String, String)>, Error> {
        let writer = self.writer;
        let mut events = vec![self.run.started.clone()];
        for (id, kind) in produced {
            let relpath = layout::document(&self.project, id);
            let payload =
                json!({"artifact_id": id, "relpath": relpath, "artifact_type": kind.as_str()});
            events.push(self.event("artifact.produced", &payload)?);
        }
        let over = json!({"exit_code": null, "signal": null, "stopped": false});
        events.push(self.event("run.ended", &over)?);
        let (lines, last) = event_log::first_lines(&events);
        let mut run = self.run.run.clone();
        run.status = RunStatus::Ended;
        run.ended_at = Some(writer.now());
        run.events_tail = Some(EventsTail {
            count: events.len() as u64,
            event_hash: text(last),
        });
        let (folder, pack) = (
            self.run_folder(),
            layout::context_pack(&self.project, &self.run.context_pack_id),
        );
        let mut files = vec![
            (format!("{folder}/run.yaml"), writer.yaml(&run)?),
            (format!("{folder}/events.jsonl"), lines),
        ];
        for (name, text) in self.run.pack_files()? {
            files.push((format!("{pack}/{name}"), text));
        }
        Ok(files)
    }

    fn event(&self, event_type: &str, payload: &Value) -> Result<Event, Error> {
        let company = self.writer.company();
        Ok(Event {
            ts_wallclock: company.sources().now_text(),
            event_type: event_type.to_owned(),
            payload: Payload::new(payload)?,
            event_id: company.sources().id(),
            ts_monotonic_ms: company.uptime_ms(),
            ..self.run.started.clone()
        })
    }

    /// The message that announces the package in the planning council.
    fn message(&self, council: &ConversationId) -> Result<String, Error> {
        let id: ConversationMessageId = self.writer.company().sources().id();
        let (plan, transcript, approval) = (&self.executive_plan, &self.transcript, &self.approval);
        let message = ConversationMessage {
            schema_version: 1,
            r#type: ConversationMessageTag::Message,
            id: text(id),
            conversation_id: text(council),
            project_id: Some(text(&self.project)),
            created_at: self.writer.now(),
            author_id: text(&self.new.executive),
            author_role: protocol::company::ActorRole::Manager,
            kind: MessageKind::System,
            visibility: Visibility::Org,
            body: text(format!(
                "The planning package of {} is ready: executive plan `{plan}`, transcript `{transcript}`. \
                 It waits for the CEO in `{approval}`.",
                self.name
            )),
            mentions: Vec::new(),
        };
        let line = serde_json::to_string(&message)
            .map_err(|error| Error::Refused(format!("the message cannot be written: {error}")))?;
        Ok(line + "\n")
    }
}

impl DepartmentPlan {
    fn title(&self) -> String {
        format!("{} Department Plan", self.label)
    }
}

/// Builds a document body from the headings of its kind and the text of each section.
fn body(title: &str, kind: DocumentKind, sections: &[String]) -> String {
    let sections = kind.headings().iter().zip(sections);
    let sections: String = sections
        .map(|(heading, section)| format!("\n## {heading}\n\n{section}\n"))
        .collect();
    format!("# {title}\n{sections}")
}
