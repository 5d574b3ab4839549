//! Made-up figures, shared by the tests and the example. Nothing here was measured.
#![allow(dead_code)]

use equipoise_core::{
    About, ClientAudit, ClientOutcome, Comparisons, Counts, Defense, DistinctRows, Fairness,
    Groups, Layout, LeftOut, Metrics, Outcome, Overlap, OwnModel, Rows, Settings, TableRole,
    Termination, TracePoint, Verdict, Violation, Warning, WarningCode,
};
use equipoise_data::Schema;
use equipoise_report::{
    Answer, Axis, Bar, Bars, Block, Card, Cell, Chart, ChartKind, Column, Fact, Figure, Format,
    GroupedBars, Heatmap, Measured, NoticeKind, OutcomePage, Page, Point, Quantity, Reference,
    Scatter, ScatterSeries, Section, Table, Tone,
};

/// Two groups.
pub(crate) const TWO: [&str; 2] = ["race ≠ White", "race = White"];

/// A schema with these groups; the last is the reference. The label column is called `name`.
pub(crate) fn schema(groups: &[&str], name: &str) -> Schema {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "").replace('"', "\\\""));
    let group = |group: &&str| {
        let value = quoted(group);
        format!("[[sensitive.group]]\nname = {value}\nmembers = [{value}]\n")
    };
    let reference = quoted(groups[groups.len() - 1]);
    let text = format!(
        "version = 1\nintercept = true\nlabel = {{ column = {}, positive = \"1\" }}\n\
         [sensitive]\ncolumn = \"race\"\nreference = {reference}\n{}\
         [[feature]]\ncolumn = \"lsat\"\nkind = \"numeric\"\ncenter = 0.0\nscale = 1.0\n",
        quoted(name),
        groups.iter().map(group).collect::<String>()
    );
    Schema::from_toml(&text, "schema.toml".as_ref()).expect("a valid schema")
}

