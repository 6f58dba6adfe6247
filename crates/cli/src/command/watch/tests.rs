//! Tests of the board with a screen in memory and a gateway in this process.

use std::{net::SocketAddr, path::Path};

use gateway::ServeOptions;
use protocol::company::Text;
use ratatui::{
    Terminal,
    backend::TestBackend,
    crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers},
};
use rpc::Client;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
};

use super::{
    CompanyOption, HomeOption, InboxSources,
    board::{Board, KeyReaction},
    source::CompanySource,
    view,
};

struct Desk {
    _gateway: testkit::TestGateway,
    client: Client,
    place: TempDir,
    project: Value,
}

impl Desk {
    async fn new() -> Self {
        let gateway = testkit::gateway().await;
        let client = gateway.client();
        let place = tempfile::tempdir().unwrap();
        let mut desk = Self {
            _gateway: gateway,
            client,
            place,
            project: Value::Null,
        };
        desk.call("workspace.init", json!({"company_name": "Acme"}))
            .await;
        let made = desk
            .call(
                "workspace.project.create_with_defaults",
                json!({"name": "Alpha"}),
            )
            .await;
        desk.project = made["project_id"].clone();
        desk
    }

    fn dir(&self) -> String {
        self.place.path().join("acme").display().to_string()
    }

    async fn call(&self, method: &str, mut params: Value) -> Value {
        params["workspace_dir"] = json!(self.dir());
        let answered = self.client.call_raw(method, params).await;
        answered.unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    async fn run(&self) -> Value {
        let run = json!({"project_id": self.project, "agent_id": "agent_a", "provider": "cmd"});
        self.call("run.create", run).await
    }

    /// Launches a worker that waits, with a limit of one concurrent session.
    async fn session(&self) -> Value {
        let run = self.run().await;
        let launch = json!({
            "project_id": self.project, "run_id": run["run_id"], "argv": ["/bin/sleep", "600"],
            "actor_id": "human", "actor_role": "human", "lane_workspace_limit": 1,
        });
        self.call("session.launch", launch).await["session_ref"].clone()
    }

    async fn source(&self) -> CompanySource<'_> {
        let dir = Text::new(self.dir()).unwrap();
        let inbox_sources = InboxSources::documents(&self.client, dir.clone());
        CompanySource::new(&self.client, dir, inbox_sources)
            .await
            .unwrap()
    }
}

fn screen(board: &Board) -> String {
    let mut terminal = Terminal::new(TestBackend::new(100, 20)).unwrap();
    terminal.draw(|frame| view::draw(frame, board)).unwrap();
    terminal.backend().to_string()
}

fn press(board: &mut Board, code: KeyCode) -> KeyReaction {
    board.key(KeyEvent::new(code, KeyModifiers::NONE))
}

/// Presses a key, confirms the question and performs the action.
async fn confirm(board: &mut Board, source: &CompanySource<'_>, letter: char) {
    if let KeyReaction::Do(wish) = press(board, KeyCode::Char(letter)) {
        board.done(source.perform(&wish).await.unwrap());
    }
    let KeyReaction::Do(wish) = press(board, KeyCode::Char('y')) else {
        panic!("nothing was asked:\n{}", screen(board));
    };
    board.done(source.perform(&wish).await.unwrap());
    board.set_snapshot(source.look(0).await.unwrap());
}

