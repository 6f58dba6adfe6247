//! `ac artifact put|get|list`: uploads, downloads and lists files of a workspace.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Component, Path, PathBuf},
};

use clap::{Args, Subcommand};
use data_encoding::HEXLOWER;
use protocol::{
    ArtifactId, Id as _, ThreadId, WorkspaceId,
    artifact::{
        ArtifactCreatedByKind, ArtifactList, ArtifactListParams, ArtifactRef, ArtifactStatus,
        ArtifactSummary,
        download::{
            ArtifactDownloadChunk, ArtifactDownloadChunkHeader, ArtifactDownloadChunkParams,
            ArtifactDownloadFinish, ArtifactDownloadFinishParams, ArtifactDownloadStart,
            ArtifactDownloadStartParams, ArtifactDownloadStartResponse,
        },
        upload::{
            ArtifactUploadChunkHeader, ArtifactUploadFinish, ArtifactUploadFinishParams,
            ArtifactUploadSourceKind, ArtifactUploadStart, ArtifactUploadStartParams,
            ArtifactUploadStatus, ArtifactUploadStatusParams,
        },
    },
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::HomeOption;
use crate::{failure::Failure, folder, local::Local, names::Names, terminal};

/// Maximum size of a file in bytes, as reported by `artifact/capabilities`.
const MAX_BYTES: u64 = 50 << 20;
/// Maximum number of files in an uploaded folder. Each file is a separate upload.
const MAX_FOLDER_FILES: usize = 2_000;
/// Number of frames to send before asking the gateway for its progress.
const WINDOW: u64 = 32;

#[derive(Args, Debug)]
pub(crate) struct ArtifactCommand {
    #[command(subcommand)]
    action: ArtifactAction,
}

#[derive(Debug, Subcommand)]
enum ArtifactAction {
    /// Upload a file, resuming an interrupted upload.
    ///
    /// For a folder, upload every file in it and a manifest that lists them.
    Put {
        #[command(flatten)]
        options: WorkspaceOptions,
        /// File or folder.
        #[arg(value_parser = folder::argument())]
        file: PathBuf,
        /// Origin of the file; files of a folder are always imports.
        #[arg(long, value_enum, default_value_t = UploadSource::Api)]
        source: UploadSource,
        /// Thread that the file belongs to.
        #[arg(long, value_name = "ID")]
        thread: Option<String>,
        /// Artifact that gets the file as its new version [default: a new artifact]
        #[arg(long, value_name = "ID")]
        artifact: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Download an artifact and verify its chunks.
    Get {
        #[command(flatten)]
        options: WorkspaceOptions,
        /// Id of the artifact, `art_…`.
        artifact: String,
        /// File to write [default: the name of the artifact, in the current folder]
        #[arg(long, short, value_name = "FILE", value_parser = folder::argument())]
        output: Option<PathBuf>,
        /// Replace an existing file.
        #[arg(long)]
        force: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List artifacts, newest first.
    List {
        #[command(flatten)]
        options: WorkspaceOptions,
        /// List only artifacts of this thread.
        #[arg(long, value_name = "ID")]
        thread: Option<String>,
        /// List only deleted artifacts, which can be restored for 30 days.
        #[arg(long)]
        deleted: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The origin of a file, which determines the kind of the artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum UploadSource {
    /// An ordinary file.
    Api,
    /// A file imported from another system.
    Import,
    /// A worktree: the artifact is a `workspace_file`.
    Worktree,
    /// A screen capture: the artifact is a `screenshot`.
    Screenshot,
}

impl UploadSource {
    fn wire(self) -> ArtifactUploadSourceKind {
        match self {
            Self::Api => ArtifactUploadSourceKind::Api,
            Self::Import => ArtifactUploadSourceKind::Import,
            Self::Worktree => ArtifactUploadSourceKind::Worktree,
            Self::Screenshot => ArtifactUploadSourceKind::Screenshot,
        }
    }
}

/// The options that select a home and a workspace.
#[derive(Args, Debug)]
struct WorkspaceOptions {
    #[command(flatten)]
    home: HomeOption,
    /// Workspace [default: that of the current company folder, else the default workspace]
    #[arg(long, value_name = "ID")]
    workspace: Option<String>,
}

/// The thread and the artifact that an upload belongs to.
#[derive(Clone, Default)]
pub(super) struct UploadTarget {
    pub(super) thread_id: Option<ThreadId>,
    /// The artifact that gets a new version. `None` creates a new artifact.
    pub(super) artifact_id: Option<ArtifactId>,
}

/// The metadata of an upload.
pub(super) struct UploadRequest {
    pub(super) name: String,
    /// The media type. `None` lets the gateway detect it from the content.
    pub(super) mime_type: Option<String>,
    pub(super) size: u64,
    pub(super) sha256: String,
    pub(super) source_kind: ArtifactUploadSourceKind,
    pub(super) target: UploadTarget,
}

impl ArtifactCommand {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            ArtifactAction::Put {
                options,
                file,
                source,
                thread,
                artifact,
                json,
            } => {
                let target = UploadTarget {
                    thread_id: thread.as_deref().map(ThreadId::parse).transpose()?,
                    artifact_id: artifact.as_deref().map(ArtifactId::parse).transpose()?,
                };
                let artifact = if file.is_dir() {
                    put_folder(&options, &file, &target).await?
                } else {
                    put(&options, &file, source.wire(), target).await?
                };
                Ok(terminal::print(&if json {
                    serde_json::to_string(&artifact).unwrap_or_default()
                } else {
                    let name = terminal::harmless(&artifact.display_name);
                    format!("{name}  {}", artifact.artifact_id)
                })?)
            }
            ArtifactAction::Get {
                options,
                artifact,
                output,
                force,
                json,
            } => {
                let written = get(&options, &artifact, output, force).await?;
                Ok(terminal::print(&if json {
                    json!({"file": written}).to_string()
                } else {
                    written.display().to_string()
                })?)
            }
            ArtifactAction::List {
                options,
                thread,
                deleted,
                json,
            } => list(&options, thread.as_deref(), deleted, json).await,
        }
    }
}

async fn put(
    options: &WorkspaceOptions,
    path: &Path,
    source_kind: ArtifactUploadSourceKind,
    target: UploadTarget,
) -> Result<ArtifactRef, Failure> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or("artifact").to_owned();
    Local::with(&options.home, |local| async move {
        let workspace_id = local.workspace(options.workspace.as_deref()).await?;
        put_as(&local, &workspace_id, path, name, source_kind, target).await
    })
    .await
}

/// Uploads every file of a folder and a manifest that lists them. Returns the manifest.
async fn put_folder(
    options: &WorkspaceOptions,
    folder: &Path,
    target: &UploadTarget,
) -> Result<ArtifactRef, Failure> {
    if target.artifact_id.is_some() {
        return Err(Failure::Argument {
            detail: format!(
                "`{}` is a folder: --artifact takes a single file",
                folder.display()
            ),
        });
    }
    let mut paths = Vec::new();
    collect(folder, &mut paths)?;
    paths.sort();
    let name = folder.canonicalize().ok();
    let name = name.as_deref().and_then(Path::file_name);
    let name = name.and_then(|name| name.to_str()).unwrap_or("folder");
    let name = format!("{name}.manifest.json");
    Local::with(&options.home, |local| async move {
        let workspace_id = local.workspace(options.workspace.as_deref()).await?;
        let mut entries = Vec::new();
        for path in &paths {
            let relative = path.strip_prefix(folder).unwrap_or(path);
            let relative = relative.to_string_lossy().into_owned();
            let artifact = put_as(
                &local,
                &workspace_id,
                path,
                relative.clone(),
                ArtifactUploadSourceKind::Import,
                target.clone(),
            )
            .await?;
            entries.push(json!({
                "path": relative,
                "artifact_id": artifact.artifact_id,
                "version_id": artifact.version_id,
                "size_bytes": artifact.size_bytes,
                "sha256": artifact.sha256,
            }));
        }
        let manifest = serde_json::to_vec_pretty(&json!({ "files": entries })).unwrap_or_default();
        let upload = UploadRequest {
            name,
            mime_type: Some("application/json".to_owned()),
            size: manifest.len() as u64,
            sha256: gateway::sha256_hex(&manifest),
            source_kind: ArtifactUploadSourceKind::FolderManifest,
            target: target.clone(),
        };
        let read = |offset: u64, len: u64| {
            let begin = usize::try_from(offset).unwrap_or(usize::MAX);
            let end = usize::try_from(offset + len).unwrap_or(usize::MAX);
            Ok(manifest.get(begin..end).unwrap_or_default().to_vec())
        };
        upload.send(&local, &workspace_id, read).await
    })
    .await
}

/// Collects the regular files below a folder. Links are not followed.
fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |source| Failure::File {
        path: folder.to_owned(),
        source,
    };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() {
            collect(&entry.path(), paths)?;
        } else if kind.is_file() {
            paths.push(entry.path());
        }
        if paths.len() > MAX_FOLDER_FILES {
            return Err(Failure::Argument {
                detail: format!(
                    "`{}` has more than {MAX_FOLDER_FILES} files",
                    folder.display()
                ),
            });
        }
    }
    Ok(())
}

