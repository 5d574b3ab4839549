//! Where and why our figures differ from the paper's.

use equipoise_report::{Block, Section};

use super::Results;
use crate::dataset::{DATASETS, Preprocessing};
use crate::scenario::Generator;

impl Results<'_> {
    /// Only where the paper has figures to differ from, and only of what was run as the paper ran it.
    pub(super) fn discussion_section(&self) -> Option<Section> {
        let settings = &self.experiment.settings;
        let has = |name: &str| settings.datasets.iter().any(|dataset| dataset == name);
        if !DATASETS.iter().any(|dataset| has(dataset.name)) {
            return None;
        }
        let as_in_the_paper = settings.generator == Generator::Adam
            && settings.preprocessing == Preprocessing::Paper
            && settings.n_clients == super::paper::N_CLIENTS;
        let texts = if as_in_the_paper { &REASONS[..] } else { &[OTHER_SETTINGS] };
        Some(Section {
            heading: "Where and why the figures differ from the paper's".to_owned(),
            lead: String::new(),
            blocks: texts.iter().map(|text| Block::Paragraph((*text).to_owned())).collect(),
        })
    }
}

const OTHER_SETTINGS: &str = "This experiment was not run with the paper's number of clients, its encoding of \
     columns and proxies made as its figures suggest: differences from its figures say nothing.";

const REASONS: [&str; 7] = [
    "Splits. Rows are shared out at random, and the paper's splits are not published: nobody can repeat its \
     rounds, only its scenarios. A difference of about one standard deviation (the columns ±) is no \
     difference. The root is small, 83 rows in all on Law School, so single seeds differ a lot.",
    "Fair proxies. The paper takes its generator from another paper, and does not say where its rows start. Its \
     FedNolowe weights in Table I tell that its fair proxies have a lower loss than raw rows. Proxies that Adam \
     moves away from the client's own rows have that too, so these are used here. They are not what \
     `equipoise proxy` makes: rows of a smoothed model, moved as little as fairness needs, have about the loss of \
     the data. Run with --generator smoothed to see that FedASL, which knows clients by their loss alone, then \
     loses what it has. What FedASL and FedNolowe reach depends more on the generator than on them.",
    "Dutch. Every defense, pooling too, is more accurate and less fair here than in the paper. As pooling knows \
     nothing of weights or roots, the reason must be in the proxies: the paper's are fairer than ours. Ours have \
     hardly any covariance between sensitive attribute and score, which is what the method asks for, and on Dutch \
     a difference in rates remains even then (Figure 2 shows it client by client), because the scores of the \
     groups differ in shape and not only in mean. And the losses of fair proxies spread widely on Dutch, so \
     that FedASL leaves reliable clients out and keeps unreliable ones, even where these are a minority.",
    "Law School, equal opportunity. The method is less fair and less accurate than in the paper. The paper's \
     equal opportunity term centres the sensitive attribute by its mean over all rows, not over the positive \
     ones that the term is about. A model that decides alike for everyone then still violates it, and the \
     penalty moves scores as well as gaps. A larger root does not help, as it would if noise were the reason: it \
     makes the wrong term exact (see the ablation of the root's size). We follow the formula as it is printed; \
     one that is centred over the positive rows would be right.",
    "ρ = 0. The paper's method without penalty stays near pooling; ours gives nearly all weight to unreliable \
     clients, and is as unfair as they are. Nothing in the formula holds the weights near uniform at ρ = 0, and \
     the root's rows are raw rows: models of raw rows fit them best. Accuracy on trusted data is no defense \
     against bias that the trusted data shares.",
    "Is it a good model? On Law School 89 % of the labels are positive. Without an intercept the fair models here are \
     right on 75 to 83 % of the rows, less than a model that says yes to everyone, and their balanced accuracy is \
     about that of a coin. The paper's accuracies are of that kind too: it reports no balanced accuracy. With an \
     intercept (see the ablation) accuracy is near 89 %, unfairness is lower still, and balanced accuracy a few \
     points above a coin's: on this data, statistical parity leaves little that a linear model could know.",
    "Steps. The paper's 2000 Adam steps end at ρ = 10 000 without a test of convergence, and often do not settle \
     there: figures of single rounds depend on the last bits of the arithmetic, and those of the method may \
     differ in the second digit between two versions of this program that are both right. The default profile \
     (--profile default) solves the same problem until the weights are stationary.",
];
