//! `serve --dev`: a round to try, made on the spot.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::Context;
use equipoise_core::Settings;
use equipoise_lab::{Demo, DemoSettings};
use equipoise_server::protocol::{Name, PublicKey};
use equipoise_server::round::SubmissionLimits;
use equipoise_server::store::{NewRound, write_private};
use equipoise_server::{Config, Limits, TlsFiles};

use super::default_address;
use crate::commands::keygen;
use crate::commands::round::open_store;
use crate::output::Output;
use crate::progress::Bar;
use crate::round_client::read_public_key;
use crate::shell::quoted;

const ROUND: &str = "demo";

/// What to serve, and what to tell the newcomer.
pub(super) struct Dev {
    pub(super) config: Config,
    pub(super) words: String,
}

/// Makes the round, unless an earlier run has left one.
pub(super) fn prepare(
    folder: &Path,
    listen: Option<SocketAddr>,
    output: &Output,
) -> anyhow::Result<Dev> {
    let listen = listen.unwrap_or_else(default_address);
    anyhow::ensure!(
        listen.ip().is_loopback(),
        "--dev is for this machine: {listen} is not loopback"
    );
    let audience = format!("https://localhost:{}", listen.port());
    let round: Name = ROUND.parse()?;
    let (data, keys, example) = (folder.join("data"), folder.join("keys"), folder.join("example"));
    let tls = TlsFiles { certificate: folder.join("cert.pem"), key: folder.join("cert.key") };
    std::fs::create_dir_all(&keys).with_context(|| keys.display().to_string())?;
    if !tls.certificate.exists() {
        make_certificate(&tls)?;
    }
    let marker = folder.join("round.token");
    // Signatures are bound to the address that the round was made for.
    let address_file = folder.join("address");
    if marker.exists() {
        let made_for = std::fs::read_to_string(&address_file).unwrap_or_default();
        anyhow::ensure!(
            made_for.trim() == audience,
            "{}: holds a round for {}; serve it there, or make another one with --data",
            folder.display(),
            made_for.trim()
        );
    } else {
        std::fs::write(&address_file, format!("{audience}\n"))
            .with_context(|| address_file.display().to_string())?;
        let clients = make_round(&data, &keys, &example, &audience, &round, &marker, output)?;
        output.note(format!("made a round for {}", clients.join(", ")));
    }
    let mut clients: Vec<String> = std::fs::read_dir(&keys)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "pub"))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    clients.sort();
    let config = Config {
        data,
        listen,
        admin_listen: None,
        tls: Some(tls),
        plain_http_on_loopback: false,
        limits: Limits::default(),
    };
    Ok(Dev { config, words: words(folder, &audience, &clients) })
}

fn make_round(
    data: &Path,
    keys: &Path,
    example: &Path,
    audience: &str,
    round: &Name,
    token_file: &Path,
    output: &Output,
) -> anyhow::Result<Vec<String>> {
    // Of a run that did not get as far as the token.
    for left in [data, example] {
        if left.exists() {
            std::fs::remove_dir_all(left).with_context(|| left.display().to_string())?;
        }
    }
    std::fs::create_dir_all(example).with_context(|| example.display().to_string())?;
    let settings = DemoSettings {
        n_people: 6000,
        n_clients: 3,
        unreliable_share: 0.34,
        root_share: 0.03,
        ..DemoSettings::default()
    };
    let demo = {
        let mut bar = Bar::new(output);
        Demo::build(settings, example, &mut |done, of| {
            bar.show(done, of, || "making fair proxies".to_owned());
        })?
    };
    let mut roster: Vec<PublicKey> = Vec::new();
    for client in &demo.scenario.clients {
        let name: Name = client.id.parse()?;
        let public = keys.join(format!("{name}.pub"));
        if !public.exists() {
            keygen::make(&name, keys)?;
        }
        roster.push(read_public_key(&public)?);
    }
    let clients = roster.iter().map(|key| key.name().to_string()).collect();
    let store = open_store(data)?;
    let token = store.create_round(NewRound {
        round: round.clone(),
        audience: audience.to_owned(),
        schema: demo.schema,
        minimum: roster.len() as u64 - 1,
        roster,
        roots: example.join("root"),
        settings: Settings::new(settings.fairness),
        deadline: None,
        limits: SubmissionLimits::default(),
    })?;
    store.open_round(round)?;
    write_private(token_file, format!("{token}\n").as_bytes())?;
    Ok(clients)
}

fn make_certificate(files: &TlsFiles) -> anyhow::Result<()> {
    let made =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned(), "127.0.0.1".to_owned()])
            .context("the certificate")?;
    write_private(&files.key, made.signing_key.serialize_pem().as_bytes())?;
    let place = || files.certificate.display().to_string();
    std::fs::write(&files.certificate, made.cert.pem()).with_context(place)
}

fn words(folder: &Path, audience: &str, clients: &[String]) -> String {
    let at = |rest: &str| quoted(&folder.join(rest).display().to_string());
    let server = format!("--server {audience} --round {ROUND} --ca {}", at("cert.pem"));
    let mut text = format!("serving {audience}; in other terminals, each client submits:\n");
    for client in clients {
        text += &format!(
            "  equipoise submit {} --key {} {server}\n",
            at(&format!("example/proxies/{client}.parquet")),
            at(&format!("keys/{client}.key")),
        );
    }
    text += &format!(
        "the round closes when all have; or close it when two have:\n  equipoise close {server} --token-file {} --wait\n",
        at("round.token")
    );
    text += &format!(
        "then fetch the model and verify it:\n  equipoise model {server} --server-key {} -o demo-model\n  equipoise audit demo-model\n",
        at("data/server.pub")
    );
    text
}