async fn put_as(
    local: &Local,
    workspace_id: &WorkspaceId,
    path: &Path,
    name: String,
    source_kind: ArtifactUploadSourceKind,
    target: UploadTarget,
) -> Result<ArtifactRef, Failure> {
    let failed = |source| Failure::File {
        path: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let size = metadata.len();
    let refused = |why: &str| Failure::Argument {
        detail: format!("`{}` {why}", path.display()),
    };
    if !metadata.is_file() {
        return Err(refused("is not a regular file: name a file"));
    }
    if size > MAX_BYTES {
        return Err(refused(&format!(
            "has {}: the limit for a file is {}",
            terminal::bytes(size),
            terminal::bytes(MAX_BYTES)
        )));
    }
    let sha256 = hash(&mut file, size).map_err(failed)?;
    let upload = UploadRequest {
        name,
        mime_type: None,
        size,
        sha256,
        source_kind,
        target,
    };
    let read = |offset, len| read_at(&file, offset, len).map_err(failed);
    upload.send(local, workspace_id, read).await
}

impl UploadRequest {
    /// Uploads the content. `read` returns the bytes for an offset and a length.
    pub(super) async fn send(
        self,
        local: &Local,
        workspace_id: &WorkspaceId,
        read: impl Fn(u64, u64) -> Result<Vec<u8>, Failure>,
    ) -> Result<ArtifactRef, Failure> {
        let size = self.size;
        let started = local
            .client
            .call::<ArtifactUploadStart>(ArtifactUploadStartParams {
                workspace_id: workspace_id.clone(),
                thread_id: self.target.thread_id,
                planned_turn_id: None,
                artifact_id: self.target.artifact_id,
                // The same content under the same name is the same upload, so that a retry resumes it.
                client_attachment_id: format!("cli-{}", &self.sha256[..32]),
                file_name: self.name,
                mime_type: self.mime_type,
                size_bytes: size,
                sha256: self.sha256,
                source_kind: self.source_kind,
            })
            .await?;
        let upload_id = started.upload_id;
        if started.already_present != Some(true) {
            let bar = terminal::bytes_bar(size);
            let mut offset = started.next_offset.unwrap_or(0);
            bar.set_position(offset);
            let chunk = started.recommended_chunk_size_bytes;
            let mut sent = 0;
            while offset < size {
                let bytes = read(offset, chunk.min(size - offset))?;
                let header = ArtifactUploadChunkHeader {
                    workspace_id: workspace_id.clone(),
                    upload_id: upload_id.clone(),
                    offset,
                    len: bytes.len() as u64,
                    chunk_sha256: Some(gateway::sha256_hex(&bytes)),
                };
                local
                    .client
                    .send_binary(frame(&header, &bytes).into())
                    .await?;
                offset += header.len;
                bar.set_position(offset);
                sent += 1;
                if sent % WINDOW == 0 {
                    let status = ArtifactUploadStatusParams {
                        workspace_id: workspace_id.clone(),
                        upload_id: upload_id.clone(),
                    };
                    offset = local
                        .client
                        .call::<ArtifactUploadStatus>(status)
                        .await?
                        .next_offset;
                    local.client.unread().await;
                }
            }
            bar.finish_and_clear();
        }
        let finish = ArtifactUploadFinishParams {
            workspace_id: workspace_id.clone(),
            upload_id,
        };
        let finished = local.client.call::<ArtifactUploadFinish>(finish).await?;
        Ok(finished.artifact)
    }
}

async fn get(
    options: &WorkspaceOptions,
    artifact: &str,
    output: Option<PathBuf>,
    force: bool,
) -> Result<PathBuf, Failure> {
    let artifact_id = ArtifactId::parse(artifact)?;
    Local::with(&options.home, |local| async move {
        let workspace_id = local.workspace(options.workspace.as_deref()).await?;
        let started = local
            .client
            .call::<ArtifactDownloadStart>(ArtifactDownloadStartParams {
                workspace_id: workspace_id.clone(),
                artifact_id,
                version_id: None,
                preferred_chunk_size_bytes: None,
            })
            .await?;
        let path = match output {
            Some(path) => path,
            None => local_name(&started.file_name)?,
        };
        let failed = |source| Failure::File {
            path: path.clone(),
            source,
        };
        check_target(&path, force)?;
        // Write to a temporary file next to the target until the download is complete.
        let mut partial = path.clone().into_os_string();
        partial.push(".part");
        let partial = PathBuf::from(partial);
        // A leftover of an earlier download, or a planted link, is replaced and never written through.
        match fs::remove_file(&partial) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let mut file = File::create_new(&partial).map_err(failed)?;
        let mut whole = Sha256::new();
        let bar = terminal::bytes_bar(started.size_bytes);
        let mut offset = 0;
        while offset < started.size_bytes {
            let len = started
                .recommended_chunk_size_bytes
                .min(started.size_bytes - offset);
            let bytes = chunk(&local, &workspace_id, &started, offset, len).await?;
            file.write_all(&bytes).map_err(failed)?;
            whole.update(&bytes);
            offset += len;
            bar.set_position(offset);
        }
        bar.finish_and_clear();
        if HEXLOWER.encode(&whole.finalize()) != started.sha256 {
            return Err(Failure::Damaged {
                name: started.file_name,
            });
        }
        file.sync_all().map_err(failed)?;
        fs::rename(&partial, &path).map_err(failed)?;
        let finish = ArtifactDownloadFinishParams {
            workspace_id,
            download_id: started.download_id,
        };
        local.client.call::<ArtifactDownloadFinish>(finish).await?;
        Ok(path)
    })
    .await
}

/// Returns the file in the current folder for an artifact name. Uploaders choose the name, so its folders, if any, are
/// dropped and it never leads elsewhere.
fn local_name(name: &str) -> Result<PathBuf, Failure> {
    let last = Path::new(name).components().next_back();
    match last {
        Some(Component::Normal(last)) => Ok(PathBuf::from(last)),
        _ => Err(Failure::Argument {
            detail: format!("the artifact name `{name}` is not a file name: choose one with -o"),
        }),
    }
}

/// Checks that the target does not exist or, with `force`, is a regular file.
fn check_target(path: &Path, force: bool) -> Result<(), Failure> {
    let refused = |why: &str| Failure::Argument {
        detail: format!("`{}` {why}", path.display()),
    };
    match fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(found) if !found.is_file() => Err(refused(
            "exists and is not a regular file: name another one with -o",
        )),
        Ok(_) if !force => Err(refused("already exists: use --force to replace it")),
        Ok(_) => Ok(()),
    }
}

