//! `serve --dev`: an example round, created on the spot.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use anyhow::{Context, ensure};
use equipoise_core::Settings;
use equipoise_lab::{Demo, DemoSettings};
use equipoise_server::TlsFiles;
use equipoise_server::protocol::{PublicKey, RoundId, SubmissionLimits};
use equipoise_server::store::{
    DataFolder, NewRound, Store, StoreParts, create_private_folder, make_private, write_private,
};

use crate::commands::keygen;
use crate::output::Output;
use crate::progress::Bar;
use crate::round_client::read_public_key;
use crate::shell::quoted;

const ROUND: &str = "demo";
const TOKEN: &str = "round.token";

/// The certificate for localhost.
pub(super) fn tls_files(folder: &Path) -> TlsFiles {
    TlsFiles { certificate: folder.join("cert.pem"), key: folder.join("cert.key") }
}

/// Creates the round, unless an earlier run has done so. Returns instructions for a newcomer.
pub(super) fn prepare(
    folder: &Path,
    listen: SocketAddr,
    output: &Output,
) -> anyhow::Result<String> {
    ensure!(
        listen.ip().is_loopback(),
        "--dev works on this machine only: {listen} is not a loopback address"
    );
    // Before anything is created, because a round is bound to its address.
    TcpListener::bind(listen).with_context(|| {
        format!("cannot listen on {listen}; choose another port, such as --listen 127.0.0.1:9443")
    })?;
    let audience = format!("https://localhost:{}", listen.port());
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    }
    if !folder.exists() {
        create_private_folder(folder)?;
    }
    // Files of an earlier version may be open to other users.
    for name in ["example", "keys", "address", "cert.pem", TOKEN] {
        make_private(&folder.join(name))?;
    }
    let tls = tls_files(folder);
    if !tls.certificate.exists() {
        create_certificate(&tls)?;
    }
    // Signatures are valid only for the address that the round was created for.
    let address_file = folder.join("address");
    if folder.join(TOKEN).exists() {
        let address = std::fs::read_to_string(&address_file).unwrap_or_default();
        ensure!(
            address.trim() == audience,
            "{} already holds a round for {}; listen on that port, or create another round with --data",
            folder.display(),
            address.trim()
        );
    } else {
        std::fs::write(&address_file, format!("{audience}\n"))
            .with_context(|| address_file.display().to_string())?;
        create_round(folder, &audience, output)?;
    }
    instructions(folder, &audience)
}

fn create_round(folder: &Path, audience: &str, output: &Output) -> anyhow::Result<()> {
    let [data, keys, example] = ["data", "keys", "example"].map(|name| folder.join(name));
    // Remove what an interrupted run left; the token is written last.
    for left in [&data, &example] {
        if left.exists() {
            std::fs::remove_dir_all(left).with_context(|| left.display().to_string())?;
        }
    }
    for new in [&example, &keys] {
        create_private_folder(new)?;
    }
    let settings = DemoSettings {
        n_people: 6000,
        n_clients: 3,
        unreliable_share: 0.34,
        root_share: 0.03,
        ..DemoSettings::default()
    };
    let mut bar = Bar::new(output);
    let demo = Demo::build(settings, &example, &mut |done, of| {
        bar.show(done, of, || "generating fair proxies".to_owned());
    })?;
    drop(bar);
    let mut roster: Vec<PublicKey> = Vec::new();
    for client in &demo.scenario.clients {
        let public_key = keys.join(format!("{}.pub", client.id));
        if !public_key.exists() {
            keygen::create(&client.id.parse()?, &keys)?;
        }
        roster.push(read_public_key(&public_key)?);
    }
    let round: RoundId = ROUND.parse()?;
    let store = Store::open(DataFolder::open(&data)?, StoreParts::default())?;
    let token = store.create_round(NewRound {
        round: round.clone(),
        audience: audience.to_owned(),
        schema: demo.schema,
        minimum: roster.len() as u64 - 1,
        roster,
        roots: example.join("trusted.csv"),
        settings: Settings::new(settings.fairness),
        deadline: None,
        limits: SubmissionLimits::default(),
    })?;
    store.open_round(&round)?;
    write_private(&folder.join(TOKEN), format!("{token}\n").as_bytes())?;
    output.note(format!("created round {ROUND} in {}", folder.display()));
    Ok(())
}

fn create_certificate(files: &TlsFiles) -> anyhow::Result<()> {
    let names = ["localhost", "127.0.0.1"].map(str::to_owned);
    let certificate = rcgen::generate_simple_self_signed(names).context("the certificate")?;
    write_private(&files.key, certificate.signing_key.serialize_pem().as_bytes())?;
    std::fs::write(&files.certificate, certificate.cert.pem())
        .with_context(|| files.certificate.display().to_string())
}

fn instructions(folder: &Path, audience: &str) -> anyhow::Result<String> {
    let keys = std::fs::read_dir(folder.join("keys"))?;
    let mut clients: Vec<String> = keys
        .filter_map(|entry| {
            Some(entry.ok()?.file_name().to_str()?.strip_suffix(".pub")?.to_owned())
        })
        .collect();
    clients.sort();
    let at = |rest: &str| quoted(&folder.join(rest).display().to_string());
    let server = format!("--server {audience} --round {ROUND} --ca {}", at("cert.pem"));
    let mut text = format!(
        "serving {audience}\n\n\
         Web pages, with a certificate that your browser does not know:\n  \
         {audience}/                        all rounds\n  \
         {audience}/rounds/{ROUND}             the round and its results\n  \
         {audience}/rounds/{ROUND}/coordinator the coordinator's page; log in with the token in {}\n\n\
         In another terminal, submit for each client:\n",
        at(TOKEN)
    );
    for client in clients {
        text += &format!(
            "  equipoise submit {} --key {} --server-key {} {server}\n",
            at(&format!("example/proxies/{client}.parquet")),
            at(&format!("keys/{client}.key")),
            at("data/server.pub"),
        );
    }
    text += &format!(
        "\nThe round closes once all clients have submitted. To close it after two submissions:\n  \
         equipoise close {server} --token-file {} --wait\n\n\
         Then download the model, verify it and read the audit log:\n  \
         equipoise model {server} --server-key {} -o demo-model\n  \
         equipoise audit demo-model\n",
        at(TOKEN),
        at("data/server.pub")
    );
    Ok(text)
}
