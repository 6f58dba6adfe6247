//! Search finds words in all indexed texts, restricted to what the caller may read.

use company::policy::Actor;
use index::{Freshness, Query};
use protocol::company::{ActorRole, index::SearchKind};
use serde_json::json;

use crate::folder::{Folder, line_for, visible};

fn actor(id: &str, role: ActorRole, team: Option<&str>) -> Option<Actor> {
    Some(Actor {
        id: id.to_owned(),
        role,
        team_id: team.map(ToOwned::to_owned),
    })
}

fn found(folder: &Folder, words: &str, actor: Option<Actor>) -> Vec<String> {
    let query = Query {
        words: words.to_owned(),
        kinds: SearchKind::ALL.to_vec(),
        project_id: None,
        limit: 50,
        actor,
    };
    let answer = folder
        .indexes
        .search(&folder.company, Freshness::Synced, &query)
        .expect("the index answers");
    let mut ids: Vec<String> = answer.items.into_iter().map(|hit| hit.id).collect();
    ids.sort();
    ids
}

fn folder() -> Folder {
    let folder = Folder::with_everything();
    let text = visible("art_2", "proposal", "Gearbox", "Replace it.", "managers");
    folder.write("work/projects/proj_1/artifacts/art_2.md", &text);
    folder.append(
        "run_1",
        &line_for(
            "provider.raw",
            "team",
            &json!({"chunk": "the Gearbox broke\n"}),
        ),
    );
    folder
}

#[test]
fn words_are_found_in_documents_messages_comments_tasks_and_events() {
    let folder = folder();
    assert_eq!(
        found(&folder, "gearbox", None),
        ["art_2", "cmt_1", "msg_1", "run_1#3", "task_1"]
    );
    assert_eq!(found(&folder, "gear* stuck", None), ["msg_1"]);
    assert_eq!(found(&folder, "\"gearbox is\"", None), ["msg_1"]);
    assert_eq!(found(&folder, "\"is gearbox\"", None), [""; 0]);
}

#[test]
fn what_changed_is_found_as_it_is_now() {
    let folder = folder();
    assert_eq!(found(&folder, "stuck", None), ["msg_1"]);
    folder.remove("inbox/conversations/conv_1");
    folder.events(
        "run_1",
        &[&line_for(
            "provider.raw",
            "org",
            &json!({"chunk": "repaired"}),
        )],
    );
    let text = visible("art_2", "proposal", "Clutch", "Replace it.", "managers");
    folder.write("work/projects/proj_1/artifacts/art_2.md", &text);
    assert_eq!(found(&folder, "gearbox", None), ["cmt_1", "task_1"]);
    assert_eq!(found(&folder, "repaired", None), ["run_1#1"]);
    assert_eq!(found(&folder, "clutch", None), ["art_2"]);
}

#[test]
fn who_may_not_see_something_does_not_find_it() {
    let folder = folder();
    let manager = actor("agent_9", ActorRole::Manager, None);
    // The manager is not a member of the conversation.
    assert_eq!(
        found(&folder, "gearbox", manager),
        ["art_2", "cmt_1", "run_1#3", "task_1"]
    );
    let own = actor("agent_1", ActorRole::Worker, Some("team_1"));
    assert_eq!(
        found(&folder, "gearbox", own),
        ["art_2", "msg_1", "run_1#3", "task_1"]
    );
    let other = actor("agent_2", ActorRole::Worker, Some("team_2"));
    assert_eq!(found(&folder, "gearbox", other), [""; 0]);
}

#[test]
fn a_limit_tells_that_there_is_more() {
    let folder = folder();
    let query = Query {
        words: "gearbox".to_owned(),
        kinds: vec![SearchKind::Task, SearchKind::Event],
        project_id: Some("proj_1".to_owned()),
        limit: 1,
        actor: None,
    };
    let answer = folder
        .indexes
        .search(&folder.company, Freshness::Synced, &query)
        .expect("the index answers");
    assert_eq!(answer.items.len(), 1);
    assert_eq!(answer.items[0].snippet, "## Contract  Polish the gearbox.");
    assert!(answer.has_more);
    let nothing = Query {
        words: "?!".to_owned(),
        ..query
    };
    let error = folder
        .indexes
        .search(&folder.company, Freshness::AsItIs, &nothing)
        .unwrap_err();
    assert_eq!(error.to_string(), "`query` has no words to look for");
}
