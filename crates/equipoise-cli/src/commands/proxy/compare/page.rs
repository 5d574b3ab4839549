//! The comparison as a page.

use equipoise_core::{Choice, ProxyGenerator};
use equipoise_report::{
    Axis, Block, Cell, Chart, ChartKind, Column, Format, Lines, NoticeKind, Page, Section, Series,
    Table, count,
};

use super::{Comparison, Line, Made, Quality, explanation};

pub(super) fn page(comparison: &Comparison<'_>) -> Page {
    Page {
        title: "Proxy generators compared".to_owned(),
        subtitle: format!(
            "{} rows of one client, for {}",
            count(comparison.data_rows),
            comparison.fairness
        ),
        sections: [Some(results(comparison)), privacy(comparison), Some(generators(comparison))]
            .into_iter()
            .flatten()
            .collect(),
    }
}

fn results(comparison: &Comparison<'_>) -> Section {
    let own = comparison.data_model;
    let lead = format!(
        "A model of the data itself has accuracy {} and gap {}. This page was computed from the data and is not private: keep it.",
        Format::Percent(1).write(own.accuracy),
        Format::Points(1).write(own.gap),
    );
    let numbers = ["Accuracy", "Gap", "Rows", "Distance", "Copies", "Membership AUC", "Seconds"];
    let table = Table {
        caption: "Each generator on the client's data".to_owned(),
        columns: Column::list(["Generator"], numbers),
        rows: comparison
            .generators
            .iter()
            .filter_map(|line| Some(row(line, line.made.as_ref()?)))
            .collect(),
    };
    let between = comparison.generators.iter().find_map(|line| line.made.as_ref());
    let explanation = explanation(between.map(|made| made.closeness.data_to_data.median));
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(comparison.generators.iter().filter_map(|line| {
        let text = format!("{} failed: {}", line.name(), line.error.as_ref()?);
        Some(Block::Notice { kind: NoticeKind::Warning, text })
    }));
    blocks.extend(explanation.lines().map(|line| Block::Paragraph(line.to_owned())));
    Section::new("Results", lead, blocks)
}

fn row(line: &Line, made: &Made) -> Vec<Cell> {
    let auc = made.membership_auc();
    let interval = auc.map(|auc| [auc.low, auc.high]);
    vec![
        Cell::text(line.name()),
        Cell::number(made.quality.accuracy, Format::Percent(1)),
        Cell::number(made.quality.gap, Format::Points(1)),
        Cell::number(made.rows as f64, Format::Fixed(0)),
        Cell::number(made.closeness.proxy_to_data.median, Format::Fixed(3)),
        Cell::number(made.closeness.copies as f64, Format::Fixed(0)),
        Cell {
            text: Format::Fixed(2).write_interval(auc.map(|auc| auc.value), interval),
            number: auc.map(|auc| auc.value),
            strong: false,
        },
        Cell::number(made.seconds, Format::Fixed(1)),
    ]
}

/// What differential privacy costs. `None` if no private proxy can be made.
fn privacy(comparison: &Comparison<'_>) -> Option<Section> {
    let curve = &comparison.privacy_curve;
    let (first, last) = (curve.first()?, curve.last()?);
    let chart = |title: &str, axis: &str, format: Format, of: fn(&Quality) -> Option<f64>| {
        let noiseless = comparison
            .generators
            .iter()
            .find(|line| line.generator == ProxyGenerator::Thresholds && line.dp_epsilon.is_none())
            .and_then(|line| of(&line.made.as_ref()?.quality));
        let points = curve.iter().filter_map(|p| Some((p.dp_epsilon, of(&p.quality)?)));
        let private = Series { name: "private".to_owned(), points: points.collect() };
        let without = Series {
            name: "without noise".to_owned(),
            points: noiseless.map_or(Vec::new(), |value| {
                vec![(first.dp_epsilon, value), (last.dp_epsilon, value)]
            }),
        };
        let rows = curve.iter().map(|p| {
            vec![Cell::text(p.dp_epsilon.to_string()), Cell::number(of(&p.quality), format)]
        });
        Block::Chart(Chart {
            title: title.to_owned(),
            sentence: format!(
                "{} at ε = {}, {} at ε = {}; {} without noise.",
                format.write(of(&first.quality)),
                first.dp_epsilon,
                format.write(of(&last.quality)),
                last.dp_epsilon,
                format.write(noiseless)
            ),
            kind: ChartKind::Lines(Lines {
                x: Axis::new("ε", Format::Fixed(0)),
                y: Axis::new(axis, format),
                log_y: false,
                series: vec![private, without],
                markers: Vec::new(),
            }),
            table: Table {
                caption: title.to_owned(),
                columns: Column::list(["ε"], [axis]),
                rows: rows.collect(),
            },
        })
    };
    let charts = vec![
        chart("Accuracy over ε", "Accuracy", Format::Percent(1), |quality| quality.accuracy),
        chart("Gap over ε", "Gap", Format::Points(1), |quality| quality.gap),
    ];
    let lead = "A smaller ε protects each person better and adds more noise. The figures are those of the model of a private proxy on the \
                client's data, averaged over a few proxies of which none is kept.";
    Some(Section::new("What differential privacy costs", lead, charts))
}

/// What each generator does.
fn generators(comparison: &Comparison<'_>) -> Section {
    let plain = comparison.generators.iter().filter(|line| line.dp_epsilon.is_none());
    let rows = plain.map(|line| {
        vec![Cell::text(line.generator.name()), Cell::text(line.generator.description())]
    });
    let table = Table {
        caption: "What the generators do".to_owned(),
        columns: vec![Column::text("Generator"), Column::text("What it does")],
        rows: rows.collect(),
    };
    let lead = "A generator with ε is differentially private; the others promise nothing about one person.";
    Section::new("The generators", lead, vec![Block::Table(table)])
}
