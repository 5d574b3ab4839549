//! The documented metrics match the served ones.

use std::collections::BTreeSet;
use std::path::Path;

use crate::world::World;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// All words that start like a metric.
fn metrics(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_lowercase() || c == '_'));
    words.filter(|word| word.starts_with("equipoise_")).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_metric_is_documented_and_alerts_use_existing_metrics() {
    let world = World::new();
    let server = world.start();
    server.get("/v1/rounds").await;
    let (status, text) = server.get_admin("/metrics").await;
    assert_eq!(status, 200);
    let served: BTreeSet<String> = text
        .lines()
        .filter_map(|line| Some(line.strip_prefix("# TYPE ")?.split(' ').next()?.to_owned()))
        .collect();
    assert_eq!(metrics(&document("docs/OPERATIONS.md")), served);
    let watched = metrics(&document("deploy/alerts.yml"));
    assert!(watched.len() >= 2 && watched.is_subset(&served), "{watched:?}");
}
