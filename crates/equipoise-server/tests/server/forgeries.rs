//! Forgeries by the operator: each is rejected, with a sentence that names what does not match.

mod histories;
mod results;
mod statements;
mod submissions;
mod terms;

use std::path::{Path, PathBuf};

use equipoise_core::{NoopObserver, Settings};
use equipoise_server::protocol::{
    Digest, EventKind, PrivateKey, PublicKey, RoundState, SignedReceipt,
};
use equipoise_server::store::export_inputs;
use equipoise_server::verification::{
    Check, CheckResult, InputError, Solve, SolveFolders, Trusted, Verification, verify,
};
use equipoise_server::{Clock as _, MockClock};
use jiff::SignedDuration;

use crate::forger::{Files, Forger};
use crate::world::{Server, World, key, name, proxy};

/// A published round in which `south` did not submit, its inputs, and what `north` kept.
pub(crate) struct Published {
    _world: World,
    pub(crate) files: Files,
    key: PrivateKey,
    receipt: SignedReceipt,
    inputs: PathBuf,
    /// The file that `north` sent.
    submitted: PathBuf,
}

impl Published {
    async fn new() -> Self {
        Self::requiring("none").await
    }

    /// The same with requirements.
    async fn requiring(requirements: &str) -> Self {
        let requirements = requirements.parse().unwrap();
        Self::with(|settings| settings.requirements = requirements).await
    }

    /// The same with other settings.
    async fn with(change: impl Fn(&mut Settings)) -> Self {
        let deadline = MockClock::default().now() + SignedDuration::from_hours(24);
        let world = World::with(|new| {
            new.deadline = Some(deadline);
            change(&mut new.settings);
        });
        let server = world.start();
        assert_eq!(server.submit("east", proxy(0)).await.status, 201);
        let north = server.submit("north", proxy(2)).await;
        assert_eq!(north.status, 201);
        assert_eq!(server.post("close", &world.token).await.status, 200);
        assert_eq!(server.wait(), RoundState::Published);
        let files = published_files(&server, "spring").await;
        let receipt = serde_json::from_value(north.json).unwrap();
        let inputs = world.dir.path().join("export");
        let exported = export_inputs(&world.data(), &name("spring"), &inputs).unwrap();
        assert_eq!(exported.len(), 4);
        let submitted = world.dir.path().join("north.csv");
        std::fs::write(&submitted, proxy(2)).unwrap();
        let key = server.store.key().clone();
        Self { _world: world, files, key, receipt, inputs, submitted }
    }

    fn forger(&self) -> Forger {
        Forger::new(&self.files, self.key.clone())
    }

    fn trusted(&self) -> Trusted {
        Trusted { server_key: Some(self.key.public()), ..Trusted::default() }
    }

    fn verify(&self, files: &Files) -> Verification {
        verify(files, &self.trusted(), None).unwrap()
    }

    fn verify_with_receipt(&self, files: &Files) -> Verification {
        let trusted = Trusted { receipts: vec![self.receipt.clone()], ..self.trusted() };
        verify(files, &trusted, None).unwrap()
    }

    fn solve_from(&self, files: &Files, proxies: &Path) -> Result<Verification, InputError> {
        let solve = Solve {
            folders: SolveFolders { proxies, roots: &self.inputs.join("roots") },
            observer: &mut NoopObserver,
        };
        verify(files, &self.trusted(), Some(solve))
    }

    fn solve(&self, files: &Files) -> Verification {
        self.solve_from(files, &self.inputs.join("proxies")).unwrap()
    }
}

pub(crate) async fn published_files(server: &Server, round: &str) -> Files {
    let info = server.get(&format!("/v1/rounds/{round}")).await;
    let mut files = Files::new();
    for file in info.json["files"].as_array().unwrap() {
        let file = file.as_str().unwrap();
        let answer = server.get(&format!("/v1/rounds/{round}/files/{file}")).await;
        assert_eq!(answer.status, 200, "{file}");
        files.insert(file.to_owned(), answer.bytes);
    }
    files
}

fn failures(verification: &Verification) -> Vec<String> {
    let sentence = |Check { claim, detail, .. }: &Check| format!("{claim} ({detail})");
    let failed = verification.checks.iter().filter(|check| check.result == CheckResult::Fails);
    failed.map(sentence).collect()
}

/// The forgery is rejected, and one sentence has all these parts.
fn rejected(verification: &Verification, forgery: &str, parts: &[&str]) {
    assert!(!verification.is_verified(), "{forgery}: accepted");
    let failures = failures(verification);
    let says = |sentence: &&String| parts.iter().all(|part| sentence.contains(part));
    assert!(failures.iter().any(|sentence| says(&sentence)), "{forgery}: {failures:#?}");
    eprintln!("{forgery}: {}", failures.iter().find(says).unwrap());
}