fn features() -> Vec<String> {
    [
        "decile, first year",
        "decile, third year",
        "lsat",
        "undergraduate gpa",
        "full-time",
        "family income",
        "tier",
        "race",
        "constant",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// An outcome for `n` clients called `name` and a number, every third of which is unreliable.
pub(crate) fn outcome(n: usize, name: &str) -> Outcome {
    let weights = final_weights(n);
    let trace = trace(n, &weights);
    let clients = weights.into_iter().enumerate().map(|(c, weight)| ClientOutcome {
        id: format!("{name} {}", c + 1),
        weight,
        proxy_rows: 3120 + 17 * c,
        root_rows: 17,
        tilt: None,
        audit: Some(client_audit(c)),
    });
    let rough = Warning {
        client: Some(format!("{name} 2")),
        table: Some(TableRole::Root),
        ..Warning::new(WarningCode::OneClass, "every row has a positive label")
    };
    let requirements = "gap=0.05,accuracy=0.7".parse().expect("valid requirements");
    let settings = Settings { requirements, ..Settings::bilevel(Fairness::SP) };
    let root_metrics = metrics(0.861, 0.872, 84);
    let judgements = root_metrics.judge(requirements, settings.fairness);
    let not_converged = "1 of 74 inner fits did not converge to their tolerance";
    Outcome {
        format: Outcome::FORMAT.to_owned(),
        version: Outcome::VERSION,
        about: About {
            round: Some(format!("spring {name}")),
            run_by: Some("round.example.org".to_owned()),
            date: Some("2026-03-31".to_owned()),
        },
        schema_digest: "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"
            .to_owned(),
        features: features(),
        clients: clients.collect(),
        overlaps: vec![Overlap {
            clients: [3, 5].map(|c| format!("{name} {c}")),
            shared_rows: 1204,
            share: 0.381,
            estimated: true,
        }],
        more_overlaps: 4,
        theta: vec![0.41, -0.12, 0.66, 0.31, -0.07, 0.052, 0.23, 0.015, 1.84],
        objective: 0.3312,
        root_loss: 0.3129,
        rho: 1e4,
        violation: 0.00191,
        violations: Violation { sp: 0.00191, eo: -0.0042, fpr: 0.001 },
        termination: Termination::Converged,
        gap: Some(3.1e-6),
        counts: Counts {
            evaluations: 74,
            passes: 81,
            inner_fits: 74,
            inner_iterations: 190,
            inner_not_converged: 1,
            final_inner_gradient_norm: 2.2e-12,
            largest_residual: 4.0e-15,
            diagonals_raised: 0,
        },
        root_metrics,
        pooled_root_metrics: Some(metrics(0.941, 0.601, 84)),
        comparisons: Comparisons::default(),
        blindness: None,
        sweep: Vec::new(),
        verdict: Verdict::of(&judgements),
        judgements,
        settings,
        tilt: None,
        warnings: vec![rough, Warning::new(WarningCode::InnerNotConverged, not_converged)],
        trace,
    }
}

fn is_unreliable(client: usize) -> bool {
    client % 3 == 2
}

fn final_weights(n: usize) -> Vec<f64> {
    let raw: Vec<f64> =
        (0..n).map(|c| if is_unreliable(c) { 0.0 } else { 1.0 + (c * 7 % 5) as f64 }).collect();
    let sum: f64 = raw.iter().sum();
    raw.iter().map(|w| w / sum).collect()
}

fn trace(n: usize, last: &[f64]) -> Vec<TracePoint> {
    (0..60)
        .map(|i| {
            let (start, step) = if i < 40 { (0, i) } else { (1, i - 40) };
            let stage = (step / 12).min(3);
            let rho = 10f64.powi(stage + 1);
            let progress = 1.0 - (-f64::from(step) / 8.0).exp();
            let violation = 0.3 * (-f64::from(step) / 7.0).exp() + 0.002;
            let weights = last.iter().map(|w| (1.0 - progress) / n as f64 + progress * w).collect();
            TracePoint {
                iteration: i as usize + 1,
                start,
                rho,
                objective: 0.32 + 0.5 * rho * violation * violation,
                violation,
                weights,
            }
        })
        .collect()
}

/// Figures of groups of equal size with the given selection rates, measured on rows made up for the purpose.
pub(crate) fn group_metrics(groups: &[(&str, f64)], rows: usize) -> Metrics {
    let names = groups.iter().map(|(name, _)| (*name).to_owned()).collect();
    let names = Groups::new(names, groups.len() - 1).expect("different names");
    let layout = Layout { n_x: 1, groups: names, as_feature: false, intercept: false };
    let per_group = rows / groups.len();
    let (mut x, mut of_group, mut positive) = (vec![], vec![], vec![]);
    for (g, (_, rate)) in groups.iter().enumerate() {
        for i in 0..per_group {
            // Labels follow the ranks, with every seventh flipped.
            let rank = (i as f64 + 0.5) / per_group as f64;
            x.push(rate - rank);
            of_group.push(g as u8);
            positive.push((rank < 0.7) != (i % 7 == 0));
        }
    }
    let made_up = Rows::new(layout, &x, &of_group, &positive).expect("valid rows");
    Metrics::of_scores(&x, &made_up, 0.0)
}

/// Figures of groups with these counts: rows, positive labels, selected rows, and rows that are both.
pub(crate) fn counted_metrics(groups: &[(&str, [usize; 4])]) -> Metrics {
    let names = groups.iter().map(|(name, _)| (*name).to_owned()).collect();
    let names = Groups::new(names, groups.len() - 1).expect("different names");
    let layout = Layout { n_x: 1, groups: names, as_feature: false, intercept: false };
    let (mut x, mut of_group, mut positive) = (vec![], vec![], vec![]);
    for (g, (_, [rows, positives, selected, both])) in groups.iter().enumerate() {
        let false_positives = selected - both;
        for i in 0..*rows {
            let is_positive = i < *positives;
            let is_selected = match is_positive {
                true => i < *both,
                false => i - positives < false_positives,
            };
            x.push(if is_selected { 1.0 } else { -1.0 });
            of_group.push(g as u8);
            positive.push(is_positive);
        }
    }
    let made_up = Rows::new(layout, &x, &of_group, &positive).expect("valid rows");
    Metrics::of_scores(&x, &made_up, 0.0)
}

/// Figures of two groups.
pub(crate) fn metrics(privileged: f64, other: f64, rows: usize) -> Metrics {
    group_metrics(&[(TWO[0], other), (TWO[1], privileged)], rows)
}

fn client_audit(c: usize) -> ClientAudit {
    let own = metrics(0.9, if is_unreliable(c) { 0.6 } else { 0.88 }, 84);
    let left_out = LeftOut { loss: 0.0021 * (c as f64 - 1.5), gap: Some(0.012) };
    ClientAudit {
        reason: "leaving it out would raise the loss by 0.0021 on the root".to_owned(),
        own_model: Some(OwnModel { accuracy: own.accuracy, gap: own.gap(Fairness::SP) }),
        left_out: (c != 0).then_some(left_out),
        privacy: None,
        distinct_rows: Some(DistinctRows { rows: 3100, estimated: c == 1 }),
    }
}

/// A report on the outcome. `unreliable` are some of its clients.
pub(crate) fn report<'a>(
    outcome: &'a Outcome,
    schema: &'a Schema,
    unreliable: &'a [&'a str],
) -> OutcomePage<'a> {
    let measured =
        |defense, rows: &str, metrics| Measured { defense, rows: rows.to_owned(), metrics };
    let (bilevel, pooled) = (Defense::Bilevel, Defense::Pooled);
    OutcomePage {
        outcome,
        schema,
        model_digest: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".to_owned(),
        unreliable,
        measured: vec![
            measured(bilevel, "the test rows", metrics(0.871, 0.832, 4160)),
            measured(pooled, "the test rows", metrics(0.932, 0.568, 4160)),
            measured(bilevel, "the root", metrics(0.861, 0.872, 84)),
            measured(pooled, "the root", metrics(0.941, 0.601, 84)),
        ],
    }
}

