//! Made-up figures, shared by the tests and the example. Nothing here was measured.
#![allow(dead_code)]

use equipoise_core::{
    ClientOutcome, Counts, Defense, Fairness, GroupMetrics, Groups, Metrics, Outcome, Settings,
    TableRole, Termination, TracePoint, Violation, Warning, WarningCode,
};
use equipoise_data::{OutcomeFile, Overlap};
use equipoise_report::{
    Axis, Bar, Bars, Block, Cell, Chart, ChartKind, Column, Figure, Format, GroupedBars, Heatmap,
    Lines, Marker, Measured, NoticeKind, OutcomeReport, Page, Point, Quantity, Reference, Scatter,
    ScatterSeries, Section, Series, Table,
};

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
pub(crate) fn outcome(n: usize, name: &str) -> OutcomeFile {
    let weights = final_weights(n);
    let trace = trace(n, &weights);
    let clients = weights.into_iter().enumerate().map(|(c, weight)| ClientOutcome {
        id: format!("{name} {}", c + 1),
        weight,
        proxy_rows: 3120 + 17 * c,
        root_rows: 17,
        trust: None,
    });
    let rough = Warning {
        client: Some(format!("{name} 2")),
        table: Some(TableRole::Root),
        ..Warning::new(WarningCode::OneClass, "every row has a positive label")
    };
    let not_converged = "1 of 74 inner fits did not converge to their tolerance";
    let outcome = Outcome {
        clients: clients.collect(),
        theta: vec![0.41, -0.12, 0.66, 0.31, -0.07, 0.052, 0.23, 0.015, 1.84],
        objective: 0.3312,
        root_loss: 0.3129,
        rho: 1e4,
        violation: 0.00191,
        violations: Violation { sp: 0.00191, eo: -0.0042 },
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
        root_metrics: metrics(0.861, 0.872, 83, 0.081),
        settings: Settings::new(Fairness::SP),
        warnings: vec![rough, Warning::new(WarningCode::InnerNotConverged, not_converged)],
        trace,
        trust: None,
    };
    OutcomeFile {
        format: "equipoise-outcome".to_owned(),
        version: 1,
        schema_digest: String::new(),
        features: features(),
        overlaps: vec![Overlap {
            clients: [3, 5].map(|c| format!("{name} {c}")),
            shared_rows: 1204,
            share: 0.381,
            estimated: true,
        }],
        more_overlaps: 4,
        pooled_root_metrics: Some(metrics(0.941, 0.601, 83, 0.112)),
        outcome,
        seconds: 1.84,
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

/// Figures with the given selection rates of the privileged and the other group.
pub(crate) fn metrics(privileged: f64, other: f64, rows: usize, error: f64) -> Metrics {
    let group = |selection: f64, share: f64| GroupMetrics {
        rows: (rows as f64 * share) as usize,
        base_rate: Some(0.88),
        selection_rate: Some(selection),
        true_positive_rate: Some((selection + 0.04).min(1.0)),
        false_positive_rate: Some((selection - 0.4).max(0.0)),
        accuracy: Some(0.86),
    };
    Metrics {
        rows,
        accuracy: Some(0.8731),
        balanced_accuracy: Some(0.7012),
        auc: Some(0.861),
        spd: Some(privileged - other),
        spd_standard_error: Some(error),
        eod: Some(0.8 * (privileged - other)),
        eod_standard_error: Some(1.2 * error),
        groups: Groups { privileged: group(privileged, 0.84), unprivileged: group(other, 0.16) },
    }
}

/// A report on the outcome. `unreliable` are some of its clients.
pub(crate) fn report<'a>(file: &'a OutcomeFile, unreliable: &'a [&'a str]) -> OutcomeReport<'a> {
    let measured =
        |defense, rows: &str, metrics| Measured { defense, rows: rows.to_owned(), metrics };
    let (bilevel, pooled) = (Defense::Bilevel, Defense::Pooled);
    OutcomeReport {
        title: "Bar passage, spring collection",
        file,
        unreliable,
        measured: vec![
            measured(bilevel, "the test rows", metrics(0.871, 0.832, 4160, 0.0141)),
            measured(pooled, "the test rows", metrics(0.932, 0.568, 4160, 0.0193)),
            measured(bilevel, "the root", metrics(0.861, 0.872, 83, 0.081)),
            measured(pooled, "the root", metrics(0.941, 0.601, 83, 0.112)),
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
        Block::Table(wide_table(name)),
        Block::Code(format!(
            "equipoise defend --proxies proxies/{name} --root root --schema schema.toml --fairness sp --out outcome.json"
        )),
    ];
    let charts =
        [bars(name), grouped_bars(name), lines(name), scatter(name), heatmap(name), defenses()];
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
    let quantity = |value: f64| Quantity { value: Some(value), error: Some(0.06) };
    let group = |n: &str, base: f64| {
        (n.to_owned(), [0.0, -0.1, 0.12, 0.2].map(|d| quantity(base + d)).to_vec())
    };
    let kind = GroupedBars {
        axis: Axis::new(name, Format::Fixed(2)),
        series: vec![name.to_owned(), "second".to_owned(), "third".to_owned(), "fourth".to_owned()],
        groups: vec![group(name, 0.3), group("another", 0.05)],
    };
    chart("Grouped bars", name, ChartKind::GroupedBars(kind))
}

fn lines(name: &str) -> Chart {
    let series = (0..7).map(|s| Series {
        name: if s == 0 { name.to_owned() } else { format!("series {s}") },
        points: (1..200)
            .map(|i| {
                let x = f64::from(i);
                (x, (1.0 + f64::from(s) / 3.0) * (-x / (20.0 + 9.0 * f64::from(s))).exp() + 1e-3)
            })
            .collect(),
    });
    let markers =
        [1.0, 60.0, 64.0, 150.0].map(|x| Marker { x, label: format!("stage {name}") }).to_vec();
    let kind = Lines {
        x: Axis::new(name, Format::Auto),
        y: Axis::new(name, Format::Auto),
        log_y: true,
        series: series.collect(),
        markers,
    };
    chart("Lines", name, ChartKind::Lines(kind))
}

fn scatter(name: &str) -> Chart {
    let point = |label: &str, x: f64, y: f64| Point {
        label: label.to_owned(),
        x,
        y,
        x_error: Some(0.008),
        y_error: Some(0.03),
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
