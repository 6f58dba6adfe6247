//! `ac pm gantt|export`

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
pub(crate) struct Pm {
    #[command(subcommand)]
    action: PmAction,
}

#[derive(Debug, Subcommand)]
enum PmAction {
    /// Draw the plan of a project.
    Gantt {
        #[command(flatten)]
        place: Place,
        /// How many columns the drawing may have [default: $COLUMNS, else 100]
        #[arg(long, value_name = "COLUMNS")]
        width: Option<usize>,
    },
    /// Print the plan of a project for other tools.
    Export {
        #[command(flatten)]
        place: Place,
        /// How.
        #[arg(long, value_enum)]
        format: Format,
    },
}

/// Which project.
#[derive(Args, Debug)]
struct Place {
    #[command(flatten)]
    home: HomeOption,
    /// The company folder.
    #[arg(value_parser = folder::argument())]
    directory: PathBuf,
    /// The project's id.
    project: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A Gantt diagram for Markdown.
    Mermaid,
    /// A table.
    Csv,
    /// A calendar.
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

impl Place {
    fn project(&self) -> Result<ProjectId, Failure> {
        Ok(ProjectId::parse(&self.project)?)
    }

    fn workspace_dir(&self) -> Result<Text, Failure> {
        folder::wire(&folder::company(&self.directory)?)
    }
}

impl Pm {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            PmAction::Gantt { place, width } => draw(&place, width).await,
            PmAction::Export { place, format } => export(&place, format).await,
        }
    }
}

async fn draw(place: &Place, width: Option<usize>) -> Result<(), Failure> {
    let project_id = place.project()?;
    let params = PmSnapshotParams {
        workspace_dir: place.workspace_dir()?,
        scope: CompanyScope::Project,
        project_id: Some(project_id.clone()),
    };
    let answer = Local::with(&place.home, |local| async move {
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
    terminal::say(&gantt::draw(&row.name, &plan, style))?;
    Ok(())
}

async fn export(place: &Place, format: Format) -> Result<(), Failure> {
    let params = PmExportParams {
        workspace_dir: place.workspace_dir()?,
        project_id: place.project()?,
        format: format.into(),
    };
    let answer = Local::with(&place.home, |local| async move {
        Ok(local.client.call::<PmExport>(params).await?)
    });
    terminal::say(answer.await?.content.trim_end())?;
    Ok(())
}
