//! Runs every projection in a real worker process, on valid and hostile files.

use std::{thread, time::Duration};

use blobs::{
    projection::{Projection, ProjectionError, ProjectionKind, Workers},
    store::BlobStore,
};
use image::ImageFormat;
use serde_json::{Value, json};

use crate::{
    pictures::{pdf, picture, png_that_claims},
    support::home,
};

fn project_with(
    workers: &Workers,
    kind: ProjectionKind,
    content: &[u8],
) -> Result<Projection, ProjectionError> {
    let home = home();
    let committed = home
        .store
        .put(&home.workspace, content)
        .expect("the blob is stored");
    let blob = home.store.open(&committed.key).expect("the blob opens");
    workers.run(kind, blob)
}

fn project(kind: ProjectionKind, content: &[u8]) -> Result<Projection, ProjectionError> {
    let workers = Workers::new(env!("CARGO_BIN_EXE_blobs-projection-worker"), &[]);
    project_with(&workers, kind, content)
}

/// Uses a shell script as worker; the kind becomes `$0`.
fn shell(script: &str) -> Workers {
    Workers::new("/bin/sh", &["-c", script])
}

#[test]
fn a_thumbnail_is_a_small_png_of_the_same_shape() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif] {
        let made = project(ProjectionKind::Thumbnail, &picture(640, 160, format)).unwrap();
        assert_eq!(made.mime, "image/png");
        assert_eq!(made.text, None);
        assert_eq!(
            Value::from(made.metadata),
            json!({
                "extractor": "thumbnail_png_v1",
                "source_width": 640, "source_height": 160, "target_width": 320, "target_height": 80,
            })
        );
        let small = image::load_from_memory(&made.bytes.unwrap()).unwrap();
        assert_eq!((small.width(), small.height()), (320, 80));
    }
}

#[test]
fn a_small_image_is_not_enlarged() {
    let content = picture(20, 10, ImageFormat::WebP);
    let made = project(ProjectionKind::Thumbnail, &content).unwrap();
    assert_eq!(made.metadata["target_width"], 20);
    assert_eq!(made.metadata["target_height"], 10);
}

#[test]
fn an_image_bomb_is_too_large() {
    for (width, height) in [(50_000, 50_000), (u32::MAX >> 1, 1), (9_900, 9_900)] {
        assert_eq!(
            project(ProjectionKind::Thumbnail, &png_that_claims(width, height)),
            Err(ProjectionError::TOO_LARGE),
            "{width}x{height}"
        );
    }
}

#[test]
fn a_broken_image_has_no_thumbnail() {
    let good = picture(640, 160, ImageFormat::Png);
    for content in [
        b"".as_slice(),
        b"hello",
        &good[..good.len() / 2],
        &png_that_claims(10, 10),
        &png_that_claims(0, 0),
    ] {
        assert_eq!(
            project(ProjectionKind::Thumbnail, content),
            Err(ProjectionError::UNDECODABLE)
        );
    }
}

#[test]
fn plain_text_is_the_text() {
    let made = project(ProjectionKind::PlainText, b"caf\xc3\xa9 \xff").unwrap();
    assert_eq!(made.text.as_deref(), Some("café \u{fffd}"));
    assert_eq!(made.bytes, None);
    assert_eq!(made.mime, "text/plain");
    assert_eq!(
        Value::from(made.metadata),
        json!({"extractor": "plain_text_v1", "lossy": true, "truncated": false})
    );
}

#[test]
fn long_plain_text_is_cut_at_one_mebibyte() {
    let made = project(ProjectionKind::PlainText, &vec![b'x'; 3 << 20]).unwrap();
    assert_eq!(made.text.unwrap().len(), 1 << 20);
    assert_eq!(made.metadata["truncated"], true);
}

