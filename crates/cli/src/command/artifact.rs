//! `ac artifact put|get|list`

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use protocol::{
    ArtifactId, Id as _, ThreadId, WorkspaceId,
    artifact::{
        ArtifactList, ArtifactListParams, ArtifactSummary,
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
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::HomeOption;
use crate::{failure::Failure, local::Local, terminal};

/// Bytes of one file at most, as `artifact/capabilities` says.
const MAX_BYTES: u64 = 50 << 20;
/// Frames sent before the gateway is asked how far it is.
const WINDOW: u64 = 32;

#[derive(Args, Debug)]
pub(crate) struct Artifact {
    #[command(subcommand)]
    action: ArtifactAction,
}

#[derive(Debug, Subcommand)]
enum ArtifactAction {
    /// Upload a file; an upload that was cut off goes on where it stopped.
    Put {
        #[command(flatten)]
        place: Place,
        /// The file.
        file: PathBuf,
        /// The thread it is for.
        #[arg(long, value_name = "ID")]
        thread: Option<String>,
        /// The artifact that gets the file as its new version [default: a new artifact]
        #[arg(long, value_name = "ID")]
        artifact: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Download an artifact, with every chunk verified.
    Get {
        #[command(flatten)]
        place: Place,
        /// The artifact, `art_…`.
        artifact: String,
        /// Where to write it [default: its own name, in this directory]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace a file that is there.
        #[arg(long)]
        force: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List artifacts, newest first.
    List {
        #[command(flatten)]
        place: Place,
        /// Only artifacts of this thread.
        #[arg(long, value_name = "ID")]
        thread: Option<String>,
        /// Deleted ones too.
        #[arg(long)]
        deleted: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Which home and workspace.
#[derive(Args, Debug)]
struct Place {
    #[command(flatten)]
    home: HomeOption,
    /// The workspace [default: that of the company folder around here, else the one to start in]
    #[arg(long, value_name = "ID")]
    workspace: Option<String>,
}

/// What a file is for.
#[derive(Default)]
pub(super) struct Target {
    pub(super) thread_id: Option<ThreadId>,
    /// The artifact that gets a new version.
    pub(super) artifact_id: Option<ArtifactId>,
}

/// Bytes on their way to the gateway.
pub(super) struct Upload {
    pub(super) name: String,
    /// What it is, if somebody knows better than its bytes tell.
    pub(super) mime_type: Option<String>,
    pub(super) size: u64,
    pub(super) sha256: String,
    pub(super) target: Target,
}

impl Artifact {
    pub(crate) async fn run(self) -> Result<(), Failure> {
        match self.action {
            ArtifactAction::Put {
                place,
                file,
                thread,
                artifact,
                json,
            } => {
                let target = Target {
                    thread_id: thread.as_deref().map(ThreadId::parse).transpose()?,
                    artifact_id: artifact.as_deref().map(ArtifactId::parse).transpose()?,
                };
                put(&place, &file, target, json).await
            }
            ArtifactAction::Get {
                place,
                artifact,
                output,
                force,
                json,
            } => {
                let written = get(&place, &artifact, output, force).await?;
                Ok(terminal::say(&match json {
                    true => json!({"file": written}).to_string(),
                    false => written.display().to_string(),
                })?)
            }
            ArtifactAction::List {
                place,
                thread,
                deleted,
                json,
            } => list(&place, thread.as_deref(), deleted, json).await,
        }
    }
}

async fn put(place: &Place, path: &Path, target: Target, as_json: bool) -> Result<(), Failure> {
    let failed = |source| Failure::File {
        path: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let size = metadata.len();
    if !metadata.is_file() || size > MAX_BYTES {
        return Err(Failure::Argument {
            detail: format!(
                "`{}` must be a plain file of at most {MAX_BYTES} bytes",
                path.display()
            ),
        });
    }
    let sha256 = hash(&mut file, size).map_err(failed)?;
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("artifact")
        .to_owned();
    let artifact = Local::with(&place.home, |local| async move {
        let workspace_id = local.workspace(place.workspace.as_deref()).await?;
        let upload = Upload {
            name,
            mime_type: None,
            size,
            sha256,
            target,
        };
        let read = |offset, len| read_at(&file, offset, len).map_err(failed);
        upload.send(&local, &workspace_id, read).await
    })
    .await?;
    terminal::say(&match as_json {
        true => serde_json::to_string(&artifact).unwrap_or_default(),
        false => format!("{}  {}", artifact.artifact_id, artifact.display_name),
    })?;
    Ok(())
}

impl Upload {
    /// Sends the bytes that `read` answers for an offset and a length.
    pub(super) async fn send(
        self,
        local: &Local,
        workspace_id: &WorkspaceId,
        read: impl Fn(u64, u64) -> Result<Vec<u8>, Failure>,
    ) -> Result<protocol::artifact::ArtifactRef, Failure> {
        let size = self.size;
        let started = local
            .client
            .call::<ArtifactUploadStart>(ArtifactUploadStartParams {
                workspace_id: workspace_id.clone(),
                thread_id: self.target.thread_id,
                planned_turn_id: None,
                artifact_id: self.target.artifact_id,
                // The same file under the same name is the same upload, however often it is tried.
                client_attachment_id: format!("cli-{}", &self.sha256[..32]),
                file_name: self.name,
                mime_type: self.mime_type,
                size_bytes: size,
                sha256: self.sha256,
                source_kind: ArtifactUploadSourceKind::Api,
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
    place: &Place,
    artifact: &str,
    output: Option<PathBuf>,
    force: bool,
) -> Result<PathBuf, Failure> {
    let artifact_id = ArtifactId::parse(artifact)?;
    Local::with(&place.home, |local| async move {
        let workspace_id = local.workspace(place.workspace.as_deref()).await?;
        let started = local
            .client
            .call::<ArtifactDownloadStart>(ArtifactDownloadStartParams {
                workspace_id: workspace_id.clone(),
                artifact_id,
                version_id: None,
                preferred_chunk_size_bytes: None,
            })
            .await?;
        let path = output.unwrap_or_else(|| PathBuf::from(&started.file_name));
        let failed = |source| Failure::File {
            path: path.clone(),
            source,
        };
        check_target(&path, force)?;
        // Beside its place until it is whole.
        let mut partial = path.clone().into_os_string();
        partial.push(".part");
        let partial = PathBuf::from(partial);
        let mut file = File::create(&partial).map_err(failed)?;
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
        if hex(&whole.finalize()) != started.sha256 {
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

/// A new file is fine, a file that is there only by force, and anything else is not ours to replace.
fn check_target(path: &Path, force: bool) -> Result<(), Failure> {
    let refused = |why: &str| Failure::Argument {
        detail: format!("`{}` {why}", path.display()),
    };
    match fs::symlink_metadata(path) {
        Err(_) => Ok(()),
        Ok(found) if !found.is_file() => Err(refused(
            "is there and is no plain file: name another one with -o",
        )),
        Ok(_) if !force => Err(refused("is there: use --force to replace it")),
        Ok(_) => Ok(()),
    }
}

/// One chunk, compared with its hash.
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
    let at = 8 + length.ok_or_else(damaged)? as usize;
    let header = frame
        .get(8..at)
        .and_then(|header| serde_json::from_slice(header).ok());
    let header: ArtifactDownloadChunkHeader = header.ok_or_else(damaged)?;
    let bytes = frame.get(at..).unwrap_or_default();
    match gateway::sha256_hex(bytes) == header.chunk_sha256 && header.offset == offset {
        true => Ok(bytes.to_vec()),
        false => Err(damaged()),
    }
}

async fn list(
    place: &Place,
    thread: Option<&str>,
    deleted: bool,
    as_json: bool,
) -> Result<(), Failure> {
    let thread_id = thread.map(ThreadId::parse).transpose()?;
    let items = Local::with(&place.home, |local| async move {
        let workspace = local.workspace(place.workspace.as_deref()).await?;
        let mut params = ArtifactListParams {
            thread_id,
            include_deleted: Some(deleted),
            limit: Some(200),
            ..ArtifactListParams::all(workspace)
        };
        let mut items: Vec<ArtifactSummary> = Vec::new();
        loop {
            let page = local.client.call::<ArtifactList>(params.clone()).await?;
            items.extend(page.items);
            params.cursor = page.next_cursor;
            if params.cursor.is_none() {
                return Ok(items);
            }
        }
    })
    .await?;
    terminal::say(&match (as_json, items.is_empty()) {
        (true, _) => json!({ "items": items }).to_string(),
        (false, true) => "There are no artifacts. `ac artifact put FILE` makes one.".to_owned(),
        (false, false) => {
            let rows: Vec<_> = items.iter().map(row).collect();
            terminal::table(&["ID", "NAME", "KIND", "SIZE", "STATUS"], &rows)
        }
    })?;
    Ok(())
}

fn row(summary: &ArtifactSummary) -> Vec<String> {
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let artifact = &summary.artifact;
    vec![
        artifact.artifact_id.to_string(),
        artifact.display_name.clone(),
        word(json!(artifact.kind)),
        artifact.size_bytes.unwrap_or(0).to_string(),
        word(json!(artifact.status)),
    ]
}

fn frame(header: &ArtifactUploadChunkHeader, bytes: &[u8]) -> Vec<u8> {
    let header = serde_json::to_vec(header).unwrap_or_default();
    let length = u32::try_from(header.len())
        .unwrap_or(u32::MAX)
        .to_be_bytes();
    [b"ARTU".as_slice(), &length, &header, bytes].concat()
}

/// Reads the file through once, with a bar if that takes a while.
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
    Ok(hex(&hash.finalize()))
}

fn read_at(file: &File, offset: u64, len: u64) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::FileExt as _;
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
