//! What a split wrote, and what to run next.

use std::path::Path;

use equipoise_data::{Schema, TableKind};
use equipoise_lab::{Rehearsal, RehearsalClient, RehearsalSettings};
use serde_json::{Value, json};

use crate::formatting::{rate, table};
use crate::shell::quoted;

/// Clients that a note names before it counts the others.
const MAX_NAMED: usize = 5;

/// What is known of a split wherever its rows go: the clients, and notes on which strata have no trusted rows.
pub(crate) fn describe(
    rehearsal: &Rehearsal,
    settings: &RehearsalSettings,
    schema: &Schema,
) -> Value {
    let client = |client: &RehearsalClient| {
        let members = &client.members;
        let missing = client.missing_in_root.iter().map(|&(group, positive)| {
            json!({ "group": schema.sensitive.groups[group].name, "positive": positive })
        });
        json!({
            "client": client.id,
            "train": members.train.len(),
            "test": members.test.len(),
            "trusted": members.root.len(),
            "missing_in_trusted": missing.collect::<Vec<_>>(),
            "own_gap": client.unfairness,
            "reliable": client.reliable,
        })
    };
    json!({
        "schema_digest": schema.digest(),
        "fairness": settings.fairness,
        "seed": settings.seed,
        "clients": rehearsal.clients.iter().map(client).collect::<Vec<_>>(),
        "notes": missing_strata(&rehearsal.clients, schema),
    })
}

/// Notes on strata without trusted rows.
fn missing_strata(clients: &[RehearsalClient], schema: &Schema) -> Vec<String> {
    let groups = schema.sensitive.groups.len();
    let strata = (0..groups).flat_map(|group| [(group, false), (group, true)]);
    let note = |stratum: (usize, bool)| {
        let lacking = clients.iter().filter(|client| client.missing_in_root.contains(&stratum));
        let names: Vec<&str> = lacking.map(|client| client.id.as_str()).collect();
        let others = names.len().saturating_sub(MAX_NAMED);
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        (!names.is_empty()).then(|| {
            format!(
                "no trusted rows of {} from {}{more}; a larger share of trusted rows or fewer clients would help",
                stratum_name(schema, stratum),
                names[..names.len().min(MAX_NAMED)].join(", "),
            )
        })
    };
    strata.filter_map(note).collect()
}

/// "`sex = female` with `hired` = yes".
fn stratum_name(schema: &Schema, (group, positive): (usize, bool)) -> String {
    let label = &schema.label;
    let sign = if positive { "=" } else { "≠" };
    let group = &schema.sensitive.groups[group].name;
    format!("`{group}` with `{} {sign} {}`", label.column, label.positive)
}

/// A finished split.
pub(super) struct Report<'a> {
    folder: &'a Path,
    rehearsal: &'a Rehearsal,
    settings: &'a RehearsalSettings,
    schema: &'a Schema,
    kind: TableKind,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        folder: &'a Path,
        rehearsal: &'a Rehearsal,
        settings: &'a RehearsalSettings,
        schema: &'a Schema,
        kind: TableKind,
    ) -> Self {
        Self { folder, rehearsal, settings, schema, kind }
    }

    /// The document that the command prints.
    pub(super) fn document(&self) -> Value {
        let mut document = describe(self.rehearsal, self.settings, self.schema);
        document["path"] = json!(self.folder);
        document["commands"] = json!(self.commands());
        document
    }

    pub(super) fn text(&self) -> String {
        let unreliable = self.rehearsal.clients.iter().filter(|client| !client.reliable);
        let unreliable: Vec<&str> = unreliable.map(|client| client.id.as_str()).collect();
        let about = match &unreliable[..] {
            [] => String::new(),
            names => format!(
                "\nUnreliable, because their own models are the most unfair: {}. Their training rows are in proxies/ as they are.\n",
                names.join(", ")
            ),
        };
        format!(
            "{}\nown gap: the worst gap for {} of a model of the client's training rows, on its test rows\n{about}\n\
             Next, make the fair proxies, run the defense and evaluate its model:\n  {}\n",
            self.counts(),
            self.settings.fairness,
            self.commands().join("\n  ")
        )
    }

    /// The number of rows of each table.
    fn counts(&self) -> String {
        let row = |client: &RehearsalClient| {
            let members = &client.members;
            let sizes = [members.train.len(), members.test.len(), members.root.len()];
            let sends = if client.reliable { "a fair proxy" } else { "its rows unchanged" };
            let mut cells = vec![client.id.clone()];
            cells.extend(sizes.map(|size| size.to_string()));
            cells.extend([rate(Some(client.unfairness)), sends.to_owned()]);
            cells
        };
        let mut rows: Vec<Vec<String>> = self.rehearsal.clients.iter().map(row).collect();
        let total = |of: fn(&RehearsalClient) -> usize| {
            self.rehearsal.clients.iter().map(of).sum::<usize>().to_string()
        };
        rows.push(vec![
            "all".to_owned(),
            total(|client| client.members.train.len()),
            total(|client| client.members.test.len()),
            total(|client| client.members.root.len()),
            String::new(),
            String::new(),
        ]);
        let header = ["client", "train", "test", "trusted", "own gap", "sends"];
        table(&header, rows, &[1, 2, 3, 4])
    }

    /// The commands of the rest of the round.
    fn commands(&self) -> Vec<String> {
        let at = |rest: &str| quoted(&self.folder.join(rest).display().to_string());
        let (schema, extension) = (at("schema.toml"), self.kind.extension());
        let fairness = quoted(&self.settings.fairness.name());
        let reliable = self.rehearsal.clients.iter().filter(|client| client.reliable);
        let mut commands: Vec<String> = reliable
            .map(|client| {
                let id = &client.id;
                let (data, proxy) =
                    (at(&format!("train/{id}{extension}")), at(&format!("proxies/{id}.parquet")));
                format!("equipoise proxy {data} --schema {schema} --fairness {fairness} -o {proxy}")
            })
            .collect();
        commands.push(format!(
            "equipoise defend --proxies {} --trusted {} --schema {schema} --fairness {fairness} -o {}",
            at("proxies"),
            at(&format!("trusted{extension}")),
            at("outcome"),
        ));
        let (model, test) = (at("outcome/model.json"), at(&format!("test{extension}")));
        commands.push(format!("equipoise evaluate {model} {test} --fairness {fairness}"));
        commands
    }
}