/// Downloads one chunk and verifies its hash.
async fn chunk(
    local: &Local,
    workspace_id: &WorkspaceId,
    download: &ArtifactDownloadStartResponse,
    offset: u64,
    len: u64,
) -> Result<Vec<u8>, Failure> {
    let params = ArtifactDownloadChunkParams {
        workspace_id: workspace_id.clone(),
        download_id: download.download_id.clone(),
        offset,
        len,
    };
    local.client.call::<ArtifactDownloadChunk>(params).await?;
    let damaged = || Failure::Damaged {
        name: download.file_name.clone(),
    };
    let frame = local.client.frame().await.ok_or_else(damaged)?;
    let length = frame
        .get(4..8)
        .and_then(|bytes| bytes.try_into().ok())
        .map(u32::from_be_bytes);
    let header_end = 8 + length.ok_or_else(damaged)? as usize;
    let header = frame
        .get(8..header_end)
        .and_then(|header| serde_json::from_slice(header).ok());
    let header: ArtifactDownloadChunkHeader = header.ok_or_else(damaged)?;
    let bytes = frame.get(header_end..).unwrap_or_default();
    if gateway::sha256_hex(bytes) == header.chunk_sha256 && header.offset == offset {
        Ok(bytes.to_vec())
    } else {
        Err(damaged())
    }
}

