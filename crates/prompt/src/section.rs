//! Turns contributions into sections: orders them, merges those with the same id and truncates them to their budgets.

use hooks::{Contributed, Contribution, PromptSection};
use protocol::turn::{
    PromptContributionKind, PromptHookSource, PromptManifestDiagnostic, PromptManifestHookSource,
    PromptTruncation,
};

/// Maximum number of sections.
const MAX_SECTIONS: usize = 16;
/// Character limit of a section that requests no budget.
const SECTION_CHARS: usize = 8_000;
/// The largest budget in characters that a section can request.
const MAX_SECTION_CHARS: usize = 16_000;
/// Character limit of all sections together.
const TOTAL_CHARS: usize = 32_000;

/// The ordered sections, with their sources and diagnostics for the manifest.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    pub(crate) sections: Vec<Section>,
    pub(crate) hook_sources: Vec<PromptManifestHookSource>,
    pub(crate) diagnostics: Vec<PromptManifestDiagnostic>,
}

#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
    pub(crate) text: String,
}

impl Section {
    /// Renders the section: its title as a heading, then its text.
    pub(crate) fn rendered(&self) -> String {
        let title = self.title.as_deref();
        format!("{}{}", title.map_or(String::new(), heading), self.text)
    }
}

/// Renders a section title as a heading, including the blank line that follows it.
pub(crate) fn heading(title: &str) -> String {
    format!("# {title}\n\n")
}

/// Sorts, merges and truncates the prompt sections among `contributions`.
pub(crate) fn aggregate(contributions: &[Contributed]) -> Sections {
    let mut found: Vec<(&Contributed, &PromptSection)> = contributions
        .iter()
        .filter_map(|contributed| match &contributed.contribution {
            Contribution::PromptSection(section) => Some((contributed, section)),
            Contribution::Policy { .. }
            | Contribution::PromptContext { .. }
            | Contribution::ToolBundle { .. }
            | Contribution::PromptManifestDiagnostic { .. }
            | Contribution::Audit { .. }
            | Contribution::BackgroundJob { .. }
            | Contribution::Noop => None,
        })
        .collect();
    // The sort is stable, so equal sections keep the order of the contributions.
    found.sort_by(|(_, left), (_, right)| {
        let key = |section: &PromptSection| {
            (
                -i64::from(section.priority),
                section.domain.clone(),
                section.section_id.clone(),
            )
        };
        key(left).cmp(&key(right))
    });
    let mut result = Sections::default();
    let mut left = TOTAL_CHARS;
    for (contributed, section) in found {
        result.add(contributed, section, &mut left);
    }
    result
}

impl Sections {
    fn add(&mut self, contributed: &Contributed, section: &PromptSection, left: &mut usize) {
        let source = hook_source(contributed, Some(&section.contribution_id));
        let mut note = |code: &str, message: String| {
            self.diagnostics.push(PromptManifestDiagnostic {
                code: code.to_owned(),
                message,
                section_id: Some(section.section_id.clone()),
                hook_source: Some(source.clone()),
            });
        };
        let text = section.content.trim();
        let known = self
            .sections
            .iter()
            .position(|known| known.id == section.section_id);
        // The heading of a new section counts against its budget, and so does the blank line before an appended text.
        let used = match (known, &section.title) {
            (Some(known), _) => self.sections[known].rendered().chars().count() + 2,
            (None, Some(title)) => heading(title).chars().count(),
            (None, None) => 0,
        };
        let budget = section
            .max_chars
            .unwrap_or(SECTION_CHARS)
            .min(MAX_SECTION_CHARS);
        let room = budget.saturating_sub(used).min(*left);
        if text.is_empty() {
            return;
        }
        if room == 0 || (known.is_none() && self.sections.len() == MAX_SECTIONS) {
            note(
                "dynamic_section_omitted",
                format!(
                    "section `{}` does not fit into the prompt",
                    section.section_id
                ),
            );
            return;
        }
        let shown: String = text.chars().take(room).collect();
        let is_truncated = shown.len() < text.len();
        if is_truncated || section.truncated {
            let total = text.chars().count();
            let message = if is_truncated {
                format!(
                    "section `{}` shows {room} of {total} characters",
                    section.section_id
                )
            } else {
                format!(
                    "the source of section `{}` is longer than its budget",
                    section.section_id
                )
            };
            note("dynamic_section_truncated", message);
        }
        *left -= shown.chars().count();
        self.hook_sources.push(PromptManifestHookSource {
            source,
            section_id: Some(section.section_id.clone()),
            contribution_kind: PromptContributionKind::PromptSection,
            priority: Some(section.priority),
            source_count: Some(section.source_refs.len() as u64),
            truncation: match (section.truncated, is_truncated) {
                (false, false) => PromptTruncation::None,
                (true, false) => PromptTruncation::Hook,
                (false, true) => PromptTruncation::Prompt,
                (true, true) => PromptTruncation::HookAndPrompt,
            },
        });
        match known {
            None => self.sections.push(Section {
                id: section.section_id.clone(),
                title: section.title.clone(),
                text: shown,
            }),
            Some(known) => {
                let known = &mut self.sections[known];
                known.text.push_str("\n\n");
                known.text.push_str(&shown);
                if section.title.is_some() && section.title != known.title {
                    let kept = known.title.clone().unwrap_or_default();
                    self.diagnostics.push(PromptManifestDiagnostic {
                        code: "prompt_section.title_conflict".to_owned(),
                        message: format!("the section keeps its title `{kept}`"),
                        section_id: Some(section.section_id.clone()),
                        hook_source: None,
                    });
                }
            }
        }
    }
}

/// Describes the source hook of a contribution for the manifest.
pub(crate) fn hook_source(
    contributed: &Contributed,
    contribution_id: Option<&str>,
) -> PromptHookSource {
    PromptHookSource {
        hook_id: contributed.hook_id.clone(),
        subscription_id: contributed.subscription_id.clone(),
        phase: contributed.phase.manifest_name(),
        phase_name: contributed.phase.as_str().to_owned(),
        contribution_id: contribution_id.map(ToOwned::to_owned),
        contribution_hash: Some(contributed.hash.clone()),
    }
}
