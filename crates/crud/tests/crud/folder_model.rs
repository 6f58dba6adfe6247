//! Compares random sequences of folder operations with a simple in-memory model.

use std::collections::BTreeMap;

use crud::{
    CrudStore, DeleteFolder, Error, FolderMoved, MAX_DEPTH, Moved, NewFolder, Options, StartThread,
    TreeQuery,
};
use proptest::{collection::vec, prelude::*, test_runner::Config};

/// One operation; numbers select among the existing folders.
#[derive(Clone, Debug)]
enum Step {
    Create {
        parent: Option<usize>,
    },
    /// Creates a chain of folders, to approach the maximum depth.
    CreateChain {
        parent: Option<usize>,
        length: usize,
    },
    Move {
        folder: usize,
        parent: Option<usize>,
    },
    Delete {
        folder: usize,
    },
    MoveThread {
        folder: Option<usize>,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let folder = || any::<usize>();
    let parent = || proptest::option::weighted(0.8, any::<usize>());
    prop_oneof![
        4 => parent().prop_map(|parent| Step::Create { parent }),
        1 => (parent(), 1..40usize).prop_map(|(parent, length)| Step::CreateChain { parent, length }),
        5 => (folder(), parent()).prop_map(|(folder, parent)| Step::Move { folder, parent }),
        2 => folder().prop_map(|folder| Step::Delete { folder }),
        2 => parent().prop_map(|folder| Step::MoveThread { folder }),
    ]
}

/// The tree as a map from child to parent.
#[derive(Debug, Default)]
struct Model {
    folders: BTreeMap<String, Option<String>>,
    /// The folder of the only thread, once it is placed.
    thread: Option<Option<String>>,
    version: u64,
    made: usize,
}

impl Model {
    fn chosen(&self, number: usize) -> Option<String> {
        let count = self.folders.len();
        (count > 0).then(|| self.folders.keys().nth(number % count).cloned())?
    }

    fn choose(&self, number: Option<usize>) -> Option<String> {
        number.and_then(|number| self.chosen(number))
    }

    /// Returns the folder and its ancestors. A cycle would not terminate.
    fn ancestry(&self, folder: Option<&String>) -> Vec<String> {
        let mut above = Vec::new();
        let mut next = folder.cloned();
        while let Some(folder) = next {
            assert!(
                above.len() <= self.folders.len(),
                "a cycle through {folder}"
            );
            next = self.folders[&folder].clone();
            above.push(folder);
        }
        above
    }

