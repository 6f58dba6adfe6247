//! The AGENTS.md hook package: adds the nearest active AGENTS.md of a thread to every prompt as a section.

use std::{future::Future, pin::Pin, sync::Arc};

use crate::section::heading;
use crud::{CrudStore, DocScope, Resolved};
use hooks::{
    AwaitPolicy, Capability, Contribution, Definition, ExecutionPolicy, FailurePolicy, Handler,
    HookContext, HookError, HookRequest, HookResponse, Package, Phase, PromptSection,
    SourceReference, Subscription, Visibility,
};

const PACKAGE_ID: &str = "pioneer.prompt.agents_doc";
const HOOK_ID: &str = "pioneer.thread_agents_doc_prompt";
const SUBSCRIPTION_ID: &str = "pioneer.thread_agents_doc_prompt.turn_pre_prompt_compile";
const DOMAIN: &str = "pioneer.thread_agents_doc";
const CONTRIBUTION: &str = "thread_agents_doc.";
const SECTION_ID: &str = "agents_md";
const TITLE: &str = "AGENTS.md";
const PRIORITY: i32 = 600;
/// Character limit of the whole section, title and wrapper included.
pub const MAX_CHARS: usize = 16_000;
/// Character limit of a folder name in the source line.
const MAX_NAME_CHARS: usize = 80;

/// Builds the package. If it is not installed, prompts lack the section and are otherwise unchanged.
pub fn package(store: CrudStore) -> Package {
    let mut subscription = Subscription::new(SUBSCRIPTION_ID, HOOK_ID, Phase::TurnPrePromptCompile);
    subscription.execution_policy = ExecutionPolicy {
        await_policy: AwaitPolicy::Blocking,
        timeout_ms: None,
        max_parallelism: None,
    };
    subscription.failure_policy = FailurePolicy::FailClosed;
    subscription.visibility = Visibility::Internal;
    let handler = AgentsDocHook {
        store,
        capabilities: [
            Capability::Other("thread_agents_doc".to_owned()),
            Capability::ContributePromptSection,
        ],
    };
    Package {
        id: PACKAGE_ID.to_owned(),
        definitions: vec![Definition {
            handler: Arc::new(handler),
            subscriptions: vec![subscription],
        }],
    }
}

struct AgentsDocHook {
    store: CrudStore,
    capabilities: [Capability; 2],
}

impl Handler for AgentsDocHook {
    fn id(&self) -> &str {
        HOOK_ID
    }

    fn supported_phases(&self) -> &[Phase] {
        &[Phase::TurnPrePromptCompile]
    }

    fn capabilities(&self) -> &[Capability] {
        &self.capabilities
    }

    fn execute(
        &self,
        request: HookRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HookResponse, HookError>> + Send + '_>> {
        Box::pin(async move {
            let context = &request.context;
            let workspace_id = context.workspace_id.as_deref();
            let workspace_id = workspace_id
                .ok_or_else(|| failed("missing_workspace", "the turn has no workspace"))?;
            let resolved = self.resolve(workspace_id, context).await?;
            let contributions = resolved.iter().map(contribution).collect();
            Ok(HookResponse {
                contributions,
                diagnostics: Vec::new(),
            })
        })
    }
}

impl AgentsDocHook {
    /// Resolves the effective document: by the tree position of the turn if it has one, otherwise by its thread.
    async fn resolve(
        &self,
        workspace_id: &str,
        context: &HookContext,
    ) -> Result<Option<Resolved>, HookError> {
        let resolved = match (&context.place, context.effective_thread_id()) {
            (Some(place), _) => {
                let scope = DocScope {
                    workspace_id: workspace_id.to_owned(),
                    folder_id: place.folder_id.clone(),
                };
                self.store.agents_docs().resolve_for_folder(scope).await
            }
            (None, Some(thread_id)) => {
                self.store
                    .resolve_thread_agents_doc_for_thread(workspace_id, thread_id)
                    .await
            }
            (None, None) => return Err(failed("missing_thread", "the turn has no thread")),
        };
        resolved.map_err(|error| {
            failed(
                "resolve_failed",
                &format!("the AGENTS.md of the thread cannot be resolved: {error}"),
            )
        })
    }
}

fn failed(code: &str, message: &str) -> HookError {
    HookError {
        code: format!("thread_agents_doc.{code}"),
        message: message.to_owned(),
        retryable: false,
        safe_for_user: true,
    }
}

fn contribution(resolved: &Resolved) -> Contribution {
    let rendered = render(&resolved.source_path, &resolved.doc.content);
    let place = if resolved.source_path.is_empty() {
        "root".to_owned()
    } else {
        resolved.source_path.join(" / ")
    };
    Contribution::PromptSection(PromptSection {
        contribution_id: contribution_id(&resolved.doc.id, resolved.doc.version),
        section_id: SECTION_ID.to_owned(),
        title: Some(TITLE.to_owned()),
        domain: DOMAIN.to_owned(),
        priority: PRIORITY,
        content: rendered.text,
        max_chars: Some(MAX_CHARS),
        source_refs: vec![SourceReference {
            kind: "document".to_owned(),
            id: resolved.doc.id.clone(),
            label: Some(format!("{TITLE} ({place})")),
        }],
        diagnostics: Vec::new(),
        truncated: rendered.truncated,
    })
}

fn contribution_id(doc_id: &str, version: i64) -> String {
    format!("{CONTRIBUTION}{doc_id}.v{version}")
}

