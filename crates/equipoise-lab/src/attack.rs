//! Attacks: what unreliable clients send instead of a fair proxy. One file each in `attack/`.
//!
//! A new attack needs a file, a variant of [`Attack`], its name below, and its line in [`Attack::forge`].

mod adaptive;
mod changed_gap;
mod constant;
mod copied_client;
mod dual_facet;
mod duplicated_rows;
mod fair_copy_flipped;
mod fewer_positives;
mod flipped_group;
mod flipped_labels;
mod leverage_rows;
mod noise;
mod one_poison;
mod posing_as_ten;
mod rare_group;
mod raw_rows;
mod repeated_subsample;
mod shuffled_labels;
mod swapped_groups;
mod table;
#[cfg(test)]
mod test_rounds;
#[cfg(test)]
mod tests;
mod whisper;

use equipoise_core::{Error as CoreError, Fairness, Rows, choices};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::scenario::{Scenario, ScenarioClient};
use adaptive::Knowledge;
use leverage_rows::Pull;

/// What unreliable clients do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attack {
    /// Send the training rows as they are: the paper's unreliable clients.
    RawRows,
    /// Flip every label.
    FlippedLabels,
    /// Flip three labels in ten.
    SomeFlippedLabels,
    /// Flip the labels of the least favoured group.
    FlippedGroup,
    /// Move every row to the next group.
    SwappedGroups,
    /// Drop most positive rows of the least favoured group.
    FewerPositives,
    /// Scale a tenth of the rows by ten.
    #[serde(rename = "leverage-10")]
    LeverageTen,
    /// Scale a tenth of the rows by a thousand.
    #[serde(rename = "leverage-1000")]
    LeverageThousand,
    /// Scale a tenth of the rows by a million.
    #[serde(rename = "leverage-1000000")]
    LeverageMillion,
    /// Scale a tenth of the rows by a thousand, with labels that favour one group.
    LeverageTowardsGroup,
    /// Send each training row ten times.
    DuplicatedRows,
    /// Send random features and labels.
    Noise,
    /// Shuffle the labels.
    ShuffledLabels,
    /// Repeat a tiny sample of the training rows.
    RepeatedSubsample,
    /// Copy a reliable client's proxy.
    CopiedClient,
    /// Flip three labels in ten of an honest proxy.
    FairCopyFlipped,
    /// Turn the gap around instead of closing it.
    OverCorrection,
    /// Leave a quarter of the gap.
    QuarterOfBias,
    /// All send the same rows, with the labels of the least favoured group flipped.
    OnePoison,
    /// Pose as ten clients.
    PosingAsTen,
    /// Write huge features, with labels that hardly favour one group.
    Whisper,
    /// Write huge features, with labels that are mostly positive.
    Constant,
    /// Swap groups and add noise.
    DualFacet,
    /// Swap groups or send noise, client by client.
    SplitDualFacet,
    /// Label rare people negative, and hide what makes them rare.
    RareGroup,
    /// Search for the worst proxies, knowing the defense.
    Adaptive,
    /// Search for the worst proxies, knowing the defense, the root and all proxies.
    AdaptiveWithRoot,
}

choices! { Attack:
    RawRows => "raw-rows", "Training rows as they are: the paper's unreliable clients";
    FlippedLabels => "flipped-labels", "Training rows with every label flipped";
    SomeFlippedLabels => "some-flipped-labels", "Training rows with 30 % of the labels flipped";
    FlippedGroup => "flipped-group", "Training rows, labels of the least favoured group flipped";
    SwappedGroups => "swapped-groups", "Training rows, each moved to the next group";
    FewerPositives => "fewer-positives",
        "Training rows without most positives of the least favoured group";
    LeverageTen => "leverage-10", "Honest proxy, a tenth of its rows scaled by 10";
    LeverageThousand => "leverage-1000", "Honest proxy, a tenth of its rows scaled by 1,000";
    LeverageMillion => "leverage-1000000", "Honest proxy, a tenth of its rows scaled by 1,000,000";
    LeverageTowardsGroup => "leverage-towards-group",
        "Honest proxy, a tenth of its rows scaled by 1,000 with labels that favour one group";
    DuplicatedRows => "duplicated-rows", "Training rows, each sent ten times";
    Noise => "noise", "Random features and labels";
    ShuffledLabels => "shuffled-labels", "Training rows with shuffled labels";
    RepeatedSubsample => "repeated-subsample", "Twenty training rows, repeated";
    CopiedClient => "copied-client", "A copy of a reliable client's proxy";
    FairCopyFlipped => "fair-copy-flipped", "Honest proxy with 30 % of the labels flipped";
    OverCorrection => "over-correction", "Proxy whose model has the raw gap with the opposite sign";
    QuarterOfBias => "quarter-of-bias", "Proxy whose model keeps a quarter of the raw gap";
    OnePoison => "one-poison", "All attackers send one client's rows with one group flipped";
    PosingAsTen => "posing-as-ten", "Nine clients more, which send the same poison with noise";
    Whisper => "whisper", "Honest proxy, features times 1,000,000, labels that hardly favour one group";
    Constant => "constant", "Honest proxy, features times 1,000,000, mostly positive labels";
    DualFacet => "dual-facet", "Training rows with swapped groups and noisy features";
    SplitDualFacet => "split-dual-facet", "Half of the attackers swap groups, the others send noise";
    RareGroup => "rare-group", "Honest proxy, rare people negative and their trait hardly visible";
    Adaptive => "adaptive", "The worst proxies found by attackers who know the defense";
    AdaptiveWithRoot => "adaptive-with-root",
        "The worst proxies found by attackers who know the defense, the root and all proxies";
}