    /// Returns the number of levels of a folder, including itself.
    fn height(&self, folder: &String) -> usize {
        let depth = |folder| self.ancestry(Some(folder)).len();
        let below = self
            .folders
            .keys()
            .filter(|other| self.ancestry(Some(other)).contains(folder));
        below.map(depth).max().unwrap_or(0) - depth(folder) + 1
    }
}

/// The database under test together with the model.
struct Bench {
    store: CrudStore,
    model: Model,
    _home: tempfile::TempDir,
}

const WORKSPACE: &str = "ws_a";
const THREAD: &str = "thr_a";

impl Bench {
    async fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder can be made");
        let options = Options::new(1, |sentence| panic!("{sentence}"));
        let store = CrudStore::open(home.path(), &options).expect("a new database opens");
        let created = store.workspaces().create(WORKSPACE, None, 1).await;
        created.expect("a workspace can be made");
        let given = |text: &str| crud::Field::Given(text.to_owned());
        let thread = StartThread {
            id: THREAD.to_owned(),
            workspace_id: WORKSPACE.to_owned(),
            draft_owner: "me".to_owned(),
            name: None,
            model: given("echo"),
            model_provider: given("echo"),
            mode: given("Chat"),
            origin_kind: "user".to_owned(),
            sidebar_visibility: given("visible"),
            agent_nickname: None,
            agent_role: None,
            now: 1,
        };
        let started = store.threads().start(thread).await;
        started.expect("a thread can be made");
        Self {
            store,
            model: Model::default(),
            _home: home,
        }
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Create { parent } => {
                let parent = self.model.choose(parent);
                self.create(parent).await;
            }
            Step::CreateChain { parent, length } => {
                let mut parent = self.model.choose(parent);
                for _ in 0..length {
                    let Some(made) = self.create(parent).await else {
                        break;
                    };
                    parent = Some(made);
                }
            }
            Step::Move { folder, parent } => {
                if let Some(folder) = self.model.chosen(folder) {
                    let parent = self.model.choose(parent);
                    self.move_folder(folder, parent).await;
                }
            }
            Step::Delete { folder } => {
                if let Some(folder) = self.model.chosen(folder) {
                    self.delete(folder).await;
                }
            }
            Step::MoveThread { folder } => {
                let folder = self.model.choose(folder);
                self.move_thread(folder).await;
            }
        }
    }

    async fn create(&mut self, parent: Option<String>) -> Option<String> {
        let model = &mut self.model;
        model.made += 1;
        let id = format!("fld_{:05}", model.made);
        let folder = NewFolder {
            id: id.clone(),
            workspace_id: WORKSPACE.to_owned(),
            parent_folder_id: parent.clone(),
            name: "Folder".to_owned(),
            now: 1,
        };
        let created = self.store.folders().create(folder).await;
        if model.ancestry(parent.as_ref()).len() + 1 > MAX_DEPTH {
            assert!(matches!(created, Err(Error::TooDeep { .. })), "{created:?}");
            return None;
        }
        model.version += 1;
        assert_eq!(created.expect("there is room").1, model.version);
        model.folders.insert(id.clone(), parent);
        Some(id)
    }

    async fn move_folder(&mut self, folder: String, parent: Option<String>) {
        let folders = self.store.folders();
        let moved = folders
            .move_to(WORKSPACE, &folder, parent.as_deref(), 2)
            .await;
        let model = &mut self.model;
        let above = model.ancestry(parent.as_ref());
        if above.contains(&folder) {
            assert!(matches!(moved, Err(Error::FolderCycle { .. })), "{moved:?}");
        } else if above.len() + model.height(&folder) > MAX_DEPTH {
            assert!(matches!(moved, Err(Error::TooDeep { .. })), "{moved:?}");
        } else if model.folders[&folder] == parent {
            assert_eq!(moved.expect("it is there"), FolderMoved::Unchanged);
        } else {
            model.version += 1;
            let expected = FolderMoved::Changed {
                tree_version: model.version,
                effective: None,
                effective_changed: false,
            };
            assert_eq!(moved.expect("it fits"), expected);
            model.folders.insert(folder, parent);
        }
    }

    async fn delete(&mut self, folder: String) {
        let deleted = self
            .store
            .folders()
            .delete(DeleteFolder {
                workspace_id: WORKSPACE.to_owned(),
                folder_id: folder.clone(),
                revision_id: format!("agr_{folder}"),
                author: "owner".to_owned(),
                now: 3,
            })
            .await;
        let model = &mut self.model;
        model.version += 1;
        let deleted = deleted.expect("it is there").expect("it was there");
        assert_eq!(
            (deleted.tree_version, deleted.archived),
            (model.version, None)
        );
        let parent = model.folders.remove(&folder).expect("it was chosen");
        let promoted = model.folders.values_mut().chain(&mut model.thread);
        for place in promoted.filter(|place| place.as_ref() == Some(&folder)) {
            place.clone_from(&parent);
        }
    }

    async fn move_thread(&mut self, folder: Option<String>) {
        let threads = self.store.threads();
        let moved = threads
            .move_to(WORKSPACE, THREAD, folder.as_deref(), 4)
            .await;
        let moved = moved.expect("the folder is there");
        let model = &mut self.model;
        if model.thread.as_ref() == Some(&folder) {
            assert_eq!(moved, Moved::Unchanged);
        } else {
            model.version += 1;
            assert_eq!(moved, Moved::Changed(model.version));
            model.thread = Some(folder);
        }
    }

    /// Asserts that the stored tree equals the model and no folder exceeds the maximum depth.
    async fn compare(&self) {
        let query = TreeQuery {
            workspace_id: WORKSPACE.to_owned(),
            draft_owner: "me".to_owned(),
            limit: 10,
            after: None,
        };
        let tree = self.store.threads().tree(query).await;
        let tree = tree.expect("the tree can be read");
        let folders = tree.folders.into_iter();
        let stored: BTreeMap<_, _> = folders.map(|row| (row.id, row.parent_folder_id)).collect();
        assert_eq!(stored, self.model.folders);
        let placements = tree.placements.into_iter();
        let stored: Vec<_> = placements.map(|row| row.folder_id).collect();
        assert_eq!(stored, Vec::from_iter(self.model.thread.clone()));
        assert_eq!(tree.version, self.model.version);
        for folder in self.model.folders.keys() {
            assert!(self.model.ancestry(Some(folder)).len() <= MAX_DEPTH);
        }
    }
}

proptest! {
    #![proptest_config(Config { cases: 24, failure_persistence: None, ..Config::default() })]

    #[test]
    fn folders_do_what_the_model_does(steps in vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut bench = Bench::new().await;
            for step in steps {
                bench.take(step).await;
            }
            bench.compare().await;
        });
    }
}