async fn list(
    options: &WorkspaceOptions,
    thread: Option<&str>,
    deleted: bool,
    as_json: bool,
) -> Result<(), Failure> {
    let thread_id = thread.map(ThreadId::parse).transpose()?;
    let (items, names) = Local::with(&options.home, |local| async move {
        let workspace = local.workspace(options.workspace.as_deref()).await?;
        let mut params = ArtifactListParams {
            thread_id,
            include_deleted: Some(deleted),
            limit: Some(200),
            ..ArtifactListParams::all(workspace.clone())
        };
        let mut items: Vec<ArtifactSummary> = Vec::new();
        loop {
            let page = local.client.call::<ArtifactList>(params.clone()).await?;
            items.extend(page.items);
            params.cursor = page.next_cursor;
            if params.cursor.is_none() {
                break;
            }
        }
        let is_listed =
            |item: &ArtifactSummary| !deleted || item.artifact.status == ArtifactStatus::Deleted;
        items.retain(is_listed);
        let answer = json!(items);
        let params = json!({"workspace_id": workspace});
        let names = if as_json {
            Names::default()
        } else {
            Names::of_answer(&local.client, &params, &answer).await
        };
        Ok((items, names))
    })
    .await?;
    terminal::print(&match (as_json, items.is_empty()) {
        (true, _) => json!({ "items": items }).to_string(),
        (false, true) if deleted => "There are no deleted artifacts.".to_owned(),
        (false, true) => "There are no artifacts. `ac artifact put FILE` creates one.".to_owned(),
        (false, false) => {
            let rows: Vec<_> = items.iter().map(row).collect();
            terminal::shown(&json!(rows), &names)
        }
    })?;
    Ok(())
}

