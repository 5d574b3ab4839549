//! Where and why our figures differ from the paper's.
//!
//! Each paragraph stands only where what it speaks of was run, as the paper ran it.

use equipoise_core::{Criterion, Profile, RootWeighting};
use equipoise_report::{Block, Format, Section};

use super::Results;
use super::figures::{METHOD, POOLED, Place};
use super::paper;
use crate::dataset::{DATASETS, Preprocessing};
use crate::experiment::{Ablation, ExperimentSettings, Figures, Variant};
use crate::scenario::{Generator, ProxySize, ScenarioKind};

const LAW_SP: Place<'static> = ("law-school", Criterion::Sp);
const LAW_EO: Place<'static> = ("law-school", Criterion::Eo);
const DUTCH_SP: Place<'static> = ("dutch", Criterion::Sp);

impl Results<'_> {
    /// Only where the paper has figures to differ from.
    pub(super) fn discussion_section(&self) -> Option<Section> {
        let settings = &self.experiment.settings;
        let has = |name: &str| settings.datasets.iter().any(|dataset| dataset == name);
        if !DATASETS.iter().any(|dataset| has(dataset.name)) {
            return None;
        }
        let texts = if is_the_papers(settings) {
            [
                self.on_splits(),
                self.on_proxies(),
                self.on_dutch(),
                self.on_equal_opportunity(),
                self.on_no_penalty(),
                self.on_usefulness(),
                self.on_steps(),
            ]
            .into_iter()
            .flatten()
            .collect()
        } else {
            vec![OTHER_SETTINGS.to_owned()]
        };
        Some(Section {
            heading: "Where and why the figures differ from the paper's".to_owned(),
            lead: String::new(),
            blocks: texts.into_iter().map(Block::Paragraph).collect(),
        })
    }

    fn has(&self, place: Place<'_>, scenario: ScenarioKind, variant: Variant) -> bool {
        let settings = &self.experiment.settings;
        settings.combinations().contains(&place)
            && settings.scenarios.contains(&scenario)
            && settings.variants.contains(&variant)
    }

    fn on_splits(&self) -> Option<String> {
        Some(
            "Splits. Rows are shared out at random, and the paper's splits are not published: nobody can repeat \
             its rounds, only its scenarios. A difference of about one standard deviation (the columns ±) is no \
             difference."
                .to_owned(),
        )
    }

    fn on_proxies(&self) -> Option<String> {
        self.has(LAW_SP, ScenarioKind::Ideal, super::figures::FEDNOLOWE).then(|| {
            "Fair proxies. The paper takes its generator from another paper, and does not say where its rows \
             start. Its FedNolowe weights in Table I tell that its fair proxies have a lower loss than raw rows. \
             On Law School, proxies that Adam moves away from the client's own rows have that too, so these are \
             used here; on Dutch they mostly do not. They are not what `equipoise proxy` makes: rows of a smoothed \
             model, moved as little as fairness needs (--generator smoothed). FedASL and FedNolowe know clients \
             by their loss alone, so what they reach depends on the generator at least as much as on them."
                .to_owned()
        })
    }

    fn on_dutch(&self) -> Option<String> {
        self.has(DUTCH_SP, ScenarioKind::Realistic, POOLED).then(|| {
            "Dutch. Every defense, pooling too, is more accurate and less fair here than in the paper. Pooling knows \
             nothing of weights or roots, so the reason lies before the defense: in the proxies or in the \
             encoding of columns, of which the paper says little. Figure 2 shows that models of our fair proxies \
             still differ in rates on Dutch. Our guess: the penalty is about the covariance of sensitive attribute \
             and score, and on Dutch that can be small while rates differ. FedASL leaves reliable clients out \
             here and keeps unreliable ones even where these are a minority (see results.csv), for the losses of \
             their proxies are not apart."
                .to_owned()
        })
    }

    fn on_equal_opportunity(&self) -> Option<String> {
        let larger = if self.experiment.ablations.contains(&Ablation::RootShare) {
            " A larger root does not help, as it would if the root's noise were the reason (see the ablation)."
        } else {
            ""
        };
        self.has(LAW_EO, ScenarioKind::Realistic, METHOD).then(|| {
            format!(
                "Law School, equal opportunity. The method is less fair and less accurate than in the paper, and \
                 we do not know why.{larger} What is odd in the formula, which we follow as it is printed: it \
                 centres the sensitive attribute by its mean over all rows, not over the positive ones that it \
                 is about, so a model that decides alike for everyone still has a violation."
            )
        })
    }

    fn on_no_penalty(&self) -> Option<String> {
        let variant = Variant::BilevelWithoutPenalty;
        let mut least = f64::INFINITY;
        let mut most = f64::NEG_INFINITY;
        for place in [LAW_SP, LAW_EO, DUTCH_SP] {
            for &unreliable in &self.experiment.settings.unreliable {
                let scenario = ScenarioKind::Realistic;
                let figures = self.experiment.figures(place, scenario, unreliable, variant);
                if let Some(weight) = figures.map(|figures| figures.unreliable_weight.mean) {
                    (least, most) = (least.min(weight), most.max(weight));
                }
            }
        }
        let write = |value: f64| Format::Fixed(2).write(Some(value));
        least.is_finite().then(|| {
            format!(
                "ρ = 0. The paper's method without penalty stays near pooling; ours gives unreliable clients {} to \
                 {} of the weight on average, and is about as unfair as they are. Nothing in the formula holds \
                 the weights near uniform at ρ = 0, and the root's rows are raw rows: models of raw rows fit them \
                 best. Accuracy on trusted data is no defense against bias that the trusted data shares.",
                write(least),
                write(most),
            )
        })
    }

    fn on_usefulness(&self) -> Option<String> {
        let shares = &self.experiment.settings.unreliable;
        let figures: Vec<_> = [LAW_SP, LAW_EO]
            .into_iter()
            .flat_map(|place| shares.iter().map(move |&share| (place, share)))
            .filter_map(|(place, share)| {
                self.experiment.figures(place, ScenarioKind::Realistic, share, METHOD)
            })
            .collect();
        if figures.is_empty() {
            return None;
        }
        let range = |value: fn(&Figures) -> f64| {
            let least = figures.iter().map(value).fold(f64::INFINITY, f64::min);
            let most = figures.iter().map(value).fold(f64::NEG_INFINITY, f64::max);
            let write = |value: f64| Format::Fixed(1).write(Some(value));
            format!("{} to {} %", write(least), write(most))
        };
        let ablation = if self.experiment.ablations.contains(&Ablation::Intercept) {
            " An intercept makes both better and the model fairer still (see the ablation), but balanced accuracy \
             stays a few points above a coin's."
        } else {
            ""
        };
        Some(format!(
            "Is it a good model? On Law School 89 % of the labels are positive. Without an intercept the method's \
             models are right on {} of the rows, less than a model that says yes to everyone, and their balanced \
             accuracy is {}: that of a coin. The paper's accuracies (81 to 85 %) are below 89 % too, and it reports \
             no balanced accuracy.{ablation}",
            range(|figures| figures.accuracy.mean),
            range(|figures| figures.balanced.mean),
        ))
    }

    fn on_steps(&self) -> Option<String> {
        (self.experiment.settings.profile == Profile::Paper).then(|| {
            "Steps. The paper's 2000 Adam steps end at ρ = 10 000 without a test of convergence, and on Law School \
             they often do not settle: with --lambda 0.0001000001 instead of 0.0001, the final objective of 35 of \
             60 rounds moves by more than 10⁻⁶. Figures of the method may therefore differ in the second \
             digit between two versions of this program that are both right. The default profile (--profile \
             default) solves the same problem until the weights are stationary."
                .to_owned()
        })
    }
}

/// Whether rounds are made as the paper makes them, as far as that is known; scenario and seeds aside.
fn is_the_papers(settings: &ExperimentSettings) -> bool {
    settings.generator == Generator::Adam
        && settings.preprocessing == Preprocessing::Paper
        && settings.n_clients == paper::N_CLIENTS
        && settings.root_share == 0.005
        && settings.lambda == 1e-4
        && settings.proxy_size == ProxySize::Share(1.0)
        && settings.root_weighting == RootWeighting::Pooled
}

const OTHER_SETTINGS: &str = "This experiment was not run as the paper ran its own (number of clients, encoding of \
     columns, size of root and proxies, λ, proxies made as its figures suggest): differences from its figures say \
     nothing.";
