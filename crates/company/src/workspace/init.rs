//! `workspace.init`: creates a company folder, or completes an existing one.

use std::path::{Component, Path};

use protocol::company::{CompanyId, DocumentId, Text, Visibility};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    Company, Error, Writer,
    document::{Identity, Machine, Policy, VisibilityDefaults},
    files,
    format::yaml,
    layout,
    org::{defaults, iso, text},
};

/// Handling of a folder that is not empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NonEmpty {
    /// Fail and leave it unchanged.
    Refuse,
    /// Use it: `force` on the wire.
    Accept,
}

impl NonEmpty {
    /// Converts the param `force`; absent means [`NonEmpty::Refuse`].
    pub fn from_force(force: Option<bool>) -> Self {
        match force {
            Some(true) => Self::Accept,
            Some(false) | None => Self::Refuse,
        }
    }
}

/// Default name of a company.
pub const DEFAULT_NAME: &str = "AgentCompany";

/// Checks that a folder can be created at a path that does not exist yet.
pub(crate) fn check_new(path: &Path, given: &str) -> Result<(), Error> {
    // A client that does not expand `~` would otherwise create a folder with that name.
    let is_tilde = |part: Component<'_>| part.as_os_str() == "~";
    if path.components().any(is_tilde) {
        return Err(Error::Refused(format!(
            "`{given}` names a folder called `~`: expected an absolute path with the home folder written out, such as `/home/you/acme`"
        )));
    }
    let nearest = path.ancestors().find(|above| above.exists());
    match nearest.filter(|above| !above.is_dir()) {
        Some(file) => Err(Error::Refused(format!(
            "`{given}` cannot be created: `{}` is not a folder",
            file.display()
        ))),
        None => Ok(()),
    }
}

/// Checks that a company can be created in this folder.
pub(crate) fn check_usable(company: &Company, non_empty: NonEmpty) -> Result<(), Error> {
    let given = company.given();
    if !company.root().exists() {
        return check_new(company.root(), given);
    }
    if !company.root().is_dir() {
        return Err(Error::Refused(format!("`{given}` is not a folder")));
    }
    if non_empty == NonEmpty::Refuse && !is_empty(company)? {
        return Err(Error::FolderNotEmpty {
            dir: given.to_owned(),
            is_company: company.path(layout::COMPANY).exists(),
        });
    }
    Ok(())
}

/// Lines of `.gitignore` that exclude machine-specific files from repositories. Such files are useless on other
/// machines and could make them start arbitrary programs.
pub(crate) const IGNORED: &str = "/.local/\n/.local-backup-*/\n";

/// The content of the folder's `.gitignore` with the missing lines of [`IGNORED`] appended; `None` if none are missing
/// or the file cannot be read, in which case it is left unchanged.
pub(crate) fn ignored(company: &Company) -> Option<String> {
    let text = match company.read_text(layout::GITIGNORE) {
        Ok(text) => text,
        Err(error) if error.is_missing() => String::new(),
        Err(_) => return None,
    };
    let is_there = |line: &&str| text.lines().any(|found| found.trim_end() == *line);
    let missing: Vec<_> = IGNORED.lines().filter(|line| !is_there(line)).collect();
    if missing.is_empty() {
        return None;
    }
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    Some(format!("{text}{gap}{}\n", missing.join("\n")))
}

/// Trusts an existing folder. A `.local` that comes from another machine is renamed to a backup and thereby ignored.
fn take_over(company: &Company) -> Result<(), Error> {
    if company.is_trusted() {
        return Ok(());
    }
    let local = company.path(layout::LOCAL);
    if local.symlink_metadata().is_ok() {
        files::rename(&local, &company.path(&local_backup(company)))?;
    }
    company.trust()
}

/// Relative path for a backup of a previous `.local` or company.
pub(crate) fn local_backup(company: &Company) -> String {
    let stamp = company.sources().now_text().replace([':', '.'], "-");
    format!(".local-backup-{stamp}")
}

/// Reads the name of a company.
pub fn company_name(company: &Company) -> Result<String, Error> {
    Ok(company.read::<Identity>(layout::COMPANY)?.name.to_string())
}

