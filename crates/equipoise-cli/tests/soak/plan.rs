//! What an epoch does: a pure function of the seed and the epoch's number.

use equipoise_data::TableKind;

use crate::random::Random;

/// Rounds of an epoch.
const N_ROUNDS: usize = 3;
/// Operations of an epoch.
const N_OPERATIONS: usize = 110;

pub(crate) struct EpochPlan {
    pub(crate) rounds: Vec<RoundPlan>,
    pub(crate) operations: Vec<Operation>,
    /// Whether the rounds are created while the server runs, if it allows that.
    pub(crate) creates_while_running: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct RoundPlan {
    pub(crate) name: String,
    pub(crate) n_clients: usize,
    pub(crate) minimum: usize,
    pub(crate) is_draft: bool,
    pub(crate) ending: Ending,
}

/// How a round ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Command,
    /// After this many seconds.
    Deadline(u64),
    FullRoster,
    Abort,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) action: Action,
    /// Index of the round in its epoch.
    pub(crate) round: usize,
    pub(crate) client: usize,
    /// For everything else that is random in the operation.
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Submit,
    Resume,
    Disconnect(Stage),
    Duplicates,
    SecondFile,
    TwoFiles,
    Abandon,
    Hostile(Hostile),
    Replay(Replay),
    Forge(Forgery),
    Unread,
    Listen(Listener),
    SlowHeader,
    Browse,
    Open,
    End,
    Revoke,
    WrongToken,
    Backup,
    ReloadCertificate,
    Kill,
    Terminate,
}

/// When a client hangs up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    InTheHeader,
    AfterTheHeader,
    /// After this percentage of the body.
    Body(u64),
    DuringValidation,
    BeforeReading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hostile {
    Mutant(TableKind),
    Noise(TableKind),
    NotFinite,
    OutOfDomain,
    MissingColumn,
    Ragged,
    Empty,
    GzipBomb,
    CutGzip,
    ManyRows,
    WrongSchema,
    WrongDigest,
    WrongLength,
    WrongMediaType,
    ContentEncoding,
    Chunked,
    LargeHeader,
}

/// Which part of a genuine request is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replay {
    Round,
    Client,
    Body,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forgery {
    WrongKey,
    UnknownClient,
    UnknownRound,
    OtherAudience,
    Garbage,
    NoHeaders,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listener {
    Reads,
    Leaves,
    Stalls,
}

pub(crate) fn plan(seed: u64, epoch: u64) -> EpochPlan {
    let mut random = Random::new(seed, epoch);
    let rounds: Vec<RoundPlan> =
        (0..N_ROUNDS).map(|i| round_plan(format!("r{epoch}-{i}"), &mut random)).collect();
    let mut operations: Vec<Operation> = (0..N_OPERATIONS)
        .map(|_| operation(action(&mut random), random.below(N_ROUNDS as u64), &mut random))
        .collect();
    for (i, round) in rounds.iter().enumerate() {
        let at = random.range(60, 105) as usize;
        operations[at] = operation(Action::End, i as u64, &mut random);
        if round.is_draft {
            let at = random.range(5, 30) as usize;
            operations[at] = operation(Action::Open, i as u64, &mut random);
        }
    }
    for _ in 0..random.range(1, 3) {
        let at = random.range(20, N_OPERATIONS as u64) as usize;
        let fault = random.pick(&[Action::Kill, Action::Kill, Action::Terminate]);
        // Rounds still end as planned.
        if !matches!(operations[at].action, Action::End | Action::Open) {
            operations[at] = operation(fault, 0, &mut random);
        }
    }
    EpochPlan { rounds, operations, creates_while_running: random.chance(60) }
}

fn round_plan(name: String, random: &mut Random) -> RoundPlan {
    let deadline = Ending::Deadline(random.range(4, 12));
    let endings = [Ending::Command, Ending::Command, deadline, Ending::FullRoster, Ending::Abort];
    RoundPlan {
        name,
        n_clients: random.pick(&[4, 8, 12]),
        minimum: random.range(1, 4) as usize,
        is_draft: random.chance(25),
        ending: random.pick(&endings),
    }
}

fn operation(action: Action, round: u64, random: &mut Random) -> Operation {
    let client = random.below(12) as usize;
    Operation { action, round: round as usize, client, seed: random.next() }
}

fn action(random: &mut Random) -> Action {
    let kind = random.pick(&TableKind::ALL);
    match random.below(110) {
        0..20 => Action::Submit,
        20..27 => Action::Resume,
        27..42 => Action::Disconnect(random.pick(&[
            Stage::InTheHeader,
            Stage::AfterTheHeader,
            Stage::Body(0),
            Stage::Body(1),
            Stage::Body(50),
            Stage::Body(99),
            Stage::Body(100),
            Stage::DuringValidation,
            Stage::BeforeReading,
        ])),
        42..47 => Action::Duplicates,
        47..51 => Action::SecondFile,
        51..54 => Action::TwoFiles,
        54..60 => Action::Abandon,
        60..80 => Action::Hostile(random.pick(&[
            Hostile::Mutant(kind),
            Hostile::Mutant(kind),
            Hostile::Noise(kind),
            Hostile::NotFinite,
            Hostile::OutOfDomain,
            Hostile::MissingColumn,
            Hostile::Ragged,
            Hostile::Empty,
            Hostile::GzipBomb,
            Hostile::CutGzip,
            Hostile::ManyRows,
            Hostile::WrongSchema,
            Hostile::WrongDigest,
            Hostile::WrongLength,
            Hostile::WrongMediaType,
            Hostile::ContentEncoding,
            Hostile::Chunked,
            Hostile::LargeHeader,
        ])),
        80..85 => Action::Replay(random.pick(&[
            Replay::Round,
            Replay::Client,
            Replay::Body,
            Replay::Body,
        ])),
        85..89 => Action::Forge(random.pick(&[
            Forgery::WrongKey,
            Forgery::UnknownClient,
            Forgery::UnknownRound,
            Forgery::OtherAudience,
            Forgery::Garbage,
            Forgery::NoHeaders,
        ])),
        89..92 => Action::Unread,
        92..97 => {
            Action::Listen(random.pick(&[Listener::Reads, Listener::Leaves, Listener::Stalls]))
        }
        97..99 => Action::SlowHeader,
        99..104 => Action::Browse,
        104..105 => Action::Revoke,
        105..107 => Action::WrongToken,
        107..109 => Action::Backup,
        _ => Action::ReloadCertificate,
    }
}