/// A page with one of each block. `name` appears in every text.
pub(crate) fn every_block(name: &str) -> Page {
    let s = |text: &str| format!("{text} {name}");
    let blocks = vec![
        Block::Paragraph(s("A paragraph about")),
        Block::Notice { kind: NoticeKind::Info, text: s("A note about") },
        Block::Notice { kind: NoticeKind::Warning, text: s("A warning about") },
        Block::Figures(vec![
            Figure { label: s("Label"), value: s("12"), note: s("Note") },
            Figure {
                label: "Accuracy".to_owned(),
                value: "87.1 %".to_owned(),
                note: String::new(),
            },
            Figure {
                label: "SPD".to_owned(),
                value: "0.041 ± 0.062".to_owned(),
                note: String::new(),
            },
        ]),
        Block::Answer(Answer { tone: Tone::Good, headline: s("Yes"), sentence: s("Because of") }),
        Block::Answer(Answer { tone: Tone::Bad, headline: s("No"), sentence: s("Because of") }),
        Block::Facts(vec![Fact::new(name, s("value")), Fact::code("Digest", s("60303ae2"))]),
        Block::Cards(vec![Card {
            title: s("Card"),
            figure: "31\u{202f}%".to_owned(),
            tag: s("Remark"),
            text: s("A sentence"),
            facts: vec![Fact::new(name, s("value"))],
        }]),
        Block::Details {
            summary: s("Show more"),
            blocks: vec![Block::Chart(bars(name)), Block::Paragraph(s("Folded"))],
        },
        Block::Table(wide_table(name)),
        Block::Code(format!(
            "equipoise defend --proxies proxies/{name} --trusted root --schema schema.toml --fairness sp --out outcome.json"
        )),
    ];
    let charts = [bars(name), grouped_bars(name), scatter(name), heatmap(name), defenses()];
    let charts = charts.into_iter().map(Block::Chart).collect();
    Page {
        title: s("One of each"),
        subtitle: s("Subtitle"),
        sections: vec![
            Section { heading: s("Text"), lead: s("The lead of"), blocks },
            Section { heading: s("Charts"), lead: s("The charts of"), blocks: charts },
        ],
    }
}

fn table(name: &str) -> Table {
    Table {
        caption: format!("Numbers of {name}"),
        columns: vec![Column::text(name), Column::number("Value")],
        rows: vec![vec![Cell::text(name), Cell::number(0.25, Format::Auto).strong()]],
    }
}

fn wide_table(name: &str) -> Table {
    let columns = (1..=14).map(|i| Column::number(format!("column {i}")));
    let row = |r: usize| {
        let cells = (1..=14).map(move |i| Cell::number((r * i) as f64 * 1234.5, Format::Fixed(1)));
        [Cell::text(format!("{name} {r}"))].into_iter().chain(cells).collect()
    };
    Table {
        caption: format!("A table wider than a phone, of {name}"),
        columns: [Column::text(name)].into_iter().chain(columns).collect(),
        rows: (1..=3).map(row).collect(),
    }
}