/// Turns the folder into a company folder with its Workspace Home conversation. An existing, readable company id,
/// machine configuration and conversation are kept; a machine file that cannot be read is kept as
/// `machine.yaml.invalid`.
pub fn init(company: &Company, company_name: &Text, non_empty: NonEmpty) -> Result<(), Error> {
    let root = company.root();
    check_usable(company, non_empty)?;
    if root.exists() {
        take_over(company)?;
        return company
            .write(|writer| fill(company, company_name, writer, Writer::ensure_workspace_home));
    }
    let home = defaults::workspace_home_files(company)?;
    let mut files = new_files(company, company_name)?;
    files.extend(
        home.iter()
            .map(|(path, text)| (path.as_str(), text.clone())),
    );
    let dirs = [&layout::REQUIRED_DIRS[..], &[layout::WORKSPACE_HOME]].concat();
    files::make_whole(root, &dirs, &files)?;
    company.trust()
}

/// Like [`init`] without the conversation, for a company whose members are not known yet. Does not check or trust the
/// folder.
pub(crate) fn init_without_home(company: &Company, company_name: &Text) -> Result<(), Error> {
    let root = company.root();
    if root.exists() {
        return company.write(|writer| fill(company, company_name, writer, |_| Ok(())));
    }
    let files = new_files(company, company_name)?;
    files::make_whole(root, &layout::REQUIRED_DIRS, &files)
}

fn new_files(company: &Company, company_name: &Text) -> Result<Vec<(&'static str, String)>, Error> {
    Ok(vec![
        (layout::GITIGNORE, IGNORED.to_owned()),
        (layout::POLICY, yaml::print(&new_policy(company))?),
        (layout::MACHINE, yaml::print(&Machine::initial())?),
        (
            layout::COMPANY,
            yaml::print(&new_identity(company, company_name))?,
        ),
    ])
}

fn fill<'a>(
    company: &Company,
    company_name: &Text,
    writer: &Writer<'a>,
    make_home: impl FnOnce(&Writer<'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    for dir in layout::REQUIRED_DIRS {
        writer.make_dir(dir)?;
    }
    if let Some(ignored) = ignored(company) {
        writer.put_text(layout::GITIGNORE, &ignored)?;
    }
    if company.read::<Policy>(layout::POLICY).is_err() {
        writer.put(layout::POLICY, &new_policy(company))?;
    }
    if company.read::<Machine>(layout::MACHINE).is_err() {
        if let Ok(broken) = company.read_text(layout::MACHINE) {
            writer.put_text(&format!("{}.invalid", layout::MACHINE), &broken)?;
        }
        writer.put(layout::MACHINE, &Machine::initial())?;
    }
    make_home(writer)?;
    // Written last, because this file makes the folder a company folder.
    match company.read::<Identity>(layout::COMPANY) {
        Ok(identity) if identity.name == *company_name => Ok(()),
        Ok(identity) => {
            let renamed = Identity {
                name: company_name.clone(),
                ..Identity::clone(&identity)
            };
            let rest = other_keys(company, &renamed)?;
            writer.put(layout::COMPANY, &WithRest { renamed, rest })
        }
        Err(_) => writer.put(layout::COMPANY, &new_identity(company, company_name)),
    }
}

