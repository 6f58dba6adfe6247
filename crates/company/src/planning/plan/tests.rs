//! Plans of a few tasks.

use insta::assert_snapshot;
use proptest::prelude::*;
use protocol::{Id as _, company::Text};
use serde_json::{Value, json};

use super::*;

const NOON: i64 = 1_763_208_000_000;

/// Builds a task from its id, status and schedule.
fn task(id: &str, status: &str, schedule: &Value) -> Task {
    let mut task = json!({
        "schema_version": 1, "type": "task", "id": id, "project_id": "proj_1", "title": format!("Task {id}"),
        "created_at": "2024-06-01T00:00:00.000Z", "status": status, "visibility": "team", "milestones": [],
    });
    if !schedule.is_null() {
        let mut schedule = schedule.clone();
        if schedule.get("depends_on_task_ids").is_none() {
            schedule["depends_on_task_ids"] = json!([]);
        }
        task["schedule"] = schedule;
    }
    serde_json::from_value(task).expect("a task")
}

/// Prints a plan with one line per bar.
fn drawn(tasks: &[Task]) -> String {
    let tasks: Vec<&Task> = tasks.iter().collect();
    let gantt = gantt(&tasks, NOON);
    let mut text = format!(
        "{:?}, {} days, {} left, cycle {:?}\n",
        gantt.cpm_status,
        gantt.project_span_days,
        gantt.remaining_span_days.unwrap_or_default(),
        gantt.cycle_task_ids
    );
    for bar in &gantt.tasks {
        let left = bar.remaining_slack_days;
        let marks = [
            (" critical", bar.critical),
            (" conflict", bar.schedule_conflict),
        ];
        let marks: String = marks
            .into_iter()
            .filter(|(_, is_set)| *is_set)
            .map(|(mark, _)| mark)
            .collect();
        text.push_str(&format!(
            "{} {} .. {} {} days, slack {}, left {left:?}{marks}\n",
            bar.task_id,
            &bar.start_at[..10],
            &bar.end_at[..10],
            bar.duration_days,
            bar.slack_days,
        ));
    }
    text
}

