//! The texts of the demo: the documents that its workers write and the instructions they follow.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

pub(super) const RULES: &str = "\
# Fernway

We sell guided bicycle tours. Fourteen people, three harbours, one season a year.

## How we work
- Guests first: a change that could lose a booking waits for a person.
- Say what you did and what you did not; name the failing check instead of calling it done.
- Money is counted in whole cents. Dates are those of the tour's harbour.

## Never
- Write to the live bookings. Use the copy from last night.
- Send mail to guests.
";

pub(super) const PROJECT_RULES: &str = "\
# Online booking

What holds for all of Fernway, and:

- The page must be readable at 320 pixels and with a screen reader.
- Every change comes with a test that fails without it.
- Words for guests come from Marketing; leave `TODO(words)` where they are missing.
";

pub(super) const PAYMENTS_RULES: &str = "\
# Payments

What holds for Online booking, and:

- Only the sandbox of the payment provider. Its keys are in the vault, never in a file.
- A payment is tried twice at most, both times with the same idempotency key.
- Rounding happens once, when the basket is closed.
";

pub(super) const REFUND_NOTES: &str = "\
# Refund rules

Agreed with the harbours for the coming season.

| Cancelled | The guest gets back |
|---|---|
| more than 7 days before | the whole price |
| 7 days to 24 hours before | half of it |
| less than 24 hours before | nothing, or another date |
| by us, because of the weather | the whole price and a voucher of 10 % |

1. The rule at the time of *booking* counts.
2. A group is cancelled as a whole.
3. Vouchers are not paid out.
";

/// Returns the prices of the coming season as a JSON file.
pub(super) fn prices() -> String {
    let tours = json!({
        "season": "spring",
        "currency": "EUR",
        "tours": [
            {"id": "harbour", "name": "Harbour round", "hours": 2, "adult_cents": 3400, "child_cents": 1900, "seats": 12},
            {"id": "dunes", "name": "Dunes and lighthouse", "hours": 4, "adult_cents": 5900, "child_cents": 3200, "seats": 10},
            {"id": "islands", "name": "Three islands in a day", "hours": 8, "adult_cents": 9800, "child_cents": 5400, "seats": 8},
        ],
    });
    format!("{tours:#}\n")
}

pub(super) const CAMPAIGN: &str = "\
Open the season with a campaign for guests who were with us before: a letter in February, early prices for two weeks, \
and a page that shows the three tours with the dates that are still free. It must not start before online booking \
is open for all tours.";

/// A task before it has an id.
pub(super) struct DemoTask {
    pub(super) key: &'static str,
    title: &'static str,
    status: &'static str,
    pub(super) team: DemoTeam,
    /// Index of the worker in the team.
    pub(super) worker: usize,
    /// Start of the task, in days from today.
    start: i64,
    days: i64,
    needs: &'static [&'static str],
    milestones: &'static [(&'static str, &'static str, &'static str)],
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum DemoTeam {
    Engineering,
    Marketing,
}

/// The plan of online booking. Its critical path is `tours` → `payments` → `load` → `pilot` → `launch`.
pub(super) const TASKS: &[DemoTask] = &[
    DemoTask {
        key: "tours",
        title: "Model tours, seats and prices",
        status: "done",
        team: DemoTeam::Engineering,
        worker: 0,
        start: -11,
        days: 4,
        needs: &[],
        milestones: &[
            ("Agree on what a tour is", "planning", "done"),
            ("Store tours and seats", "coding", "done"),
        ],
    },
    DemoTask {
        key: "payments",
        title: "Take payments and give refunds",
        status: "in_progress",
        team: DemoTeam::Engineering,
        worker: 1,
        start: -7,
        days: 8,
        needs: &["tours"],
        milestones: &[
            ("Agree on the refund rules", "planning", "done"),
            ("Charge and refund in the sandbox", "coding", "in_progress"),
            ("Watch the first hundred payments", "planning", "draft"),
        ],
    },
    DemoTask {
        key: "page",
        title: "Build the booking page",
        status: "in_progress",
        team: DemoTeam::Engineering,
        worker: 0,
        start: -5,
        days: 7,
        needs: &["tours"],
        milestones: &[
            ("Choose date, tour and seats", "coding", "done"),
            ("Pay and get a confirmation", "coding", "ready"),
        ],
    },
    DemoTask {
        key: "words",
        title: "Write the words of the booking page",
        status: "in_progress",
        team: DemoTeam::Marketing,
        worker: 0,
        start: -3,
        days: 4,
        needs: &["tours"],
        milestones: &[("Texts in three languages", "planning", "in_progress")],
    },
    DemoTask {
        key: "load",
        title: "Load test at twice the spring peak",
        status: "ready",
        team: DemoTeam::Engineering,
        worker: 1,
        start: 1,
        days: 3,
        needs: &["payments"],
        milestones: &[("Forty bookings a second for an hour", "coding", "ready")],
    },
    DemoTask {
        key: "guide",
        title: "Guide for the tour leaders",
        status: "blocked",
        team: DemoTeam::Marketing,
        worker: 1,
        start: 2,
        days: 2,
        needs: &["page"],
        milestones: &[("One page, with pictures", "planning", "blocked")],
    },
    DemoTask {
        key: "pilot",
        title: "Pilot with the harbour round",
        status: "draft",
        team: DemoTeam::Engineering,
        worker: 0,
        start: 4,
        days: 3,
        needs: &["page", "words", "load"],
        milestones: &[("Twenty guests book by themselves", "planning", "draft")],
    },
    DemoTask {
        key: "launch",
        title: "Open booking for all tours",
        status: "draft",
        team: DemoTeam::Engineering,
        worker: 1,
        start: 7,
        days: 1,
        needs: &["pilot", "guide"],
        milestones: &[("Switch the old form off", "planning", "draft")],
    },
];