/// Plain verification cannot detect it, and says that the solve was not repeated.
fn needs_solve(verification: &Verification, forgery: &str) {
    assert!(verification.is_verified(), "{forgery}: {:#?}", failures(verification));
    assert!(verification.conclusion().contains("the solve was not repeated"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_honest_round_is_verified_with_and_without_its_tables() {
    let round = Published::new().await;
    let plain = round.verify_with_receipt(&round.files);
    assert_eq!(failures(&plain), Vec::<String>::new());
    assert!(plain.is_verified() && !plain.solve_repeated, "{}", plain.conclusion());
    assert!(plain.conclusion().starts_with("verified: round spring of https://"));
    assert!(
        plain
            .conclusion()
            .ends_with("the solve was not repeated (`equipoise verify --solve` does that)")
    );
    let solved = round.solve(&round.files);
    assert_eq!(failures(&solved), Vec::<String>::new());
    assert!(solved.is_verified() && solved.solve_repeated);
    assert!(solved.conclusion().contains("by a repeated solve"), "{}", solved.conclusion());
    let not_checked = "the files of `east`, `north` were not checked against their tables";
    assert!(solved.conclusion().contains(not_checked), "{}", solved.conclusion());
    // The forger that changes nothing gives the same verdict, so a rejection is due to the change alone.
    assert!(round.verify_with_receipt(&round.forger().republish()).is_verified());
    let rewritten = round.forger().rewrite();
    assert!(round.verify_with_receipt(&rewritten).is_verified());
    assert_eq!(rewritten["submissions.json"], round.files["submissions.json"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_verified_without_a_key_to_trust() {
    let round = Published::new().await;
    let trusted = Trusted { receipts: vec![round.receipt.clone()], ..Trusted::default() };
    let verification = verify(&round.files, &trusted, None).unwrap();
    assert_eq!(failures(&verification), Vec::<String>::new());
    assert!(!verification.is_verified() && !verification.key_trusted);
    assert_eq!(verification.conclusion(), "not verified: no key to trust; pass --server-key");
    let other: PublicKey = key("east").public();
    let trusted = Trusted { server_key: Some(other), ..Trusted::default() };
    let verification = verify(&round.files, &trusted, None).unwrap();
    rejected(&verification, "another server's key", &["signed with the key you trust"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_published_specification_has_the_logged_digest_and_no_rows() {
    let round = Published::new().await;
    let spec = String::from_utf8(round.files["spec.json"].clone()).unwrap();
    let EventKind::Created { spec_sha256, .. } = &round.forger().events[0].kind else { panic!() };
    assert_eq!(*spec_sha256, Digest::of(spec.as_bytes()));
    for client in ["east", "north"] {
        let root = std::fs::read_to_string(round.inputs.join(format!("roots/{client}.csv")));
        for line in root.unwrap().lines().skip(1) {
            let value = line.split(',').next().unwrap();
            assert!(!spec.contains(value), "{value}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_solve_is_repeated_from_canonical_or_submitted_files_of_any_name() {
    let round = Published::new().await;
    let mixed = round.inputs.join("mixed");
    std::fs::create_dir(&mixed).unwrap();
    std::fs::copy(round.inputs.join("proxies/east.parquet"), mixed.join("table-1")).unwrap();
    std::fs::copy(&round.submitted, mixed.join("what north sent")).unwrap();
    let verification = round.solve_from(&round.files, &mixed).unwrap();
    assert!(verification.is_verified(), "{:#?}", failures(&verification));
    let conclusion = verification.conclusion();
    assert!(conclusion.contains("the file of `east` was not checked"), "{conclusion}");
    // A client's own file proves more than the coordinator's table, so it is preferred.
    std::fs::copy(round.inputs.join("proxies/north.parquet"), mixed.join("table-2")).unwrap();
    let verification = round.solve_from(&round.files, &mixed).unwrap();
    assert_eq!(verification.conclusion(), conclusion);

    std::fs::write(mixed.join("table-1"), "changed").unwrap();
    let error = round.solve_from(&round.files, &mixed).unwrap_err().to_string();
    let digest = round.forger().list.submissions[0].canonical_sha256.to_string();
    for part in ["the canonical table of client `east`", &digest, "round export"] {
        assert!(error.contains(part), "{error}");
    }
    std::fs::write(mixed.join("east.parquet"), "changed, too").unwrap();
    let error = round.solve_from(&round.files, &mixed).unwrap_err().to_string();
    assert!(error.contains("east.parquet has SHA-256"), "{error}");
    let missing = round.solve_from(&round.files, Path::new("/nowhere")).unwrap_err().to_string();
    assert!(missing.contains("/nowhere"), "{missing}");
}
