//! What the coordinator sees of the clients: the same as on the coordinator's page.

use equipoise_server::protocol::{ClientStatus, RoundInfo, RoundState};

use crate::formatting::table;

/// The roster with submissions, then the refused uploads.
pub(super) fn describe(info: &RoundInfo, clients: &[ClientStatus]) -> String {
    let rows = clients.iter().map(|client| client_row(info, client)).collect();
    let header = ["client", "submitted", "rows", "distinct", "key", "notes"];
    let mut text = table(&header, rows, &[2, 3]);
    let mut refused: Vec<_> = clients
        .iter()
        .flat_map(|client| client.refused.iter().map(move |attempt| (&client.client, attempt)))
        .collect();
    // The latest first; those of the same time keep the order of the clients.
    refused.sort_by_key(|(_, attempt)| std::cmp::Reverse(attempt.at));
    if !refused.is_empty() {
        let row = |(client, attempt): &(_, &equipoise_server::protocol::RefusedAttempt)| {
            vec![format!("{client}"), attempt.at.to_string(), attempt.code.clone()]
        };
        text += "\nrefused uploads since the server started, latest first\n";
        text += &table(&["client", "time", "code"], refused.iter().map(row).collect(), &[]);
    }
    text
}

fn client_row(info: &RoundInfo, client: &ClientStatus) -> Vec<String> {
    let submitted = match client.accepted_at {
        Some(at) => at.to_string(),
        None if client.submitted => "yes".to_owned(),
        None if matches!(info.state, RoundState::Draft | RoundState::Open) => "not yet".to_owned(),
        None => "no".to_owned(),
    };
    let number = |n: Option<u64>| n.map_or_else(|| "–".to_owned(), |n| n.to_string());
    let key = client.revoked_at.map_or("valid".to_owned(), |at| format!("revoked {at}"));
    vec![
        client.client.to_string(),
        submitted,
        number(client.rows),
        number(client.distinct_rows),
        key,
        client.notes.join("; "),
    ]
}