/// An identity together with unknown keys of other programs.
#[derive(Serialize)]
struct WithRest {
    #[serde(flatten)]
    renamed: Identity,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

fn other_keys(company: &Company, known: &Identity) -> Result<Map<String, Value>, Error> {
    let text = company.read_text(layout::COMPANY)?;
    let Ok(Value::Object(mut rest)) = yaml::parse(&text) else {
        return Ok(Map::new());
    };
    let known = serde_json::to_value(known).unwrap_or_default();
    rest.retain(|key, _| known.get(key).is_none());
    Ok(rest)
}

fn is_empty(company: &Company) -> Result<bool, Error> {
    let entries = company.dir().and_then(|dir| dir.entries(Path::new("")));
    let entries = entries.map_err(|error| Error::io("read", company.root(), error))?;
    Ok(entries.is_empty())
}

fn new_identity(company: &Company, name: &Text) -> Identity {
    Identity {
        schema_version: 1,
        r#type: Default::default(),
        id: text(company.sources().id::<CompanyId>()),
        name: name.clone(),
        created_at: iso(company.sources().now_text()),
    }
}

fn new_policy(company: &Company) -> Policy {
    Policy {
        schema_version: 1,
        r#type: Default::default(),
        id: text(company.sources().id::<DocumentId>()),
        visibility_defaults: VisibilityDefaults {
            worker_journal: Visibility::PrivateAgent,
            worker_milestone_artifact: Visibility::Team,
            manager_proposal: Visibility::Managers,
            director_workplan: Visibility::Org,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use std::fs;

    use super::*;
    use crate::{Companies, Sources, conversation, documents::validate::validate};

    fn companies() -> Companies {
        Companies::new(
            Sources::new(Arc::new(|| 1_763_208_000_000)),
            crate::Trust::everywhere(),
            Arc::new(|_, _| {}),
        )
    }

    fn name(text: &str) -> Text {
        Text::new(text).unwrap()
    }

    fn at(folder: &tempfile::TempDir, below: &str) -> Company {
        let path = folder.path().join(below);
        companies().locate(path.to_str().unwrap())
    }

    #[test]
    fn a_new_folder_is_well_formed() {
        let folder = tempfile::tempdir().unwrap();
        for below in ["here", "nested/new"] {
            let company = at(&folder, below);
            init(&company, &name("Acme"), NonEmpty::Refuse).unwrap();
            assert_eq!(validate(&company), []);
            let identity = company.read::<Identity>(layout::COMPANY).unwrap();
            assert_eq!(identity.name.as_str(), "Acme");
            assert!(identity.id.starts_with("cmp_"));
        }
    }

    #[test]
    fn a_new_company_has_its_home_conversation_and_no_agent() {
        let folder = tempfile::tempdir().unwrap();
        let fresh = at(&folder, "fresh");
        init(&fresh, &name("Acme"), NonEmpty::Refuse).unwrap();
        let empty = at(&folder, "empty");
        fs::create_dir(folder.path().join("empty")).unwrap();
        init(&empty, &name("Acme"), NonEmpty::Refuse).unwrap();
        for company in [fresh, empty] {
            let scope = conversation::ConversationScope::Workspace;
            let listed = conversation::list(&company, &scope, None).unwrap();
            let ids: Vec<_> = listed.iter().map(|one| one.id.as_str()).collect();
            assert_eq!(ids, ["conv_workspace_home"]);
            assert!(crate::org::agents(&company).unwrap().is_empty());
            assert_eq!(validate(&company), []);
        }
    }

    #[test]
    fn no_folder_called_tilde_is_made() {
        let folder = tempfile::tempdir().unwrap();
        let company = at(&folder, "~/acme");
        let error = init(&company, &name("Acme"), NonEmpty::Refuse).unwrap_err();
        assert!(error.to_string().contains("names a folder called `~`"));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_empty_folder_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let company = at(&folder, "");
        init(&company, &name("Acme"), NonEmpty::Refuse).unwrap();
        assert_eq!(validate(&company), []);
    }

    #[test]
    fn a_folder_with_something_in_it_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("x")).unwrap();
        let company = at(&folder, "");
        let error = init(&company, &name("Acme"), NonEmpty::Refuse).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the folder `{}` is not empty", company.given())
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn force_keeps_who_the_company_is_and_what_holds_on_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let company = at(&folder, "");
        init(&company, &name("Acme"), NonEmpty::Refuse).unwrap();
        let before = company.read::<Identity>(layout::COMPANY).unwrap();
        let text = company.read_text(layout::COMPANY).unwrap();
        let mut machine = Machine::initial();
        machine.repo_roots.insert("a".into(), "/a".into());
        company
            .write(|writer| {
                writer.put_text(layout::COMPANY, &format!("{text}motto: on\n"))?;
                writer.put(layout::MACHINE, &machine)
            })
            .unwrap();

        init(&company, &name("Renamed"), NonEmpty::Accept).unwrap();

        let after = company.read::<Identity>(layout::COMPANY).unwrap();
        assert_eq!(
            (&after.id, &after.created_at),
            (&before.id, &before.created_at)
        );
        assert_eq!(after.name.as_str(), "Renamed");
        let text = company.read_text(layout::COMPANY).unwrap();
        assert_eq!(yaml::parse(&text).unwrap()["motto"], "on");
        assert_eq!(*company.read::<Machine>(layout::MACHINE).unwrap(), machine);
    }

    #[test]
    fn force_mends_what_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let company = at(&folder, "");
        init(&company, &name("Acme"), NonEmpty::Refuse).unwrap();
        company
            .write(|writer| {
                writer.put_text(layout::COMPANY, "nonsense")?;
                writer.put_text(layout::MACHINE, "repo_roots: {a: /a")
            })
            .unwrap();
        init(&company, &name("Acme"), NonEmpty::Accept).unwrap();
        assert_eq!(validate(&company), []);
        assert_eq!(
            company.read_text(".local/machine.yaml.invalid").unwrap(),
            "repo_roots: {a: /a"
        );
    }
}
