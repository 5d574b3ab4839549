//! How fair the model is, compared with the pooled model if that was measured on the same rows.

use equipoise_core::{Condition, Defense, Gap, GroupMetrics, Metrics};

use super::gaps::{self, POINTS, in_words, quoted, size_text};
use super::{MAX_BARS, Measured, OutcomePage, sentence, wording};
use crate::block::{Block, Figure};
use crate::chart::{Axis, Chart, ChartKind, GroupedBars, Quantity};
use crate::format::{Format, MISSING, count};
use crate::page::Section;
use crate::table::{Cell, Column, Table};

const RATE: Format = Format::Percent(1);

/// What equal rates of a condition are called.
fn criterion(condition: Condition) -> &'static str {
    match condition {
        Condition::All => "Statistical parity",
        Condition::Positives => "Equal opportunity",
        Condition::Negatives => "Predictive equality",
    }
}

impl OutcomePage<'_> {
    pub(super) fn fairness_section(&self) -> Option<Section> {
        let primary = self.primary()?;
        let mut blocks = vec![Block::Figures(self.fairness_figures(primary))];
        for rows in self.tables_measured() {
            blocks.push(Block::Chart(self.gaps_chart(rows)));
        }
        if primary.metrics.groups.len() > 2 {
            blocks.push(Block::Chart(self.gaps_to_rest_chart(primary)));
        }
        blocks.push(Block::Table(self.measured_table()));
        blocks.extend(self.blindness_blocks());
        let worst = match primary.metrics.groups.len() {
            0..=2 => "",
            _ => {
                " The gap shown is the worst of all pairs of groups, and its interval allows for that choice."
            }
        };
        let lead = format!(
            "A gap is the difference between the rates of two groups in percentage points (pp): 0 means that they are \
             treated alike.{worst} Thin lines and brackets are 95\u{202f}% confidence intervals: with few rows they are \
             wide, and they begin at 0 if the rows do not show which group is ahead.",
        );
        Some(Section::new("Fairness", lead, blocks))
    }

    /// The gap of each criterion, and the 80 % rule.
    fn fairness_figures(&self, primary: &Measured) -> Vec<Figure> {
        let metrics = &primary.metrics;
        let gap = |condition: Condition| {
            let gap = metrics.gaps.of(condition);
            let note = match gap {
                Some(gap) => in_words(gap),
                None => format!("no two groups have a {}", condition.rate_name()),
            };
            Figure { label: criterion(condition).to_owned(), value: size_text(gap), note }
        };
        let ratio = metrics.selection_ratio;
        let rule = Figure {
            label: "80\u{202f}% rule".to_owned(),
            value: RATE.write_estimate(ratio),
            note: match ratio {
                None => "cannot be measured".to_owned(),
                Some(ratio) => format!(
                    "lowest selection rate as a share of the highest; {}",
                    match ratio {
                        ratio if ratio.low >= 0.8 => "the rule is met",
                        ratio if ratio.high < 0.8 => "the rule is broken",
                        _ => "these rows cannot tell whether the rule is met",
                    }
                ),
            },
        };
        Condition::ALL.map(gap).into_iter().chain([rule]).collect()
    }

    /// The tables on which models were measured, each once, in the order given.
    fn tables_measured(&self) -> Vec<&str> {
        let mut tables: Vec<&str> = Vec::new();
        for measured in &self.measured {
            if !tables.contains(&measured.rows.as_str()) {
                tables.push(&measured.rows);
            }
        }
        tables
    }

    fn on(&self, rows: &str) -> Vec<&Measured> {
        let mut on: Vec<&Measured> = self.measured.iter().filter(|m| m.rows == rows).collect();
        // Before the defense, then after.
        on.sort_by_key(|m| m.defense != Defense::Pooled);
        on
    }

    fn gaps_chart(&self, rows: &str) -> Chart {
        let models = self.on(rows);
        let quantity = |m: &&Measured, condition| {
            Quantity::estimate(m.metrics.gaps.of(condition).map(gaps::size))
        };
        let group = |condition: Condition| {
            let quantities = models.iter().map(|m| quantity(m, condition)).collect();
            (criterion(condition).to_owned(), quantities)
        };
        Chart {
            title: format!("Largest gaps between groups on {rows}"),
            sentence: self.gaps_sentence(rows, &models),
            kind: ChartKind::GroupedBars(GroupedBars {
                axis: Axis::new("Size of the gap", POINTS),
                series: models.iter().map(|m| m.defense.to_string()).collect(),
                groups: Condition::ALL.map(group).to_vec(),
                reference: None,
            }),
            table: gaps_table(&models),
        }
    }

    /// The requested gap before and after the defense.
    fn gaps_sentence(&self, rows: &str, models: &[&Measured]) -> String {
        let (own, fairness) = (self.outcome.settings.defense, self.outcome.settings.fairness);
        let find = |defense| models.iter().find(|m| m.defense == defense);
        let Some(this) = find(own).or(models.first()) else {
            return "Nothing was measured.".to_owned();
        };
        let Some(gap) = this.metrics.gap(fairness) else {
            return format!("On {rows}, the requested gap cannot be measured.");
        };
        let size = |gap: &Gap| size_text(Some(gap));
        let pooled = find(Defense::Pooled).filter(|_| own != Defense::Pooled);
        let before = match pooled.and_then(|pooled| pooled.metrics.gap(fairness)) {
            Some(pooled) => format!("{} with all proxies pooled and ", size(&pooled)),
            None => String::new(),
        };
        format!(
            "On {rows}, the gap of the fairness requested ({fairness}) is {before}{} with {}: {}. {}",
            size(&gap),
            this.defense,
            in_words(&gap),
            wording::zero_in_interval(gap.low, gap.high)
        )
    }

    /// The rates of each group against those of all others.
    fn gaps_to_rest_chart(&self, primary: &Measured) -> Chart {
        let groups = &primary.metrics.groups;
        let conditions: Vec<Condition> =
            self.outcome.settings.fairness.conditions().map(|(condition, _)| condition).collect();
        let size = |group: &GroupMetrics| {
            let gaps = conditions.iter().filter_map(|&c| group.gaps_to_rest.of(c));
            gaps.map(Gap::size).fold(0.0, f64::max)
        };
        let mut shown: Vec<&GroupMetrics> = groups.iter().collect();
        if groups.len() > MAX_BARS {
            shown.sort_by(|a, b| size(b).total_cmp(&size(a)));
            shown.truncate(MAX_BARS);
        }
        let bars = |group: &&GroupMetrics| {
            let gap = |&c: &Condition| group.gaps_to_rest.of(c).map(Gap::estimate);
            (group.name.clone(), conditions.iter().map(gap).map(Quantity::estimate).collect())
        };
        let furthest = groups.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
        let mut text = furthest.map_or(String::new(), |group| {
            format!(
                "{} is furthest from all others, by {}. A bar to the right means a higher rate than all others \
                 together.",
                quoted(&group.name),
                POINTS.write(Some(size(group)))
            )
        });
        if groups.len() > MAX_BARS {
            text += &format!(
                " The chart shows the {MAX_BARS} largest of {} gaps; the table lists all.",
                count(groups.len())
            );
        }
        let row = |group: &GroupMetrics| {
            let gap = |c: Condition| group.gaps_to_rest.of(c).map(Gap::estimate);
            let cells = Condition::ALL.map(|c| Cell::text(POINTS.write_estimate(gap(c))));
            [Cell::text(&group.name)].into_iter().chain(cells).collect()
        };
        let names = Condition::ALL.map(|c| Column::number(sentence_case(c.rate_name())));
        Chart {
            title: format!("Each group against all others: {primary}"),
            sentence: text,
            kind: ChartKind::GroupedBars(GroupedBars {
                axis: Axis::new("Rate of the group minus that of all others", POINTS),
                series: conditions.iter().map(|c| sentence_case(c.rate_name())).collect(),
                groups: shown.iter().map(bars).collect(),
                reference: None,
            }),
            table: Table {
                caption: "Rate of each group minus that of all others together".to_owned(),
                columns: [Column::text("Group")].into_iter().chain(names).collect(),
                rows: groups.iter().map(row).collect(),
            },
        }
    }

    fn measured_table(&self) -> Table {
        let row = |m: &Measured| {
            let metrics = &m.metrics;
            let name = Cell::text(m.to_string());
            let gap = |c| size_text(metrics.gaps.of(c));
            let figures = [
                RATE.write_estimate(metrics.accuracy),
                RATE.write_estimate(metrics.balanced_accuracy),
                Format::Fixed(3).write_estimate(metrics.auc),
            ];
            let gaps = Condition::ALL.map(gap);
            let texts = figures.into_iter().chain(gaps).map(Cell::text);
            let name = if Some(m) == self.primary() { name.strong() } else { name };
            [name, Cell::text(count(metrics.rows))].into_iter().chain(texts).collect()
        };
        Table {
            caption: "All measurements, with 95\u{202f}% confidence intervals".to_owned(),
            columns: Column::list(
                ["Model and rows"],
                [
                    "Rows",
                    "Accuracy",
                    "Balanced accuracy",
                    "AUC",
                    "Gap in selection rate",
                    "Gap in true positive rate",
                    "Gap in false positive rate",
                ],
            ),
            rows: self.measured.iter().map(row).collect(),
        }
    }

    /// What it costs that the model does not see the group, if that was measured.
    fn blindness_blocks(&self) -> Vec<Block> {
        let Some(blindness) = &self.outcome.blindness else { return Vec::new() };
        let fairness = self.outcome.settings.fairness;
        let row = |name: &str, metrics: &Metrics| {
            let estimates = [metrics.accuracy, metrics.balanced_accuracy];
            let [accuracy, balanced] = estimates.map(|e| Cell::text(RATE.write_estimate(e)));
            let gap = Cell::text(size_text(metrics.gap(fairness).as_ref()));
            vec![Cell::text(name), accuracy, balanced, gap]
        };
        let text = "This model does not see the group of a person, so it cannot make up for what other features \
                    reveal about it. The table compares two fair models of the root alone, one that sees the group and \
                    one that does not, on root rows that neither was fitted to. With so few rows it is only a hint: \
                    every client can measure the cost on its own data when it makes its proxy.";
        let table = Table {
            caption: "What blindness costs".to_owned(),
            columns: Column::list(["Model of the root"], ["Accuracy", "Balanced accuracy", "Gap"]),
            rows: vec![
                row("sees the group", &blindness.seeing),
                row("does not see the group", &blindness.blind),
            ],
        };
        vec![Block::Paragraph(text.to_owned()), Block::Table(table)]
    }
}

fn gaps_table(models: &[&Measured]) -> Table {
    let row = |(condition, m): (Condition, &&Measured)| {
        let gap = m.metrics.gaps.of(condition);
        let words = gap.map_or(MISSING.to_owned(), |gap| sentence(&in_words(gap)));
        vec![
            Cell::text(criterion(condition)),
            Cell::text(m.defense.to_string()),
            Cell::text(words),
            Cell::text(size_text(gap)),
        ]
    };
    let pairs = Condition::ALL.into_iter().flat_map(|c| models.iter().map(move |m| (c, m)));
    Table {
        caption: "Largest gaps with 95\u{202f}% confidence intervals".to_owned(),
        columns: Column::list(["Criterion", "Model", "Which groups"], ["Gap"]),
        rows: pairs.map(row).collect(),
    }
}

/// With a capital letter.
fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