fn chart(title: &str, name: &str, kind: ChartKind) -> Chart {
    Chart {
        title: format!("{title} of {name}"),
        sentence: format!("A description of what the chart shows about {name}."),
        kind,
        table: table(name),
    }
}

fn bars(name: &str) -> Chart {
    let tagged = |tag: &str, bar: Bar| Bar { tag: Some(tag.to_owned()), ..bar };
    let bars = vec![
        Bar::new(name, 0.42),
        tagged(name, Bar::new("tagged", 0.31)),
        Bar::new("negative", -0.22),
        tagged("unreliable", Bar::new("negative and tagged", -0.4)),
        Bar::new("no value", None),
        Bar::new("zero", 0.0),
        Bar::new("a-client-whose-name-is-much-too-long-to-fit-into-any-of-the-drawings", 0.1),
    ];
    let reference = Some(Reference::new(0.2, format!("reference {name}")));
    chart(
        "Bars",
        name,
        ChartKind::Bars(Bars { axis: Axis::new(name, Format::Fixed(2)), bars, reference }),
    )
}

fn grouped_bars(name: &str) -> Chart {
    let quantity =
        |value: f64| Quantity { value: Some(value), interval: Some([value - 0.02, value + 0.09]) };
    let group = |n: &str, base: f64| {
        (n.to_owned(), [0.0, -0.1, 0.12, 0.2].map(|d| quantity(base + d)).to_vec())
    };
    let kind = GroupedBars {
        axis: Axis::new(name, Format::Fixed(2)),
        series: vec![name.to_owned(), "second".to_owned(), "third".to_owned(), "fourth".to_owned()],
        groups: vec![group(name, 0.3), group("another", 0.05)],
        reference: Some(Reference::new(0.2, name)),
    };
    chart("Grouped bars", name, ChartKind::GroupedBars(kind))
}

fn scatter(name: &str) -> Chart {
    let point = |label: &str, x: f64, y: f64| Point {
        label: label.to_owned(),
        x,
        y,
        x_interval: Some([x - 0.008, x + 0.012]),
        y_interval: Some([y - 0.03, y + 0.03]),
    };
    let series = vec![
        ScatterSeries {
            name: name.to_owned(),
            points: vec![point(name, 0.871, 0.04), point("root-only", 0.842, 0.11)],
        },
        ScatterSeries {
            name: "baselines".to_owned(),
            points: vec![
                point("pooled", 0.881, 0.36),
                point("fedasl", 0.879, 0.33),
                point("fednolowe", 0.883, 0.35),
            ],
        },
        ScatterSeries { name: "third".to_owned(), points: vec![point("edge", 0.9, 0.2)] },
    ];
    let kind = Scatter {
        x: Axis::new(format!("Accuracy {name}"), Format::Percent(1)),
        y: Axis::new("|SPD|", Format::Fixed(3)),
        series,
        is_path: false,
    };
    chart("Scatter", name, ChartKind::Scatter(kind))
}

fn heatmap(name: &str) -> Chart {
    let kind = Heatmap {
        values_axis: Axis::new(format!("Share {name}"), Format::Percent(0)),
        rows: vec![name.to_owned(), "pooled".to_owned(), "fedasl".to_owned()],
        columns: vec![name.to_owned(), "20 %".to_owned(), "40 %".to_owned(), "60 %".to_owned()],
        values: vec![
            vec![Some(0.0), Some(0.1), Some(0.2), Some(0.3)],
            vec![Some(0.4), Some(0.5), Some(0.6), Some(0.7)],
            vec![Some(0.8), Some(0.9), Some(1.0), None],
        ],
        max: 1.0,
    };
    chart("Heatmap", name, ChartKind::Heatmap(kind))
}

fn defenses() -> Chart {
    let kind = Heatmap {
        values_axis: Axis::new("|SPD|", Format::Fixed(3)),
        rows: (1..=5).map(|i| format!("defense {i}")).collect(),
        columns: (1..=10).map(|i| format!("client {i}")).collect(),
        values: (0..5).map(|i| (0..10).map(|j| Some(f64::from(i * j) / 45.0)).collect()).collect(),
        max: 0.8,
    };
    chart("A heatmap wider than a phone", "ten clients", ChartKind::Heatmap(kind))
}