/// Parses a contribution id of this package into document id and version. `None` for ids of other packages.
pub fn document_of(contribution_id: &str) -> Option<(&str, i64)> {
    let (doc_id, version) = contribution_id
        .strip_prefix(CONTRIBUTION)?
        .rsplit_once(".v")?;
    Some((doc_id, version.parse().ok()?))
}

/// Renders the section of a document exactly as the model receives it, title included.
pub fn preview(source_path: &[String], content: &str) -> RenderedDoc {
    let rendered = render(source_path, content);
    RenderedDoc {
        text: format!("{}{}", heading(TITLE), rendered.text),
        ..rendered
    }
}

/// The rendered text of a section, with or without its title.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderedDoc {
    /// The text, at most [`MAX_CHARS`] characters with its title.
    pub text: String,
    /// Whether the document was shortened to fit.
    pub truncated: bool,
}

/// Renders the section without its title, which the compiler adds. A document that is too long is cut at the end of a
/// line and followed by a notice; the closing tag is always kept.
fn render(source_path: &[String], content: &str) -> RenderedDoc {
    const CLOSE: &str = "\n</AGENTS_MD>";
    let place = if source_path.is_empty() {
        "<root>".to_owned()
    } else {
        source_path
            .iter()
            .map(|name| shown_name(name))
            .collect::<Vec<_>>()
            .join(" / ")
    };
    let head = format!(
        "Source: thread tree / {place}\n\
         Applies to: this thread, unless a nearer folder provides its own AGENTS.md.\n\
         Rank: below system and developer messages and below what the user asks in this turn.\n\n\
         <AGENTS_MD>\n"
    );
    // A closing tag inside the document must not end the block.
    let body = content.trim().replace("</AGENTS_MD>", "<\\/AGENTS_MD>");
    let total = body.chars().count();
    let frame = [heading(TITLE).as_str(), &head, CLOSE].map(|part| part.chars().count());
    let room = MAX_CHARS.saturating_sub(frame.iter().sum());
    if total <= room {
        return RenderedDoc {
            text: format!("{head}{body}{CLOSE}"),
            truncated: false,
        };
    }
    let notice =
        |shown: usize| format!("\n[Shortened: the first {shown} of {total} characters are shown.]");
    let kept = whole_lines(&body, room.saturating_sub(notice(total).chars().count()));
    let notice = notice(kept.chars().count());
    RenderedDoc {
        text: format!("{head}{kept}{notice}{CLOSE}"),
        truncated: true,
    }
}

/// Returns the leading whole lines that fit into `room` characters, or the start of the first line if that alone is too
/// long.
fn whole_lines(text: &str, room: usize) -> &str {
    let end = text
        .char_indices()
        .nth(room)
        .map_or(text.len(), |(end, _)| end);
    let fitting = &text[..end];
    if text[end..].starts_with('\n') {
        return fitting;
    }
    match fitting.rfind('\n') {
        Some(line_end) if line_end > 0 => &fitting[..line_end],
        Some(_) | None => fitting,
    }
}

fn shown_name(name: &str) -> String {
    let printable = name.chars().filter(|character| !character.is_control());
    printable.take(MAX_NAME_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_document_is_wrapped_and_trimmed() {
        insta::assert_snapshot!(preview(&path(&["Backend", "API"]), "\n\n  # Rules\n- one\n\n").text, @r"
        # AGENTS.md

        Source: thread tree / Backend / API
        Applies to: this thread, unless a nearer folder provides its own AGENTS.md.
        Rank: below system and developer messages and below what the user asks in this turn.

        <AGENTS_MD>
        # Rules
        - one
        </AGENTS_MD>
        ");
    }

    #[test]
    fn a_contribution_names_its_document_and_version() {
        let id = contribution_id("agd_1.v2", 7);
        assert_eq!(document_of(&id), Some(("agd_1.v2", 7)));
        assert_eq!(document_of("something.else.v7"), None);
        assert_eq!(document_of("thread_agents_doc.agd_1"), None);
    }

    #[test]
    fn a_closing_tag_in_the_document_cannot_end_the_block() {
        let text = render(&[], "a\n</AGENTS_MD>\nb </AGENTS_MD>").text;
        assert_eq!(text.matches("</AGENTS_MD>").count(), 1);
        assert_eq!(text.matches("<\\/AGENTS_MD>").count(), 2);
    }

    #[test]
    fn a_long_document_is_cut_at_a_line_and_keeps_its_closing_tag() {
        for line in ["0123456789", "é😀 other sizes", &"x".repeat(30_000)] {
            let body = vec![line; 2_000].join("\n");
            let rendered = preview(&[], &body);
            let length = rendered.text.chars().count();
            assert!(
                rendered.truncated && length <= MAX_CHARS && length > 14_000,
                "{length}"
            );
            assert!(
                rendered
                    .text
                    .ends_with("characters are shown.]\n</AGENTS_MD>")
            );
        }
    }

    #[test]
    fn exactly_the_budget_is_not_cut() {
        let frame = preview(&[], "x").text.chars().count() - 1;
        let fits = preview(&[], &"x".repeat(MAX_CHARS - frame));
        assert_eq!(
            (fits.truncated, fits.text.chars().count()),
            (false, MAX_CHARS)
        );
        assert!(render(&[], &"x".repeat(MAX_CHARS - frame + 1)).truncated);
    }
}
