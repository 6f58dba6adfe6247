//! `ac pm gantt|export`: the plan of a project.

use std::{
    io::{self, IsTerminal as _},
    path::PathBuf,
};

use clap::{Args, Subcommand, ValueEnum};
use protocol::{
    Id as _,
    company::{CompanyScope, ProjectId, Text, pm::*},
};

use super::HomeOption;
use crate::{failure::Failure, folder, local::Local, terminal};

mod gantt;

#[derive(Args, Debug)]
pub(crate) struct PmCommand {
    #[command(subcommand)]
    action: PmAction,
}

#[derive(Debug, Subcommand)]
enum PmAction {
    /// Draw the plan of a project as a Gantt chart.
    Gantt {
        #[command(flatten)]
        options: ProjectOptions,
        /// Width of the chart in columns [default: $COLUMNS, else 100]
        #[arg(long, value_name = "COLUMNS")]
        width: Option<usize>,
    },
    /// Print the plan of a project in a format for other tools.
    Export {
        #[command(flatten)]
        options: ProjectOptions,
        /// Output format.
        #[arg(long, value_enum)]
        format: Format,
    },
}

/// The options that select a project.
#[derive(Args, Debug)]
struct ProjectOptions {
    #[command(flatten)]
    home: HomeOption,
    /// Company folder.
    #[arg(value_parser = folder::argument())]
    directory: PathBuf,
    /// Id of the project.
    project: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A Gantt diagram for Markdown.
    Mermaid,
    /// Comma-separated values, one row per task.
    Csv,
    /// An iCalendar file.
    Ics,
}

impl From<Format> for PlanFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Mermaid => Self::Mermaid,
            Format::Csv => Self::Csv,
            Format::Ics => Self::Ics,
        }
    }
}

impl ProjectOptions {
    fn project(&self) -> Result<ProjectId, Failure> {
        Ok(ProjectId::parse(&self.project)?)
    }

    fn workspace_dir(&self) -> Result<Text, Failure> {
        folder::wire(&folder::company(&self.directory)?)
    }
}

impl PmCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            PmAction::Gantt { options, width } => draw(&options, width).await,
            PmAction::Export { options, format } => export(&options, format).await,
        }
    }
}

async fn draw(options: &ProjectOptions, width: Option<usize>) -> Result<(), Failure> {
    let project_id = options.project()?;
    let params = PmSnapshotParams {
        workspace_dir: options.workspace_dir()?,
        scope: CompanyScope::Project,
        project_id: Some(project_id.clone()),
    };
    let answer = Local::with(&options.home, |local| async move {
        Ok(local.client.call::<PmSnapshot>(params).await?)
    });
    let PmSnapshotResponse {
        workspace, project, ..
    } = answer.await?;
    let mut rows = workspace.projects.into_iter();
    let row = rows.find(|row| row.project_id == project_id.as_str());
    let (Some(row), Some(plan)) = (row, project) else {
        return Err(Failure::no_project(project_id.as_str()));
    };
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let is_coloured = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let style = gantt::Style {
        width: width.or_else(columns).unwrap_or(100),
        is_coloured,
    };
    terminal::print(&gantt::draw(&row.name, &plan, style))?;
    Ok(())
}

async fn export(options: &ProjectOptions, format: Format) -> Result<(), Failure> {
    let params = PmExportParams {
        workspace_dir: options.workspace_dir()?,
        project_id: options.project()?,
        format: format.into(),
    };
    let answer = Local::with(&options.home, |local| async move {
        Ok(local.client.call::<PmExport>(params).await?)
    });
    terminal::print(answer.await?.content.trim_end())?;
    Ok(())
}