#[test]
fn a_json_summary_is_its_shape() {
    let made = project(ProjectionKind::JsonSummary, br#"{"a": [1, 2]}"#).unwrap();
    assert_eq!(made.metadata["extractor"], "json_summary_v1");
    let summary: Value = serde_json::from_str(&made.text.unwrap()).unwrap();
    assert_eq!(
        summary["keys"],
        json!([{"key": "a", "type": "array", "length": 2}])
    );
}

#[test]
fn deep_and_broken_json_have_their_classes() {
    let deep = "[".repeat(1_000_000);
    assert_eq!(
        project(ProjectionKind::JsonSummary, deep.as_bytes()),
        Err(ProjectionError::TOO_DEEP)
    );
    assert_eq!(
        project(ProjectionKind::JsonSummary, b"{\"a\""),
        Err(ProjectionError::UNDECODABLE)
    );
}

#[test]
fn pdf_text_is_the_text_page_by_page() {
    let content = pdf(&["Hello accord", "Second page"]);
    let made = project(ProjectionKind::PdfText, &content).unwrap();
    assert_eq!(made.text.as_deref(), Some("Hello accord\u{c}Second page"));
    assert_eq!(
        Value::from(made.metadata),
        json!({
            "extractor": "pdf_text_v1", "page_count": 2, "truncated": false, "unreadable_pages": 0,
        })
    );
}

#[test]
fn a_garbage_pdf_has_no_text() {
    let good = pdf(&["Hello"]);
    let garbage = [b"%PDF-1.7\n".as_slice(), &[0xff; 10_000]].concat();
    for content in [b"".as_slice(), b"hello", &garbage, &good[..100]] {
        assert_eq!(
            project(ProjectionKind::PdfText, content),
            Err(ProjectionError::UNDECODABLE)
        );
    }
}

#[test]
fn the_deadline_kills_a_hanging_worker() {
    let workers = shell("exec sleep 600").with_deadline(Duration::from_millis(50));
    let kind = ProjectionKind::PlainText;
    // More runs than slots: a killed worker releases its slot.
    for _ in 0..3 {
        assert_eq!(
            project_with(&workers, kind, b"x"),
            Err(ProjectionError::TIMEOUT)
        );
    }
}

#[test]
fn a_worker_without_a_whole_answer_has_crashed() {
    let ready = r#"{"outcome":"ready","mime":"text/plain","len":3,"metadata":{}}"#;
    let class = r#"{"outcome":"failed","class":"<script>"}"#;
    for script in [
        "exit 1".to_owned(),
        "kill -9 $$".to_owned(),
        "echo nonsense".to_owned(),
        format!("printf '%s\\nab' '{ready}'"),
        format!("printf '%s\\nabcd' '{ready}'"),
        format!("printf '%s\\n\\377\\377\\377' '{ready}'"),
        format!("printf '%s\\n' '{class}'"),
    ] {
        assert_eq!(
            project_with(&shell(&script), ProjectionKind::PlainText, b"x"),
            Err(ProjectionError::CRASHED),
            "{script}"
        );
    }
}

#[test]
fn a_worker_that_spins_is_ended_by_its_own_limit() {
    let workers = shell("kill -XCPU $$");
    assert_eq!(
        project_with(&workers, ProjectionKind::PlainText, b"x"),
        Err(ProjectionError::TIMEOUT)
    );
}

#[test]
fn an_endless_answer_is_cut_off() {
    let workers = shell("exec cat /dev/zero");
    assert_eq!(
        project_with(&workers, ProjectionKind::PlainText, b"x"),
        Err(ProjectionError::TOO_LARGE)
    );
}

#[test]
fn a_missing_program_is_unavailable() {
    let workers = Workers::new("/nonexistent/program", &[]);
    assert_eq!(
        project_with(&workers, ProjectionKind::PlainText, b"x"),
        Err(ProjectionError::UNAVAILABLE)
    );
}

#[test]
fn a_worker_sees_nothing_of_our_environment() {
    let script = r#"text=$(env | grep -c CARGO); printf '{"outcome":"ready","mime":"x","len":1,"metadata":{}}\n%s' "$text""#;
    let made = project_with(
        &shell(&format!("PATH=/usr/bin:/bin; {script}")),
        ProjectionKind::PlainText,
        b"x",
    );
    assert_eq!(made.unwrap().text.as_deref(), Some("0"));
}

#[test]
fn more_callers_than_places_all_get_their_answer() {
    let workers = Workers::new(env!("CARGO_BIN_EXE_blobs-projection-worker"), &[]);
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let made = project_with(&workers, ProjectionKind::PlainText, b"hello");
                assert_eq!(made.unwrap().text.as_deref(), Some("hello"));
            });
        }
    });
}
