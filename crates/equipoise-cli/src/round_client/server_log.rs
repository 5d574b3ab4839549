//! Fetches the server-wide log with its signed head.

use anyhow::{Context, anyhow, ensure};
use equipoise_server::protocol::{ServerLogEntry, ServerLogFile};

use super::connection::Connection;

/// More entries than any server has; a longer log would only fill the memory.
const MAX_ENTRIES: u64 = 5_000_000;

/// Fetches the head and the log up to there, and checks that they belong together. The connection is to a server, not to
/// a round.
pub(crate) fn fetch_server_log(connection: &Connection) -> anyhow::Result<ServerLogFile> {
    let server = connection.server();
    let signed = connection.server_head()?;
    let n = signed.head.n;
    ensure!(n <= MAX_ENTRIES, "{server}: the server-wide log has {n} lines, which is too long");
    let mut log: Vec<ServerLogEntry> = Vec::new();
    while (log.len() as u64) < n {
        let page = connection.get_bytes(&format!("/log?after={}", log.len()))?;
        let page =
            String::from_utf8(page).with_context(|| format!("{server}: the server-wide log"))?;
        ensure!(!page.is_empty(), "{server}: the server-wide log ends before its signed head");
        for line in page.lines() {
            let entry = serde_json::from_str(line).with_context(|| {
                format!("{server}: the server-wide log contains an invalid line")
            })?;
            log.push(entry);
        }
    }
    // The log may have grown since the head was signed.
    log.truncate(n as usize);
    ServerLogFile::new(signed, log).map_err(|problem| anyhow!("{server}: {problem}"))
}
