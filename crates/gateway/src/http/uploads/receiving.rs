//! Receives the body of one `PATCH` request into its upload and finishes the upload with the last byte.

use std::{sync::Arc, time::Duration};

use artifacts::{Chunk, Rejection};
use axum::{
    body::Body,
    response::{IntoResponse as _, Response},
};
use entity::artifact_upload_session as session;
use futures_util::StreamExt as _;
use hyper::{StatusCode, header::HeaderValue};
use rpc::{Bytes, Failure};

use super::{
    super::refusal::refuse, ARTIFACT_ID, Checksum, UPLOAD_EXPIRES, UPLOAD_OFFSET, conflict,
    expires, text,
};
use crate::{Principal, artifact_notifications, rows, services::Services};

/// The number of bytes buffered before they are written.
const PIECE: usize = 256 << 10;
/// The time after which a body without new bytes is aborted.
const STALL: Duration = Duration::from_secs(60);

/// An upload that receives a request body.
pub(super) struct Receiving {
    services: Arc<Services>,
    session: Arc<session::Model>,
    owner: Arc<str>,
    /// The offset of the next byte.
    offset: u64,
    /// When the upload expires, in Unix seconds.
    expires_at: i64,
}

/// How a request body ended.
enum BodyEnd {
    Complete,
    Cut,
    Stalled,
}

impl Receiving {
    pub(super) fn new(
        services: &Arc<Services>,
        session: session::Model,
        principal: &Principal,
        offset: u64,
    ) -> Self {
        Self {
            services: Arc::clone(services),
            expires_at: session.expires_at,
            session: Arc::new(session),
            owner: principal.author().into(),
            offset,
        }
    }

    /// Writes the body as it is received. Received bytes are kept however the body ends, except when a checksum was
    /// given and does not match.
    pub(super) async fn take(
        mut self,
        body: Body,
        mut checksum: Option<Checksum>,
    ) -> Result<Response, Response> {
        let begin = self.offset;
        let end = self.receive(body, checksum.as_mut()).await;
        if let Some(checksum) = checksum
            && !(matches!(end, Ok(BodyEnd::Complete)) && checksum.matches())
        {
            self.take_back(begin).await?;
            if let Ok(BodyEnd::Complete) = end {
                return Err(mismatch());
            }
        }
        let end = end?;
        if self.offset == self.session.size_bytes.unsigned_abs() {
            return self.finish().await;
        }
        match end {
            BodyEnd::Complete => Ok(self.accepted()),
            BodyEnd::Cut => Err(text(StatusCode::BAD_REQUEST, "the body was cut\n")),
            BodyEnd::Stalled => Err(text(
                StatusCode::REQUEST_TIMEOUT,
                "timed out waiting for more bytes\n",
            )),
        }
    }

    async fn receive(
        &mut self,
        body: Body,
        mut checksum: Option<&mut Checksum>,
    ) -> Result<BodyEnd, Response> {
        let mut arriving = body.into_data_stream();
        let mut piece = Vec::with_capacity(PIECE);
        let end = loop {
            let mut bytes = match tokio::time::timeout(STALL, arriving.next()).await {
                Ok(Some(Ok(bytes))) => bytes,
                Ok(Some(Err(_))) => break BodyEnd::Cut,
                Ok(None) => break BodyEnd::Complete,
                Err(_) => break BodyEnd::Stalled,
            };
            if let Some(checksum) = &mut checksum {
                checksum.update(&bytes);
            }
            while !bytes.is_empty() {
                let fits = bytes.len().min(PIECE - piece.len());
                piece.extend_from_slice(&bytes.split_to(fits));
                if piece.len() == PIECE {
                    let full = std::mem::replace(&mut piece, Vec::with_capacity(PIECE));
                    self.write(full).await?;
                }
            }
        };
        if !piece.is_empty() {
            self.write(piece).await?;
        }
        Ok(end)
    }

    async fn write(&mut self, piece: Vec<u8>) -> Result<(), Response> {
        let length = piece.len() as u64;
        let (artifacts, offset) = (&self.services.artifacts, self.offset);
        let chunk = Chunk {
            workspace_id: self.session.workspace_id.clone(),
            upload_id: self.session.id.clone(),
            owner: Arc::clone(&self.owner),
            offset,
            bytes: Bytes::from(piece),
            declared: None,
        };
        let accepted = artifacts.append_chunk(chunk).await;
        let accepted = accepted.map_err(|error| refuse(rows::artifact_failure(error)))?;
        let accepted = accepted.map_err(|rejection| rejected(&rejection, offset))?;
        self.offset += length;
        self.expires_at = accepted.extend_to.unwrap_or(self.expires_at);
        Ok(())
    }

    /// Removes the bytes from an offset on, because their checksum was not verified.
    async fn take_back(&mut self, begin: u64) -> Result<(), Response> {
        let range = begin..self.offset;
        self.offset = begin;
        let artifacts = &self.services.artifacts;
        let taken_back = artifacts.take_back(Arc::clone(&self.session), range).await;
        taken_back.map_err(|error| refuse(rows::artifact_failure(error)))
    }

    /// Creates the artifact and notifies the subscribers.
    pub(super) async fn finish(self) -> Result<Response, Response> {
        let services = &self.services;
        let session = (*self.session).clone();
        let finished = services.artifacts.finish_upload(session, &self.owner).await;
        let finished = finished.map_err(|error| refuse(rows::artifact_failure(error)))?;
        let now = services.sources.clock.now();
        let announced = artifact_notifications::announce(now, finished);
        let (artifact, publications) = announced.map_err(refuse)?;
        for publication in &publications {
            services.notifier.publish(publication).await;
        }
        let id = HeaderValue::from_str(artifact.artifact_id.as_str());
        let id = id.map_err(|error| refuse(Failure::incident(&error)))?;
        let mut answer = self.accepted();
        // A completed upload does not expire.
        answer.headers_mut().remove(UPLOAD_EXPIRES);
        answer.headers_mut().insert(ARTIFACT_ID, id);
        Ok(answer)
    }

    fn accepted(&self) -> Response {
        let headers = [
            (UPLOAD_OFFSET, HeaderValue::from(self.offset)),
            (UPLOAD_EXPIRES, expires::value(self.expires_at)),
        ];
        (StatusCode::NO_CONTENT, headers).into_response()
    }
}

/// Builds the response for a checksum mismatch.
fn mismatch() -> Response {
    let status = StatusCode::from_u16(460).unwrap_or(StatusCode::BAD_REQUEST);
    text(
        status,
        "the body does not have the hash of `Upload-Checksum`\n",
    )
}

fn rejected(rejection: &Rejection, offset: u64) -> Response {
    let status = match rejection.kind {
        "offset_mismatch" => return conflict(rejection.next_offset.unwrap_or_default(), offset),
        "not_receiving" => StatusCode::CONFLICT,
        "unknown_upload" => StatusCode::NOT_FOUND,
        "exceeds_size" | "chunk_too_large" => StatusCode::PAYLOAD_TOO_LARGE,
        "internal" => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    };
    text(status, format!("{}\n", rejection.message))
}