/// Converts an item of `artifact/list` into a table row. An item that cannot be parsed is returned unchanged.
pub(super) fn row_of(item: &Value) -> Value {
    let summary = serde_json::from_value(item.clone());
    summary.map_or_else(|_| item.clone(), |summary| row(&summary))
}

fn row(summary: &ArtifactSummary) -> Value {
    let artifact = &summary.artifact;
    let is_of_run = match summary.created_by_kind {
        ArtifactCreatedByKind::Agent
        | ArtifactCreatedByKind::Task
        | ArtifactCreatedByKind::ExternalAgent => true,
        ArtifactCreatedByKind::User
        | ArtifactCreatedByKind::Tool
        | ArtifactCreatedByKind::System
        | ArtifactCreatedByKind::Import => false,
    };
    let agent = summary.created_by_actor_id.as_ref();
    json!({
        "name": artifact.display_name,
        "status": artifact.status,
        "kind": artifact.kind,
        "size_bytes": artifact.size_bytes.unwrap_or(0),
        "run": summary.metadata.get("run_id"),
        "agent": agent.filter(|_| is_of_run),
        "created_at": summary.created_at,
        "id": artifact.artifact_id,
    })
}

fn frame(header: &ArtifactUploadChunkHeader, bytes: &[u8]) -> Vec<u8> {
    let header = serde_json::to_vec(header).unwrap_or_default();
    let length = u32::try_from(header.len())
        .unwrap_or(u32::MAX)
        .to_be_bytes();
    [b"ARTU".as_slice(), &length, &header, bytes].concat()
}

/// Hashes the file, with a progress bar.
fn hash(file: &mut File, size: u64) -> io::Result<String> {
    let bar = terminal::bytes_bar(size);
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => {
                hash.update(&buffer[..count]);
                bar.inc(count as u64);
            }
        }
    }
    bar.finish_and_clear();
    Ok(HEXLOWER.encode(&hash.finalize()))
}

fn read_at(file: &File, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::FileExt as _;
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::local_name;

    #[test]
    fn a_download_without_a_target_stays_in_the_current_folder() {
        for (name, file) in [
            ("a.txt", "a.txt"),
            ("deep/b.txt", "b.txt"),
            ("/etc/passwd", "passwd"),
        ] {
            let path = local_name(name).map(|path| path.display().to_string());
            assert_eq!(path.ok().as_deref(), Some(file), "{name}");
        }
        for name in ["", "..", "a/..", "/"] {
            assert!(local_name(name).is_err(), "{name}");
        }
    }
}
