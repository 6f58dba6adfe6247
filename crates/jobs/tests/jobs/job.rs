//! Tests of jobs with workers that are small scripts.

use std::{fs, time::Duration};

use crate::fixture::{DONE, Fixture, MAY};
use jobs::Resubmit;
use protocol::Id as _;
use protocol::company::{
    JobId, RunStatus,
    job::{JobCollectResponse, JobResultStatus, JobStatus},
};
use serde_json::json;

fn codes(collected: &JobCollectResponse) -> Vec<String> {
    let result = collected.result.as_ref().expect("a result");
    result
        .errors
        .iter()
        .map(|error| error.code.to_string())
        .collect()
}

#[tokio::test]
async fn an_answer_of_todays_codex_becomes_the_result() {
    let fixture = Fixture::new();
    let said = format!(
        "{}\n{}\n{}\n",
        json!({"type": "thread.started", "thread_id": "t"}),
        json!({"type": "item.completed", "item": {"type": "agent_message", "text": DONE}}),
        json!({"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 2}}),
    );
    fixture.codex(&format!("cat > $d/stdin; cat <<'E'\n{said}E\n"));
    let collected = fixture.job("job_1", json!({})).await;
    let result = collected.result.expect("a result");
    assert_eq!(result.status, JobResultStatus::Succeeded);
    let attempt = &collected.job.attempts[0];
    assert_eq!(result.attempt_run_id, attempt.run_id);
    assert_eq!(attempt.provider_version.as_deref(), Some("codex-cli 9"));
    let asked = fs::read_to_string(fixture.bin().join("stdin")).expect("a prompt");
    assert!(asked.contains("# Goal\n\nShip it"), "{asked}");
    assert!(asked.contains(attempt.run_id.as_str()));
}

#[tokio::test]
async fn a_worker_runs_in_a_folder_of_its_own_and_not_in_the_company_s() {
    let fixture = Fixture::new();
    fixture.codex(&format!("cat > /dev/null; pwd > $d/cwd; echo '{DONE}'"));
    let collected = fixture.job("job_1", json!({})).await;
    let run = &collected.job.attempts[0].run_id;
    let cwd = fs::read_to_string(fixture.bin().join("cwd")).expect("a folder");
    assert!(cwd.trim().ends_with(&format!("/runs/{run}/work")), "{cwd}");
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_asked_for_again_without_the_right_to_change_anything() {
    let fixture = Fixture::new();
    fixture.codex(&format!(
        "cat > $d/stdin.$n; echo \"$@\" > $d/args.$n; if [ $n = 1 ]; then echo sorry; else echo '{DONE}'; fi"
    ));
    let collected = fixture
        .job("job_1", json!({"permission_level": "patch"}))
        .await;
    assert_eq!(collected.job.current_attempt, 2);
    let digest = collected.manager_digest.expect("a digest");
    assert_eq!(digest.signals.get("retries_used"), Some(&json!(1)));
    let read = |name: &str| fs::read_to_string(fixture.bin().join(name)).expect(name);
    assert!(read("stdin.2").contains("result_unparseable"));
    assert!(read("args.1").contains("--sandbox workspace-write"));
    assert!(read("args.2").contains("--sandbox read-only"));
}

#[tokio::test]
async fn after_three_answers_that_cannot_be_read_somebody_is_asked() {
    let fixture = Fixture::new();
    fixture.codex("cat > /dev/null; echo '{\"status\": \"great\", \"summary\": \"x\"}'");
    let collected = fixture.job("job_1", json!({})).await;
    assert_eq!(codes(&collected), ["result_schema_invalid"]);
    let result = collected.result.expect("a result");
    assert_eq!(result.status, JobResultStatus::NeedsInput);
    assert_eq!(collected.job.attempts.len(), 3);
}

#[tokio::test]
async fn a_worker_that_crashed_is_asked_the_same_again() {
    let fixture = Fixture::new();
    fixture.codex(&format!(
        "cat > $d/stdin.$n; if [ $n = 1 ]; then echo boom; exit 7; fi; echo '{DONE}'"
    ));
    let collected = fixture.job("job_1", json!({})).await;
    let statuses: Vec<_> = collected
        .job
        .attempts
        .iter()
        .map(|attempt| attempt.status)
        .collect();
    assert_eq!(statuses, [RunStatus::Failed, RunStatus::Ended]);
    let second = fs::read_to_string(fixture.bin().join("stdin.2")).expect("a prompt");
    assert!(second.contains("# Goal"), "{second}");
}

#[tokio::test]
async fn a_job_without_a_worker_is_blocked_and_has_no_attempt() {
    let fixture = Fixture::new();
    let collected = fixture.job("job_1", json!({"worker_kind": "gemini"})).await;
    assert_eq!(codes(&collected), ["worker_unavailable"]);
    assert_eq!(collected.job.attempts, []);
}

#[tokio::test]
async fn a_worker_that_is_not_logged_in_is_not_started() {
    let fixture = Fixture::new();
    fixture.codex("echo never; exit 0");
    fixture.login("Logged in using an API key");
    let collected = fixture.job("job_1", json!({})).await;
    assert_eq!(codes(&collected), ["subscription_unverified"]);
    let attempt = &collected.job.attempts[0];
    assert_eq!(attempt.status, RunStatus::Failed);
    assert_eq!(fixture.run_status(&attempt.run_id), RunStatus::Failed);
    let types = fixture.event_types(&attempt.run_id);
    assert_eq!(
        types,
        [
            "run.started",
            "worker.subscription_check.failed",
            "run.failed"
        ]
    );
}

#[tokio::test]
async fn planning_what_a_worker_knows_needs_somebody_who_gives_the_job() {
    let fixture = Fixture::new();
    let mut spec = fixture.spec("job_1", json!({"context_mode": "auto"}));
    spec.manager_actor_id = None;
    let refused = fixture
        .jobs
        .submit(spec, Resubmit::Refuse, MAY)
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("manager_actor_id"),
        "{refused}"
    );
    let seeds = json!([{"kind": "note", "value": "password=hunter2hunter2"}, {"kind": "note", "value": "port 80"}]);
    fixture.codex(&format!("cat > $d/stdin; echo '{DONE}'"));
    fixture
        .job(
            "job_2",
            json!({"context_mode": "auto", "context_refs": seeds}),
        )
        .await;
    let asked = fs::read_to_string(fixture.bin().join("stdin")).expect("a prompt");
    assert!(
        asked.contains("port 80") && !asked.contains("hunter2"),
        "{asked}"
    );
    let record = fixture.read("jobs/job_2/job.yaml");
    assert!(!record.contains("hunter2"), "{record}");
}

#[tokio::test]
async fn the_server_chooses_an_id_where_the_caller_does_not_and_never_a_path() {
    let fixture = Fixture::new();
    fixture.codex(&format!("cat > /dev/null; echo '{DONE}'"));
    let submitted = fixture
        .jobs
        .submit(fixture.spec("  ", json!({})), Resubmit::Refuse, MAY)
        .await;
    let job = submitted.expect("a job").job_id;
    assert!(job.as_str().starts_with("job_"));
    fixture
        .jobs
        .over(&fixture.company, &fixture.project, &job)
        .await;
    let escaped = fixture
        .jobs
        .submit(fixture.spec("../x", json!({})), Resubmit::Refuse, MAY)
        .await;
    assert!(matches!(
        escaped,
        Err(sessions::Error::Company(company::Error::Params(_)))
    ));
}

#[tokio::test]
async fn an_id_is_used_again_only_by_somebody_who_says_so() {
    let fixture = Fixture::new();
    fixture.codex(&format!("cat > /dev/null; echo '{DONE}'"));
    fixture.job("job_1", json!({})).await;
    let again = fixture
        .jobs
        .submit(fixture.spec("job_1", json!({})), Resubmit::Refuse, MAY)
        .await;
    assert!(again.unwrap_err().to_string().contains("exists already"));
    fixture.codex("cat > /dev/null; read never < $d/gate; exit 1");
    fixture.gate();
    let again = fixture
        .jobs
        .submit(fixture.spec("job_1", json!({})), Resubmit::Forget, MAY)
        .await;
    assert_eq!(again.expect("a job").status, JobStatus::Queued);
    let collected = fixture.collect("job_1").await;
    assert_eq!(collected.result, None, "the old result is forgotten");
    fixture.cancel("job_1").await;
}

#[tokio::test]
async fn a_running_attempt_is_visible_and_a_wish_to_cancel_holds() {
    let fixture = Fixture::new();
    fixture.gate();
    fixture.codex("cat > /dev/null; echo up > $d/up; read never < $d/gate");
    fixture.gate_named("up");
    let spec = fixture.spec("job_1", json!({}));
    fixture
        .jobs
        .submit(spec.clone(), Resubmit::Refuse, MAY)
        .await
        .expect("a job");
    fixture.wait_for("up").await;
    let collected = fixture.collect("job_1").await;
    assert_eq!(collected.job.status, JobStatus::Running);
    assert_eq!(collected.job.attempts[0].status, RunStatus::Running);
    let again = fixture
        .jobs
        .submit(spec, Resubmit::Refuse, MAY)
        .await
        .expect("an answer");
    assert_eq!(
        again.status,
        JobStatus::Running,
        "an active job is not started twice"
    );
    let canceled = fixture.cancel("job_1").await;
    assert_eq!(canceled.job.status, JobStatus::Canceled);
    assert!(canceled.job.cancellation_requested);
    assert_eq!(canceled.job.attempts[0].status, RunStatus::Stopped);
}

#[tokio::test]
async fn a_rate_limited_job_waits_until_its_provider_said_and_burns_no_attempt() {
    let fixture = Fixture::new();
    fixture.codex(&format!(
        "cat > /dev/null; if [ $n = 1 ]; then\n\
         echo '{{\"type\":\"turn.failed\",\"error\":{{\"message\":\"Rate limit reached. Suggested retry after 1s.\"}}}}'; exit 1; fi; echo '{DONE}'"
    ));
    let collected = fixture.job("job_1", json!({})).await;
    let attempts = &collected.job.attempts;
    assert_eq!(attempts.len(), 2);
    assert!(
        attempts[0]
            .error
            .as_deref()
            .is_some_and(|error| error.starts_with("rate limited until "))
    );
    assert_eq!(
        collected
            .manager_digest
            .expect("a digest")
            .signals
            .get("retries_used"),
        Some(&json!(0))
    );
    assert!(
        fixture
            .event_types(&attempts[0].run_id)
            .contains(&"worker.backoff".to_owned())
    );
}

#[tokio::test]
async fn a_job_whose_process_is_gone_has_failed_and_says_why() {
    let fixture = Fixture::new();
    fixture.codex(&format!("cat > /dev/null; echo '{DONE}'"));
    let collected = fixture.job("job_1", json!({})).await;
    // The record of a process that was killed during the attempt.
    fixture.edit("jobs/job_1/job.yaml", |text| {
        text.replace("status: completed", "status: running")
            .replace("status: ended", "status: running")
            .replace("final_result_relpath: jobs/job_1/result.json\n", "")
    });
    fs::remove_file(fixture.project_path("jobs/job_1/result.json")).expect("a result");
    let later = fixture.restarted();
    let found = later.collect("job_1").await;
    assert_eq!(codes(&found), ["orphaned"]);
    assert_eq!(found.job.status, JobStatus::Completed);
    assert_eq!(found.job.attempts[0].status, RunStatus::Failed);
    assert_eq!(found.job.attempts.len(), collected.job.attempts.len());
}

#[tokio::test]
async fn a_job_that_had_not_begun_goes_on_after_a_restart() {
    let fixture = Fixture::new();
    fixture.codex(&format!("cat > /dev/null; echo '{DONE}'"));
    fixture.job("job_1", json!({})).await;
    fixture.edit("jobs/job_1/job.yaml", |text| {
        let attempts = text.find("attempts:").expect("attempts");
        text[..attempts]
            .replace("status: completed", "status: queued")
            .replace("current_attempt: 1", "current_attempt: 0")
            + "attempts: []\n"
    });
    let later = fixture.restarted();
    later.collect("job_1").await;
    let job = protocol::Id::parse("job_1").expect("an id");
    later.jobs.over(&later.company, &later.project, &job).await;
    let found = later.collect("job_1").await;
    assert_eq!(found.job.status, JobStatus::Completed);
    assert_eq!(
        found.result.expect("a result").status,
        JobResultStatus::Succeeded
    );
}

#[tokio::test]
async fn a_woken_worker_reports_and_the_report_is_repaired_once() {
    let fixture = Fixture::new();
    fixture.codex(
        "cat > /dev/null; if [ $n = 1 ]; then echo '{\"status\":\"ok\",\"summary\":\"no token\"}'; \
         else echo '{\"status\":\"ok\",\"token\":\"HEARTBEAT_OK\",\"summary\":\"quiet\"}'; fi",
    );
    let collected = fixture.job("job_1", json!({"job_kind": "heartbeat"})).await;
    assert_eq!(
        collected
            .heartbeat_report
            .expect("a report")
            .summary
            .as_str(),
        "quiet"
    );
    assert_eq!(
        collected
            .manager_digest
            .expect("a digest")
            .signals
            .get("heartbeat_status"),
        Some(&json!("ok"))
    );
}

#[tokio::test]
async fn a_program_that_is_not_installed_blocks_the_job_at_the_first_attempt() {
    let fixture = Fixture::new();
    fixture.agent("agent_c", "claude", json!({}));
    let machine = fixture.company.path(".local/machine.yaml");
    let text = std::fs::read_to_string(&machine).expect("a file");
    #[expect(clippy::disallowed_methods, reason = "a test lays out files")]
    std::fs::write(&machine, text + "  claude: /no/such/claude\n").expect("a file");
    let job = json!({"worker_kind": "claude", "worker_agent_id": "agent_c"});
    let collected = fixture.job("job_1", job).await;
    assert_eq!(codes(&collected), ["worker_unavailable"]);
    assert_eq!(collected.job.attempts.len(), 1);
    let result = collected.result.expect("a result");
    assert_eq!(
        result.errors[0].message.as_str(),
        "/no/such/claude is not installed or not in PATH"
    );
}

#[tokio::test]
async fn stopping_the_session_of_an_attempt_ends_the_job() {
    let fixture = Fixture::new();
    fixture.gate();
    fixture.gate_named("up");
    fixture.codex("cat > /dev/null; echo up > $d/up; read never < $d/gate");
    let spec = fixture.spec("job_1", json!({}));
    let submitted = fixture.jobs.submit(spec, Resubmit::Refuse, MAY).await;
    submitted.expect("a job");
    fixture.wait_for("up").await;
    let session_ref = fixture.collect("job_1").await.job.attempts[0]
        .session_ref
        .to_string();
    let dir = fixture.company.given().to_owned();
    let stopped = fixture.sessions.stop(Some(&dir), &session_ref, MAY).await;
    stopped.expect("a session");
    let job = crate::fixture::job_id("job_1");
    let over = fixture.jobs.over(&fixture.company, &fixture.project, &job);
    over.await;
    let collected = fixture.collect("job_1").await;
    assert_eq!(collected.job.status, JobStatus::Canceled);
    assert_eq!(collected.job.attempts.len(), 1);
}

#[tokio::test]
async fn a_shell_in_a_template_is_refused_before_anything_runs() {
    let fixture = Fixture::new();
    fixture.agent(
        "agent_t",
        "gemini",
        json!({"command_argv_template": ["/bin/sh", "-c", "echo"]}),
    );
    let job = json!({"worker_kind": "gemini", "worker_agent_id": "agent_t"});
    let collected = fixture.job("job_1", job).await;
    assert_eq!(codes(&collected), ["job_runner_error"]);
    assert_eq!(collected.job.attempts, []);
}

#[tokio::test]
async fn a_job_that_is_being_worked_on_when_the_gateway_stops_is_found_by_the_next_one() {
    let fixture = Fixture::new();
    fixture.gate();
    fixture.gate_named("up");
    fixture.codex("cat > /dev/null; echo up > $d/up; read never < $d/gate");
    fixture
        .jobs
        .submit(fixture.spec("job_1", json!({})), Resubmit::Refuse, MAY)
        .await
        .expect("a job");
    fixture.wait_for("up").await;
    tokio::time::timeout(Duration::from_secs(20), fixture.jobs.close())
        .await
        .expect("an end");
    let found = fixture.restarted().collect("job_1").await;
    assert_eq!(codes(&found), ["orphaned"]);
}

#[tokio::test]
async fn a_job_hears_of_those_who_ask_another_process_for_its_end() {
    let fixture = Fixture::new();
    fixture.gate();
    fixture.gate_named("up");
    fixture.codex("cat > /dev/null; echo up > $d/up; read line < $d/gate");
    let spec = fixture.spec("job_1", json!({}));
    fixture
        .jobs
        .submit(spec, Resubmit::Refuse, MAY)
        .await
        .expect("an answer");
    fixture.wait_for("up").await;
    let other = fixture.restarted();
    let asked = other.cancel("job_1").await;
    assert!(asked.job.cancellation_requested);
    let job = JobId::parse("job_1").expect("an id");
    fixture
        .jobs
        .over(&fixture.company, &fixture.project, &job)
        .await;
    let polled = fixture.collect("job_1").await;
    assert_eq!(polled.job.status, JobStatus::Canceled);
    assert!(polled.job.cancellation_requested);
}

#[tokio::test]
async fn a_record_of_a_job_that_came_with_the_folder_starts_nothing() {
    let fixture = Fixture::new();
    fixture.codex(&format!("touch $d/started; cat > /dev/null; echo '{DONE}'"));
    let then = "2025-11-15T12:00:00.000Z";
    let spec = fixture.spec("job_1", json!({"context_mode": "manual"}));
    let record = json!({"schema_version": 1, "type": "job_record", "job": spec, "created_at": then,
        "updated_at": then, "status": "queued", "cancellation_requested": false, "current_attempt": 0,
        "attempts": []});
    let path = fixture.project_path("jobs/job_1/job.yaml");
    company::files::replace(&path, record.to_string().as_bytes()).expect("a record");
    // A lease as an attacker without the key of this machine would forge it.
    let lease = fixture
        .company
        .path(&format!(".local/jobs/{}/job_1.json", fixture.project));
    let forged = json!({"seal": "0".repeat(64), "note": {"owner": null}});
    fs::create_dir_all(lease.parent().expect("a folder")).expect("a folder");
    company::files::replace(&lease, forged.to_string().as_bytes()).expect("a lease");

    let found = fixture.collect("job_1").await;
    assert_eq!(found.job.status, JobStatus::Queued);
    assert_eq!(found.job.attempts, []);
    let job = JobId::parse("job_1").expect("an id");
    let jobs = &fixture.jobs;
    let ended = jobs
        .cancel(fixture.company.given(), &fixture.project, &job, MAY)
        .await;
    assert_eq!(ended.expect("a job").status, JobStatus::Canceled);
    assert!(!fixture.bin().join("started").exists());
}

#[tokio::test]
async fn a_job_taken_over_while_it_waits_goes_on_when_its_provider_said() {
    let fixture = Fixture::new();
    fixture.codex(&format!("cat > /dev/null; echo '{DONE}'"));
    // The job runs once, so that this machine has a lease of it.
    fixture
        .job("job_1", json!({"context_mode": "manual"}))
        .await;
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let (then, until) = (company::iso_time(now_ms), company::iso_time(now_ms + 1500));
    let spec = fixture.spec("job_1", json!({"context_mode": "manual"}));
    let attempt = json!({"attempt": 1, "run_id": "run_0", "context_pack_id": "ctx_0", "session_ref": "s_0",
        "worker_kind": "codex", "worker_agent_id": "agent_w", "provider": "codex", "started_at": then,
        "ended_at": then, "status": "failed", "error": format!("rate limited until {until}: try later")});
    let record = json!({"schema_version": 1, "type": "job_record", "job": spec, "created_at": then,
        "updated_at": then, "status": "running", "cancellation_requested": false, "current_attempt": 1,
        "attempts": [attempt]});
    let path = fixture.project_path("jobs/job_1/job.yaml");
    company::files::replace(&path, record.to_string().as_bytes()).expect("a record");
    fixture.collect("job_1").await;
    let job = JobId::parse("job_1").expect("an id");
    fixture
        .jobs
        .over(&fixture.company, &fixture.project, &job)
        .await;
    let attempts = fixture.collect("job_1").await.job.attempts;
    assert_eq!(attempts.len(), 2, "it is resumed once");
    assert!(
        *attempts[1].started_at >= *until,
        "{} is before {until}",
        attempts[1].started_at
    );
}

#[tokio::test]
async fn seeds_that_are_given_twice_are_kept_once_in_auto_mode() {
    let fixture = Fixture::new();
    fixture.codex(&format!("cat > /dev/null; echo '{DONE}'"));
    let seeds = json!([
        {"kind": "note", "value": "a", "description": "first"},
        {"kind": "note", "value": "b"},
        {"kind": "note", "value": "a", "description": "second"},
        {"kind": "file", "value": "a"},
    ]);
    let auto = json!({
        "context_mode": "auto", "context_refs": seeds, "manager_actor_id": "boss", "manager_role": "manager",
    });
    fixture.job("job_1", auto).await;
    let id = JobId::parse("job_1").expect("an id");
    let record =
        company::execution::job::record(&fixture.company, &fixture.project, &id).expect("a record");
    let refs = json!(record.job.context_refs);
    let shown: Vec<_> = refs
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            format!(
                "{}:{}",
                one["kind"].as_str().expect("a kind"),
                one["value"].as_str().expect("a value")
            )
        })
        .collect();
    assert_eq!(shown, ["note:a", "note:b", "file:a"]);
}

#[tokio::test]
async fn an_attempt_that_was_blocked_tells_the_format_it_would_have_had() {
    let fixture = Fixture::new();
    // The agent's provider has no credentials.
    fixture.agent("agent_g", "gemini", json!({}));
    let job = json!({"worker_kind": "gemini", "worker_agent_id": "agent_g"});
    let blocked = fixture.job("job_1", job).await;
    assert_eq!(codes(&blocked), ["subscription_unverified"]);
    let attempt = &blocked.job.attempts[0];
    assert_eq!(attempt.output_format.as_deref(), Some("stream-json"));
    let errors = &blocked.result.as_ref().expect("a result").errors;
    for route in [
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_GENAI_USE_VERTEXAI",
    ] {
        assert!(errors[0].message.contains(route), "{errors:?}");
    }
}