#[test]
fn what_is_done_takes_no_time_and_what_is_given_up_takes_no_part_in_what_remains() {
    let tasks = [
        task("a", "done", &json!({"duration_days": 5})),
        task(
            "b",
            "ready",
            &json!({"duration_days": 2, "depends_on_task_ids": ["a"]}),
        ),
        task(
            "c",
            "canceled",
            &json!({"duration_days": 9, "depends_on_task_ids": ["a"]}),
        ),
        task(
            "d",
            "ready",
            &json!({"duration_days": 1, "depends_on_task_ids": ["b", "c"]}),
        ),
    ];
    assert_snapshot!(drawn(&tasks), @r"
    Ok, 15 days, 3 left, cycle []
    a 2025-11-15 .. 2025-11-20 5 days, slack 0, left Some(0) critical
    b 2025-11-20 .. 2025-11-22 2 days, slack 7, left Some(0)
    c 2025-11-20 .. 2025-11-29 9 days, slack 0, left None critical
    d 2025-11-29 .. 2025-11-30 1 days, slack 0, left Some(0) critical
    ");
}

#[test]
fn tasks_in_a_circle_are_named_and_do_not_disturb_the_others() {
    let tasks = [
        task(
            "a",
            "ready",
            &json!({"duration_days": 2, "depends_on_task_ids": ["b"]}),
        ),
        task(
            "b",
            "ready",
            &json!({"duration_days": 3, "depends_on_task_ids": ["a"]}),
        ),
        task("c", "ready", &json!({"duration_days": 4})),
        task(
            "d",
            "ready",
            &json!({"duration_days": 1, "depends_on_task_ids": ["a", "c"]}),
        ),
    ];
    assert_snapshot!(drawn(&tasks), @r#"
    DependencyCycle, 5 days, 5 left, cycle ["a", "b"]
    a 2025-11-15 .. 2025-11-17 2 days, slack 0, left None
    b 2025-11-15 .. 2025-11-18 3 days, slack 0, left None
    c 2025-11-15 .. 2025-11-19 4 days, slack 0, left Some(0) critical
    d 2025-11-19 .. 2025-11-20 1 days, slack 0, left Some(0) critical
    "#);
}

#[test]
fn dates_somebody_gave_are_shown_and_contradictions_are_marked() {
    let tasks = [
        task(
            "a",
            "ready",
            &json!({"planned_start": "2031-03-03", "duration_days": 4}),
        ),
        task(
            "early",
            "ready",
            &json!({"planned_start": "2031-03-04", "depends_on_task_ids": ["a"]}),
        ),
        task(
            "late",
            "ready",
            &json!({"planned_start": "2031-05-01", "duration_days": 2, "depends_on_task_ids": ["a"]}),
        ),
        task(
            "due",
            "ready",
            &json!({"planned_end": "2031-03-05", "duration_days": 3, "depends_on_task_ids": ["a"]}),
        ),
        task(
            "span",
            "ready",
            &json!({"planned_start": "2031-03-10T00:00:00Z", "planned_end": "2031-03-12T06:00:00+02:00"}),
        ),
        task(
            "some_day",
            "ready",
            &json!({"planned_start": "whenever", "planned_end": "soon"}),
        ),
    ];
    assert_snapshot!(drawn(&tasks), @r"
    Ok, 7 days, 7 left, cycle []
    a 2031-03-03 .. 2031-03-07 4 days, slack 0, left Some(0) critical
    some_day 2031-03-03 .. 2031-03-04 1 days, slack 6, left Some(6)
    early 2031-03-04 .. 2031-03-05 1 days, slack 2, left Some(2) conflict
    due 2031-03-07 .. 2031-03-05 3 days, slack 0, left Some(0) critical conflict
    span 2031-03-10 .. 2031-03-12 3 days, slack 4, left Some(4)
    late 2031-05-01 .. 2031-05-03 2 days, slack 1, left Some(1)
    ");
}

#[test]
fn a_calendar_entry_of_a_task_that_cannot_be_done_in_time_ends_on_its_planned_end() {
    let tasks = [
        task(
            "a",
            "ready",
            &json!({"planned_start": "2031-03-03", "duration_days": 4}),
        ),
        task(
            "due",
            "ready",
            &json!({"planned_end": "2031-03-05", "duration_days": 3, "depends_on_task_ids": ["a"]}),
        ),
    ];
    let tasks: Vec<&Task> = tasks.iter().collect();
    let project = ProjectId::parse("proj_1").unwrap();
    let calendar = export::ics("Plan", &project, &gantt(&tasks, NOON), NOON);
    let due = calendar.split("BEGIN:VEVENT").last().unwrap();
    assert!(due.contains("DTSTART:20310302T000000Z"), "{due}");
    assert!(due.contains("DTEND:20310305T000000Z"), "{due}");
}

#[test]
fn a_plan_without_dates_begins_today_at_midnight() {
    let tasks = [task("a", "ready", &Value::Null)];
    let tasks: Vec<&Task> = tasks.iter().collect();
    let gantt = gantt(&tasks, NOON);
    assert_eq!(gantt.tasks[0].start_at, "2025-11-15T00:00:00.000Z");
    assert_eq!(gantt.tasks[0].end_at, "2025-11-16T00:00:00.000Z");
}

#[test]
fn a_long_task_counts_more_in_the_weighted_progress() {
    let tasks = [
        task("a", "done", &json!({"duration_days": 9})),
        task("b", "ready", &json!({"duration_days": 1})),
    ];
    let tasks: Vec<&Task> = tasks.iter().collect();
    let plan = project_plan(ProjectId::parse("proj_1").unwrap(), &tasks, NOON);
    assert_eq!(plan.summary.progress_pct, 50.0);
    assert_eq!(plan.summary.progress_weighted_pct, 90.0);
}

#[test]
fn an_export_says_nothing_but_the_plan() {
    let mut first = task(
        "a",
        "done",
        &json!({"planned_start": "2031-03-03", "duration_days": 2}),
    );
    first.title = Text::new("=1+1, \"quoted\"; title:\nsection x").unwrap();
    first.team_id = Text::new("team_x");
    let mut second = task("b", "ready", &json!({"depends_on_task_ids": ["a"]}));
    second.title = Text::new(format!("Section {}", "Grüße ".repeat(12).trim())).unwrap();
    let tasks = [&first, &second];
    let gantt = gantt(&tasks, NOON);
    let project = ProjectId::parse("proj_1").unwrap();
    assert_snapshot!(export::mermaid("A: plan", &gantt), @r"
    gantt
        title A plan
        dateFormat YYYY-MM-DD HH:mm
        axisFormat %Y-%m-%d
        section team_x
        =1+1 quoted title section x :crit, done, t1, 2031-03-03 00:00, 2031-03-05 00:00
        section No team
        'Section Grüße Grüße Grüße Grüße Grüße Grüße Grüße Grüße Grüße Grüße Grüße Grüße :crit, t2, 2031-03-05 00:00, 2031-03-06 00:00
    ");
    assert_snapshot!(export::csv(&gantt).replace('\r', ""), @r#"
    task_id,title,status,team_id,assignee_agent_id,progress_pct,start_at,end_at,duration_days,slack_days,critical,depends_on_task_ids
    a,"'=1+1, ""quoted""; title:
    section x",done,team_x,,100,2031-03-03T00:00:00.000Z,2031-03-05T00:00:00.000Z,2,0,true,
    b,Section Grüße Grüße Grüße Grüße Grüße Grüße Grüße Grüße Grüße Grüße Grüße Grüße,ready,,,0,2031-03-05T00:00:00.000Z,2031-03-06T00:00:00.000Z,1,0,true,a
    "#);
    assert_snapshot!(export::ics("A: plan", &project, &gantt, NOON).replace('\r', ""), @r#"
    BEGIN:VCALENDAR
    VERSION:2.0
    PRODID:-//Accord//Plan//EN
    X-WR-CALNAME:A: plan
    BEGIN:VEVENT
    UID:a.proj_1@accord
    DTSTAMP:20251115T120000Z
    DTSTART:20310303T000000Z
    DTEND:20310305T000000Z
    SUMMARY:=1+1\, "quoted"\; title:\nsection x
    DESCRIPTION:done\, 100 % done\, critical
    STATUS:CONFIRMED
    TRANSP:TRANSPARENT
    END:VEVENT
    BEGIN:VEVENT
    UID:b.proj_1@accord
    DTSTAMP:20251115T120000Z
    DTSTART:20310305T000000Z
    DTEND:20310306T000000Z
    SUMMARY:Section Grüße Grüße Grüße Grüße Grüße Grüße Grüße Gr
     üße Grüße Grüße Grüße Grüße
    DESCRIPTION:ready\, 0 % done\, critical
    STATUS:CONFIRMED
    TRANSP:TRANSPARENT
    RELATED-TO;RELTYPE=DEPENDS-ON:a.proj_1@accord
    END:VEVENT
    END:VCALENDAR
    "#);
    for line in export::ics("A", &project, &gantt, NOON).split("\r\n") {
        assert!(line.len() <= 75, "{line}");
    }
}

/// Dates as they occur in files: none, valid, far away and malformed.
fn any_date() -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        2 => Just(None),
        1 => Just(Some("soon".to_owned())),
        1 => Just(Some("9999-12-31T23:59:59Z".to_owned())),
        1 => Just(Some("-009999-01-02T00:00:00Z".to_owned())),
        4 => (1i64..400, 0i64..DAY_MS).prop_map(|(day, ms)| Some(iso_time(NOON + day * DAY_MS + ms))),
    ]
}

fn any_task(
    count: usize,
) -> impl Strategy<Value = (Option<String>, Option<String>, Option<u64>, Vec<usize>)> {
    let days = prop_oneof![
        3 => Just(None),
        5 => (1u64..40).prop_map(Some),
        1 => Just(Some(u64::MAX)),
    ];
    (
        any_date(),
        any_date(),
        days,
        prop::collection::vec(0..count, 0..4),
    )
}

proptest! {
    #[test]
    fn a_bar_ends_before_it_starts_only_where_a_planned_end_contradicts_the_dependencies(tasks in prop::collection::vec(any_task(8), 1..8)) {
        let tasks: Vec<Task> = tasks
            .into_iter()
            .enumerate()
            .map(|(index, (start, end, days, needs))| {
                let needs: Vec<String> = needs.iter().map(|index| format!("t{index}")).collect();
                let schedule = json!({
                    "planned_start": start, "planned_end": end, "duration_days": days, "depends_on_task_ids": needs,
                });
                task(&format!("t{index}"), "ready", &schedule)
            })
            .collect();
        let tasks: Vec<&Task> = tasks.iter().collect();
        let gantt = gantt(&tasks, NOON);
        prop_assert_eq!(gantt.tasks.len(), tasks.len());
        for bar in &gantt.tasks {
            let schedule = tasks.iter().find(|task| task.id.as_str() == bar.task_id).unwrap();
            let schedule = schedule.schedule.as_ref().unwrap();
            let has_only_an_end = schedule.planned_end.is_some()
                && schedule.planned_start.as_deref().and_then(date).is_none();
            let is_contradiction = has_only_an_end && bar.schedule_conflict;
            prop_assert!(bar.start_at <= bar.end_at || is_contradiction, "{bar:?}");
            prop_assert!(unix_ms(&bar.start_at).is_some() && bar.start_at.len() == 24, "{bar:?}");
            prop_assert!(bar.end_at.len() == 24, "{bar:?}");
        }
        let starts: Vec<_> = gantt.tasks.iter().map(|bar| &bar.start_at).collect();
        prop_assert!(starts.is_sorted());
    }
}
