//! Scenarios (populations split into reliable and unreliable clients) and experiments (grids of such rounds and their
//! results page).

mod arena;
mod attack;
mod choices;
mod dataset;
mod demo;
mod error;
mod experiment;
mod fetch;
mod journal;
mod population;
mod rehearsal;
mod results;
mod rival;
mod scenario;
mod source;

pub use arena::{
    Arena, ArenaCell, ArenaClient, ArenaKey, ArenaPage, ArenaSettings, ArenaSummary, Contender,
    ContenderResult, Context, Loss, Matchup, MatchupSummary, Place, Record, Standing, run_arena,
};
pub use attack::{Attack, Attackers};
pub use dataset::{DATASETS, Dataset, Preprocessing};
pub use demo::{Demo, DemoSettings};
pub use error::Error;
pub use experiment::{
    Cell, CellKey, CellSummary, DefenseResult, Experiment, ExperimentSettings, FailedCells,
    Figures, RECOMMENDED_ROOT_SHARE, Reference, ReferenceResult, Spread, Variant, run_experiment,
    summarise, write_results_csv,
};
pub use fetch::{FetchProblem, FetchSettings, Fetched, OnBytes};
pub use journal::OnCell;
pub use population::{COLUMNS, LABEL, Person, SENSITIVE, make_population};
pub use rehearsal::{Rehearsal, RehearsalClient, RehearsalSettings};
pub use results::Results;
pub use rival::{Rival, RivalInput, RivalModel};
pub use scenario::{
    Distribution, Generator, Members, OnClient, Scenario, ScenarioClient, ScenarioKind,
    ScenarioSettings, Split, unfairness,
};
pub use source::{OWN_TABLE, SYNTHETIC, Sources, dataset_title};