#[tokio::test]
async fn sessions_are_shown_with_their_place_and_stopped_by_keys() {
    let desk = Desk::new().await;
    let (first, second) = (desk.session().await, desk.session().await);
    let source = desk.source().await;
    let mut board = Board::new(&source.company);
    board.set_snapshot(source.look(0).await.unwrap());
    let shown = screen(&board);
    assert!(
        shown.contains("acme   1 running   1 in the queue   0 waiting for you"),
        "{shown}"
    );
    assert!(
        shown.contains("running     0:00  agent_a  Alpha"),
        "{shown}"
    );
    assert!(
        shown.contains("queued 1    0:00  agent_a  Alpha  (company limit 1)"),
        "{shown}"
    );

    // Any key but `y` and Enter cancels.
    press(&mut board, KeyCode::Char('s'));
    let asked = screen(&board);
    assert!(
        asked.contains("Stop the session of agent_a (Alpha)? y/n"),
        "{asked}"
    );
    assert_eq!(press(&mut board, KeyCode::Char('n')), KeyReaction::Continue);

    press(&mut board, KeyCode::Down);
    confirm(&mut board, &source, 's').await;
    desk.call("session.collect", json!({"session_ref": second}))
        .await;
    board.set_snapshot(source.look(0).await.unwrap());
    assert!(
        screen(&board).contains("1 running   0 in the queue"),
        "{}",
        screen(&board)
    );
    confirm(&mut board, &source, 's').await;
    desk.call("session.collect", json!({"session_ref": first}))
        .await;
    board.set_snapshot(source.look(0).await.unwrap());
    let shown = screen(&board);
    assert!(shown.contains("0 running   0 in the queue"), "{shown}");
    assert!(
        shown.contains("stopped     /bin/sleep 600  (agent_a, Alpha)"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_run_that_was_never_launched_is_shown_as_not_started() {
    let desk = Desk::new().await;
    let run = desk.run().await;
    let (_, queued) = (desk.session().await, desk.session().await);
    let source = desk.source().await;
    let mut board = Board::new(&source.company);
    board.set_snapshot(source.look(0).await.unwrap());
    let shown = screen(&board);
    for line in [
        "not started agent_a",
        "running     /bin/sleep 600",
        "queued      agent_a",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    let cancel = json!({"project_id": desk.project, "run_id": run["run_id"]});
    desk.call("run.cancel", cancel).await;
    desk.call("session.stop", json!({"session_ref": queued}))
        .await;
    board.set_snapshot(source.look(0).await.unwrap());
    let shown = screen(&board);
    assert!(!shown.contains("not started"), "{shown}");
}

#[tokio::test]
async fn what_waits_is_approved_and_denied_by_keys() {
    let desk = Desk::new().await;
    let run = desk.run().await;
    for title in ["Use port 8080", "Use port 9090"] {
        let delta = json!({
            "project_id": desk.project, "title": title, "scope_kind": "project_memory", "sensitivity": "internal",
            "rationale": "Agreed", "under_heading": "## Decisions", "insert_lines": [format!("- {title}")],
            "visibility": "managers", "produced_by": "agent_a", "run_id": run["run_id"],
            "context_pack_id": run["context_pack_id"], "evidence": ["art_e"],
        });
        desk.call("memory.propose_delta", delta).await;
    }
    let source = desk.source().await;
    let mut board = Board::new(&source.company);
    board.set_snapshot(source.look(0).await.unwrap());
    assert!(
        screen(&board).contains("2 waiting for you"),
        "{}",
        screen(&board)
    );
    // The first key press only moves the focus to the inbox.
    press(&mut board, KeyCode::Char('a'));
    assert_eq!(board.question, None);
    confirm(&mut board, &source, 'a').await;
    let shown = screen(&board);
    assert!(shown.contains("1 waiting for you"), "{shown}");
    assert!(shown.contains("is approved"), "{shown}");
    confirm(&mut board, &source, 'd').await;
    let shown = screen(&board);
    assert!(
        shown.contains("0 waiting for you") && shown.contains("is denied"),
        "{shown}"
    );
    let decided = desk
        .call(
            "memory.list_deltas",
            json!({"actor_id": "human", "actor_role": "human"}),
        )
        .await;
    let mut statuses: Vec<_> = decided["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["status"].clone())
        .collect();
    statuses.sort_by_key(Value::to_string);
    assert_eq!(json!(statuses), json!(["approved", "denied"]));
}

#[tokio::test]
async fn what_is_decided_about_is_on_the_screen_and_must_not_change_since() {
    let desk = Desk::new().await;
    let run = desk.run().await;
    let delta = json!({
        "project_id": desk.project, "title": "Use port 8080", "scope_kind": "project_memory",
        "sensitivity": "internal", "rationale": "Agreed", "under_heading": "## Decisions",
        "insert_lines": ["- port 8080"], "visibility": "managers", "produced_by": "agent_a",
        "run_id": run["run_id"], "context_pack_id": run["context_pack_id"], "evidence": ["art_e"],
    });
    let delta = desk.call("memory.propose_delta", delta).await;
    let source = desk.source().await;
    let mut board = Board::new(&source.company);
    board.set_snapshot(source.look(0).await.unwrap());
    press(&mut board, KeyCode::Char('a'));
    let KeyReaction::Do(wish) = press(&mut board, KeyCode::Char('a')) else {
        panic!("nothing is shown:\n{}", screen(&board));
    };
    board.done(source.perform(&wish).await.unwrap());
    let shown = screen(&board);
    assert!(shown.contains("type: memory_delta"), "{shown}");
    press(&mut board, KeyCode::Down);
    assert!(board.question.is_some(), "scrolling is no answer");

    let patch = Path::new(&desk.dir()).join(delta["patch_relpath"].as_str().unwrap());
    let swapped = std::fs::read_to_string(&patch).unwrap();
    gateway::replace_file(&patch, swapped.replace("8080", "6666").as_bytes()).unwrap();
    let KeyReaction::Do(wish) = press(&mut board, KeyCode::Char('y')) else {
        panic!("nothing was asked:\n{}", screen(&board));
    };
    let refused = source.perform(&wish).await.unwrap_err().to_string();
    assert!(refused.contains("changed since it was shown"), "{refused}");
}

#[tokio::test]
async fn events_come_by_themselves() {
    let desk = Desk::new().await;
    let source = desk.source().await;
    source.subscribe().await.unwrap();
    let mut board = Board::new(&source.company);
    desk.run().await;
    while board.events.is_empty() {
        let told = source.notification().await.unwrap();
        board.add_event(&told, &source);
    }
    let shown = screen(&board);
    assert!(
        shown.contains("run.started") && shown.contains("system"),
        "{shown}"
    );
}

/// A running gateway of a home.
struct Serving {
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), gateway::Error>>,
}

impl Serving {
    async fn start(home: &Path) -> (Self, String) {
        let (ready, address) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        let options = ServeOptions {
            home: home.to_owned(),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            ready_file: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
        };
        let ended = tokio::spawn(async move {
            let mut gateway = crate::command::gateway_options();
            gateway.projection_worker = None;
            let on_ready = move |serving: &gateway::Serving| {
                let _ = ready.send(serving.url.clone());
            };
            let stopped = async {
                let _ = stopped.await;
            };
            gateway::serve(options, &gateway, on_ready, stopped).await
        });
        let address = address.await.expect("it serves");
        (Self { stop, ended }, address)
    }

    async fn stop(self) {
        let _ = self.stop.send(());
        self.ended.await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_board_goes_on_with_the_next_gateway_of_its_home() {
    let place = tempfile::tempdir().unwrap();
    let (home, dir) = (place.path().join("home"), place.path().join("acme"));
    let (first, url) = Serving::start(&home).await;
    let token = || gateway::Home::open(&home).unwrap().token().unwrap();
    let call = async |url: &str, method: &str, mut params: Value| {
        params["workspace_dir"] = json!(dir);
        let client = rpc::websocket::connect(url, &token()).await.unwrap();
        client.call_raw(method, params).await.unwrap()
    };
    call(&url, "workspace.init", json!({"company_name": "Acme"})).await;
    let (typed, keys) = mpsc::channel(4);
    let (drawn, mut screens) = watch::channel(String::new());
    let option = HomeOption {
        home: Some(home.clone()),
    };
    let company = CompanyOption::new(dir.clone());
    let board = tokio::spawn(async move {
        let draw = move |board: &Board| {
            drawn.send_replace(screen(board));
            Ok(())
        };
        super::follow(&option, &company, keys, draw).await
    });
    let mut shows = async |text: &str| {
        let shown = screens.wait_for(|screen| screen.contains(text)).await;
        shown
            .unwrap_or_else(|_| panic!("`{text}` is not shown"))
            .clone()
    };
    shows("0 running").await;
    first.stop().await;
    shows("Reconnecting").await;

    let (second, url) = Serving::start(&home).await;
    let made = json!({"name": "Alpha"});
    let made = call(&url, "workspace.project.create_with_defaults", made).await;
    let run = json!({"project_id": made["project_id"], "agent_id": "agent_a", "provider": "cmd"});
    call(&url, "run.create", run).await;
    let shown = shows("agent_a").await;
    assert!(!shown.contains("Reconnecting"), "{shown}");
    let quit = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
    typed.send(Event::Key(quit)).await.unwrap();
    board.await.unwrap().unwrap();
    second.stop().await;
}

#[tokio::test]
async fn a_small_screen_and_ctrl_c_are_no_trouble() {
    let mut board = Board::new("acme\u{1b}[2J");
    for (width, height) in [(1, 1), (10, 3), (20, 8)] {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| view::draw(frame, &board)).unwrap();
    }
    assert!(!screen(&board).contains('\u{1b}'));
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(board.key(interrupt), KeyReaction::Quit);
    assert_eq!(press(&mut board, KeyCode::Esc), KeyReaction::Quit);
}
