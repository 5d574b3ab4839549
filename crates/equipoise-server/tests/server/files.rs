//! Invalid files are refused, with row and column if known.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use equipoise_data::{TableKind, read_proxy};
use equipoise_server::protocol::Digest;
use equipoise_server::protocol::SubmissionLimits;
use equipoise_server::protocol::Validated;
use equipoise_server::validator::{Job, Verdict, check_file};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::world::{World, key, manifest, name, proxy, request, scaled, schema};

#[tokio::test(flavor = "multi_thread")]
async fn invalid_csv_files_are_refused_with_row_and_column() {
    let world = World::new();
    let server = world.start();
    let head = "score,group,passed\n0.5,1,1\n";
    let cell = |value: &str| format!("{head}{value},0,-1\n");
    // The file, then the code, row and column of the refusal.
    type Case<'a> = (Vec<u8>, &'a str, Option<u64>, Option<&'a str>);
    let cases: Vec<Case<'_>> = vec![
        (cell("nan").into(), "value_rejected", Some(2), Some("score")),
        (cell("-inf").into(), "value_rejected", Some(2), Some("score")),
        (cell("1e400").into(), "value_rejected", Some(2), Some("score")),
        (cell("1e13").into(), "value_rejected", Some(2), Some("score")),
        (cell("").into(), "value_rejected", Some(2), Some("score")),
        (cell("x").into(), "value_rejected", Some(2), Some("score")),
        (format!("{head}1,2,1\n").into(), "value_rejected", Some(2), Some("group")),
        (format!("{head}1,1,0.5\n").into(), "value_rejected", Some(2), Some("passed")),
        (format!("{head}1,1\n").into(), "value_rejected", Some(2), None),
        ("score,group\n1,1\n".into(), "value_rejected", None, Some("passed")),
        ("score,group,passed,id\n1,1,1,1\n".into(), "value_rejected", None, Some("id")),
        ("score,score,group,passed\n1,1,1,1\n".into(), "value_rejected", None, Some("score")),
        (format!("{head}\"1,0,-1\n").into(), "file_rejected", None, None),
        (format!("{head}1\0,0,-1\n").into(), "file_rejected", None, None),
        ([head.as_bytes(), b"\xff,0,-1\n"].concat(), "file_rejected", None, None),
        ("score,group,passed\n".into(), "file_rejected", None, None),
        (Vec::new(), "file_rejected", None, None),
        (vec![b'7'; 3 << 20], "file_rejected", None, None),
    ];
    for (body, code, row, column) in cases {
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        let answer = server.submit("north", body).await;
        assert_eq!(answer.status, 422, "{shown}: {}", answer.json);
        assert_eq!(answer.json["code"], code, "{shown}: {}", answer.json);
        if row.is_some() {
            assert_eq!(answer.json["row"].as_u64(), row, "{shown}: {}", answer.json);
        }
        if column.is_some() {
            assert_eq!(answer.json["column"].as_str(), column, "{shown}: {}", answer.json);
        }
        let message = answer.json["message"].as_str().unwrap();
        assert!(!message.contains("uploads"), "leaks a server path: {message}");
    }
    assert_eq!(server.n_submissions(), 0);
    assert!(world.parts().is_empty());

    let marked = format!("\u{feff}{}", proxy(1).replace('\n', "\r\n"));
    assert_eq!(server.submit("north", marked).await.status, 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_rows_are_refused() {
    let world = World::with(|new| new.limits.rows = 39);
    let server = world.start();
    let answer = server.submit("north", proxy(1)).await;
    assert_eq!((answer.status, answer.json["code"].as_str()), (422, Some("file_rejected")));
    assert!(answer.json["message"].as_str().unwrap().contains("at most 39"), "{}", answer.json);
}

/// A Parquet file with constant columns, so any number of rows takes few bytes.
fn row_bomb(rows: usize) -> Vec<u8> {
    use arrow_array::{ArrayRef, Float64Array, RecordBatch};
    use parquet::arrow::ArrowWriter;
    let piece = 1 << 16;
    let column = || Arc::new(Float64Array::from(vec![1.0; piece])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([
        ("score", column()),
        ("group", column()),
        ("passed", column()),
    ])
    .unwrap();
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_max_row_group_row_count(Some(usize::MAX / 2))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    for _ in 0..rows.div_ceil(piece) {
        writer.write(&batch).unwrap();
    }
    writer.close().unwrap();
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_small_file_with_very_many_rows_is_refused_quickly() {
    let world = World::new();
    let server = world.start();
    let body = row_bomb(scaled(6_000_000, 209_715_200));
    assert!(body.len() < 2 << 20, "{}", body.len());
    let mut manifest = manifest("north", &body);
    manifest.media_type = TableKind::Parquet;
    let started = Instant::now();
    let answer = server.send(request(&manifest, &key("north"), body)).await;
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!((answer.status, answer.json["code"].as_str()), (422, Some("file_rejected")));
}

fn job(dir: &Path, file_name: &str, content: &[u8], limits: SubmissionLimits) -> Job {
    let file = dir.join(file_name);
    std::fs::write(&file, content).unwrap();
    let client = (name("spring"), name("north"));
    Job { client, file, canonical: dir.join("canonical.parquet"), schema: schema(), limits }
}

/// Gzipped text with a chunk repeated `times` times.
fn gzipped(head: &str, chunk: &[u8], times: usize) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(head.as_bytes()).unwrap();
    (0..times).for_each(|_| out.write_all(chunk).unwrap());
    out.finish().unwrap()
}

#[test]
fn limits_apply_while_reading_whatever_the_footer_claims() {
    let dir = tempfile::tempdir().unwrap();
    // Within the row limit, but over the ratio of decoded size to file size.
    let job = job(dir.path(), "north.parquet", &row_bomb(4_000_000), SubmissionLimits::default());
    let Verdict::File { message } = check_file(&job) else { panic!("accepted") };
    assert!(message.contains("decoded"), "{message}");
}

#[test]
fn endless_lines_blank_lines_and_endless_rows_hit_a_limit() {
    let dir = tempfile::tempdir().unwrap();
    let head = "score,group,passed\n";
    let (sevens, blank) = (vec![b'7'; 1 << 20], vec![b'\n'; 1 << 20]);
    let rows = "1,1,1\n".repeat(1 << 17).into_bytes();
    let quoted = format!("{}\n", "7".repeat(100)).repeat(10_000).into_bytes();
    let small = SubmissionLimits { decoded_bytes: 8 << 20, ..SubmissionLimits::default() };
    let few = SubmissionLimits { rows: 1 << 20, ..SubmissionLimits::default() };
    for (content, limits, expected) in [
        (gzipped(head, &sevens, 300), SubmissionLimits::default(), "a row is longer"),
        (gzipped("", &sevens, 300), SubmissionLimits::default(), "a row is longer"),
        (gzipped(head, &blank, 300), SubmissionLimits::default(), "a row is longer"),
        (
            gzipped(&format!("{head}\""), &quoted, 100),
            SubmissionLimits::default(),
            "a row is longer",
        ),
        (gzipped(head, &rows, 60), few, "the table has at least"),
        (gzipped(head, &rows, 60), small, "decoded"),
    ] {
        assert!(content.len() < 1 << 20, "{}", content.len());
        let job = job(dir.path(), "north.csv.gz", &content, limits);
        let Verdict::File { message } = check_file(&job) else { panic!("{expected}: accepted") };
        assert!(message.contains(expected), "{expected}: {message}");
        assert!(message.starts_with("the file"), "{message}");
    }
    let columns = format!("{}\n", "x,".repeat(600));
    let job = job(dir.path(), "north.csv", columns.as_bytes(), SubmissionLimits::default());
    let Verdict::File { message } = check_file(&job) else { panic!("accepted") };
    assert!(message.contains("601 columns, but at most 512"), "{message}");
}

#[test]
fn the_canonical_table_has_the_same_rows_and_digest_for_every_input_format() {
    let dir = tempfile::tempdir().unwrap();
    let rows: Vec<String> = (0..150_000u32)
        .map(|i| {
            format!(
                "{},{},{}",
                f64::from(i % 100_000) / 7.0,
                i % 2,
                if i % 3 == 0 { 1 } else { -1 }
            )
        })
        .collect();
    let text = format!("score,group,passed\n{}\n", rows.join("\n"));
    let mut digests = Vec::new();
    for (name, content) in
        [("a.csv", text.clone().into_bytes()), ("a.csv.gz", gzipped(&text, b"", 0))]
    {
        let job = job(dir.path(), name, &content, SubmissionLimits::default());
        let verdict = check_file(&job);
        let Verdict::Valid(Validated { canonical_sha256, rows, distinct_rows }) = verdict else {
            panic!("{verdict:?}")
        };
        assert_eq!(rows, 150_000);
        assert!(distinct_rows > 100_000 && distinct_rows < 150_000, "{distinct_rows}");
        let written = std::fs::read(&job.canonical).unwrap();
        assert_eq!(canonical_sha256, Digest::of(&written));
        assert_eq!(
            read_proxy(&job.canonical, &job.schema).unwrap(),
            read_proxy(&job.file, &job.schema).unwrap()
        );
        digests.push(canonical_sha256);
        // The canonical table as input: different chunks, same bytes.
        let again = Job { file: dir.path().join("again.parquet"), ..job.clone() };
        std::fs::write(&again.file, written).unwrap();
        let Verdict::Valid(again) = check_file(&again) else { panic!() };
        digests.push(again.canonical_sha256);
    }
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
}