impl DemoTask {
    pub(super) fn id(key: &str) -> String {
        format!("task_booking_{key}")
    }

    /// Returns the file that the planner writes. The schedule is added afterwards.
    pub(super) fn text(&self, project: &str, team: &str, worker: &str, now: Timestamp) -> String {
        let milestones = self.milestones.iter().enumerate();
        let milestones: Vec<Value> = milestones
            .map(|(index, (title, kind, status))| {
                json!({
                    "id": format!("ms_{}_{}", self.key, index + 1), "title": title, "kind": kind, "status": status,
                    "acceptance_criteria": ["The checks pass", "A person has looked at it"],
                })
            })
            .collect();
        let head = [
            ("schema_version", json!(1)),
            ("type", json!("task")),
            ("id", json!(Self::id(self.key))),
            ("project_id", json!(project)),
            ("title", json!(self.title)),
            ("status", json!(self.status)),
            ("visibility", json!("org")),
            ("created_at", json!(moment(now))),
            ("team_id", json!(team)),
            ("assignee_agent_id", json!(worker)),
            ("deliverables", json!([self.title])),
            (
                "acceptance_criteria",
                json!(["The checks pass", "A person has looked at it"]),
            ),
            ("milestones", json!(milestones)),
        ];
        let list: String = self
            .milestones
            .iter()
            .map(|(title, _, _)| format!("- {title}\n"))
            .collect();
        let title = self.title;
        document(
            &head,
            &format!(
                "# {title}\n\n## Contract\n\nWhat is delivered is reviewed before guests see it.\n\n## Milestones\n\n{list}"
            ),
        )
    }

    /// Returns the schedule of the task.
    pub(super) fn schedule(&self, now: Timestamp) -> Value {
        let needs: Vec<String> = self.needs.iter().map(|key| Self::id(key)).collect();
        json!({
            "planned_start": day(now, self.start),
            "planned_end": day(now, self.start + self.days),
            "duration_days": self.days,
            "depends_on_task_ids": needs,
        })
    }
}

/// The report that waits for a decision.
pub(super) struct DemoReport<'a> {
    pub(super) project: &'a str,
    pub(super) run: &'a str,
    pub(super) context_pack: &'a str,
    pub(super) by: &'a str,
}

impl DemoReport<'_> {
    /// Returns the files of the report, with names relative to the artifacts of the project.
    pub(super) fn files(&self, now: Timestamp) -> [(&'static str, String); 3] {
        let head = [
            ("schema_version", json!(1)),
            ("type", json!("milestone_report")),
            ("id", json!("art_refunds_report")),
            ("created_at", json!(moment(now))),
            ("title", json!("Charging and refunding work in the sandbox")),
            ("visibility", json!("managers")),
            ("produced_by", json!(self.by)),
            ("run_id", json!(self.run)),
            ("context_pack_id", json!(self.context_pack)),
            ("project_id", json!(self.project)),
            ("task_id", json!(DemoTask::id("payments"))),
            ("milestone_id", json!("ms_payments_2")),
            ("evidence_artifacts", json!(["art_refunds_patch"])),
            ("tests_artifacts", json!(["art_refunds_tests"])),
        ];
        let body = "\
# Charging and refunding work in the sandbox

## Summary

A booking is charged once and refunded by the rules of the season. A refund of a group of eight takes **0.4 s**.

## Evidence

- The patch changes `refunds.rs` alone.
- 61 tests pass, 9 of them new.

## Next

- The confirmation mail still waits for the words of Marketing.
";
        let patch = "\
--- a/src/refunds.rs
+++ b/src/refunds.rs
@@ -12,3 +12,7 @@
 pub fn refund(booking: &Booking, now: Time) -> Cents {
-    booking.price
+    match booking.starts_at - now {
+        left if left > Days(7) => booking.price,
+        left if left > Hours(24) => booking.price.half_rounded_once(),
+        _ => Cents(0),
+    }
 }
";
        [
            ("art_refunds_patch.patch", patch.to_owned()),
            (
                "art_refunds_tests.txt",
                "test result: ok. 61 passed; 0 failed\n".to_owned(),
            ),
            ("art_refunds_report.md", document(&head, body)),
        ]
    }
}

/// Formats a document with front matter. Its values are JSON, which is valid YAML.
fn document(head: &[(&str, Value)], body: &str) -> String {
    let lines: String = head
        .iter()
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect();
    format!("---\n{lines}---\n\n{body}")
}

fn moment(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string()
}

/// Returns the date the given number of days after `now`.
pub(super) fn day(now: Timestamp, days: i64) -> String {
    let at = now + SignedDuration::from_hours(24 * days);
    at.strftime("%Y-%m-%dT00:00:00.000Z").to_string()
}