/// What attackers have and know.
#[derive(Debug, Clone, Copy)]
pub struct Attackers<'a> {
    /// The scenario: reliable clients with their proxies, and unreliable ones with raw rows for now.
    pub scenario: &'a Scenario,
    /// The fair proxy that each unreliable client would send if it were honest, in the order of those clients.
    pub honest: &'a [Rows],
    /// The fairness that the coordinator requests.
    pub fairness: Fairness,
    /// λ of the models.
    pub lambda: f64,
    /// Seed of everything random.
    pub seed: u64,
}

/// One unreliable client.
struct Member<'a> {
    client: &'a ScenarioClient,
    /// The proxy it would send if it were honest.
    honest: &'a Rows,
    /// Its own random numbers.
    rng: ChaCha8Rng,
}

impl<'a> Attackers<'a> {
    /// The unreliable clients.
    fn members(&self) -> impl Iterator<Item = Member<'a>> {
        let unreliable = self.scenario.clients.iter().filter(|client| !client.reliable);
        let seed = self.seed;
        unreliable.zip(self.honest).enumerate().map(move |(number, (client, honest))| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            // Stream 0 split the population.
            rng.set_stream(number as u64 + 1);
            Member { client, honest, rng }
        })
    }

    /// The forged proxies of clients that do not act together.
    fn each(
        &self,
        forge: impl FnMut(Member<'a>) -> Result<Rows, Error>,
    ) -> Result<Vec<Rows>, Error> {
        self.members().map(forge).collect()
    }

    fn check(&self) -> Result<(), Error> {
        let expected = self.scenario.clients.iter().filter(|client| !client.reliable).count();
        let found = self.honest.len();
        if found == expected { Ok(()) } else { Err(CoreError::Clients { expected, found }.into()) }
    }
}

impl Attack {
    /// The scenario under attack. Reliable clients are unchanged; the others send forged proxies, and more of them may
    /// join.
    pub fn apply(&self, attackers: &Attackers<'_>) -> Result<Scenario, Error> {
        attackers.check()?;
        let mut scenario = attackers.scenario.clone();
        if attackers.honest.is_empty() {
            return Ok(scenario);
        }
        if *self == Self::PosingAsTen {
            posing_as_ten::join(&mut scenario);
        }
        let forged = self.forge(attackers)?;
        let unreliable = scenario.clients.iter_mut().filter(|client| !client.reliable);
        unreliable.zip(forged).for_each(|(client, proxy)| client.proxy = proxy);
        Ok(scenario)
    }

    /// The forged proxies, one for each unreliable client of the attacked scenario. There is at least one.
    fn forge(&self, attackers: &Attackers<'_>) -> Result<Vec<Rows>, Error> {
        match self {
            Self::RawRows => raw_rows::forge(attackers),
            Self::FlippedLabels => flipped_labels::forge(attackers, 1.0),
            Self::SomeFlippedLabels => flipped_labels::forge(attackers, 0.3),
            Self::FlippedGroup => flipped_group::forge(attackers),
            Self::SwappedGroups => swapped_groups::forge(attackers),
            Self::FewerPositives => fewer_positives::forge(attackers),
            Self::LeverageTen => leverage_rows::forge(attackers, 1e1, Pull::Backwards),
            Self::LeverageThousand => leverage_rows::forge(attackers, 1e3, Pull::Backwards),
            Self::LeverageMillion => leverage_rows::forge(attackers, 1e6, Pull::Backwards),
            Self::LeverageTowardsGroup => leverage_rows::forge(attackers, 1e3, Pull::TowardsGroup),
            Self::DuplicatedRows => duplicated_rows::forge(attackers),
            Self::Noise => noise::forge(attackers),
            Self::ShuffledLabels => shuffled_labels::forge(attackers),
            Self::RepeatedSubsample => repeated_subsample::forge(attackers),
            Self::CopiedClient => copied_client::forge(attackers),
            Self::FairCopyFlipped => fair_copy_flipped::forge(attackers),
            Self::OverCorrection => changed_gap::forge(attackers, -1.0),
            Self::QuarterOfBias => changed_gap::forge(attackers, 0.25),
            Self::OnePoison => one_poison::forge(attackers),
            Self::PosingAsTen => posing_as_ten::forge(attackers),
            Self::Whisper => whisper::forge(attackers),
            Self::Constant => constant::forge(attackers),
            Self::DualFacet => dual_facet::forge(attackers),
            Self::SplitDualFacet => dual_facet::forge_split(attackers),
            Self::RareGroup => rare_group::forge(attackers),
            Self::Adaptive => adaptive::forge(attackers, Knowledge::Defense),
            Self::AdaptiveWithRoot => adaptive::forge(attackers, Knowledge::DefenseAndRoot),
        }
    }
}
