//! Every page is well-formed, loads nothing, escapes what clients wrote, and gives every chart a
//! description and a table.
#![allow(clippy::unwrap_used)]

mod html_check;
mod sample_pages;

use equipoise_core::{Defense, Groups, Metrics, Termination};
use equipoise_report::{
    Axis, Bar, Bars, Block, Chart, ChartKind, Format, GroupedBars, Heatmap, Lines, Measured, Page,
    Point, Quantity, Scatter, ScatterSeries, Section, Series, Table,
};
use html_check::{Tag, read_balanced};
use sample_pages::{every_block, metrics, outcome, report};

const HOSTILE: &str = "<script>alert(1)</script>&\"'";

fn sample_html(name: &str) -> [String; 2] {
    let mut file = outcome(6, name);
    file.features[0] = name.to_owned();
    file.outcome.warnings[0].message += name;
    let unreliable = file.outcome.clients[2].id.clone();
    let unreliable = [unreliable.as_str()];
    let mut report = report(&file, &unreliable);
    report.title = name;
    report.measured[0].rows = name.to_owned();
    [report.render(), every_block(name).render()]
}

fn checked(html: &str) -> Vec<Tag> {
    let tags = read_balanced(html).unwrap();
    assert!(
        !html.contains("NaN") && !html.contains("inf\""),
        "the page contains a non-finite number"
    );
    tags
}

fn page_of(kind: ChartKind) -> String {
    let chart = Chart {
        title: "Title".to_owned(),
        sentence: "Sentence.".to_owned(),
        kind,
        table: Table::default(),
    };
    let blocks = vec![Block::Chart(chart)];
    let section = Section { heading: "Heading".to_owned(), lead: String::new(), blocks };
    Page { title: "Page".to_owned(), subtitle: String::new(), sections: vec![section] }.render()
}

#[test]
fn the_html_check_rejects_unbalanced_tags() {
    for broken in ["<p>", "<p></b>", "</p>", "<p a=\"1></p>", "<p a></p>", "a > b<br/>", "<%>"] {
        assert!(read_balanced(&format!("<!DOCTYPE html>{broken}")).is_err(), "{broken}");
    }
    assert!(read_balanced("<!DOCTYPE html><p a=\"1 > 0\"><br/>text</p>").is_ok());
}

#[test]
fn client_text_never_becomes_markup() {
    for html in sample_html(HOSTILE) {
        assert!(checked(&html).iter().all(|tag| tag.name != "script"));
        assert!(!html.contains("<script"));
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;"));
    }
}

#[test]
fn pages_load_nothing() {
    for html in sample_html("bank") {
        for forbidden in ["http://", "https://", "src=", "@import", "<script", "//fonts"] {
            assert!(!html.contains(forbidden), "{forbidden}");
        }
        for link in checked(&html).iter().filter_map(|tag| tag.attribute("href")) {
            assert!(link.starts_with('#') || link == "data:,", "{link}");
        }
        let mut styles = html.match_indices("url(");
        assert!(styles.all(|(at, _)| html[at..].starts_with("url(#")));
    }
}

#[test]
fn every_chart_has_a_title_a_description_and_a_table() {
    for html in sample_html("bank") {
        let tags = checked(&html);
        let ids: Vec<&str> = tags.iter().filter_map(|tag| tag.attribute("id")).collect();
        let images: Vec<&Tag> =
            tags.iter().filter(|tag| tag.attribute("role") == Some("img")).collect();
        let charts = tags.iter().filter(|t| t.attribute("class") == Some("chart")).count();
        assert!(charts >= 6);
        assert_eq!(images.len(), 2 * charts);
        assert_eq!(html.matches("<details>").count(), charts);
        for image in images {
            let labels = image.attribute("aria-labelledby").unwrap();
            assert!(labels.split(' ').all(|label| ids.contains(&label)), "{labels}");
        }
        assert!(!html.contains("-sentence\"></p>"), "a description is empty");
    }
}

#[test]
fn ids_are_unique_and_header_cells_have_scopes() {
    for html in sample_html("bank") {
        let tags = checked(&html);
        let mut ids: Vec<&str> = tags.iter().filter_map(|tag| tag.attribute("id")).collect();
        let n = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), n);
        assert!(tags.iter().filter(|t| t.name == "th").all(|t| t.attribute("scope").is_some()));
    }
}

#[test]
fn direct_defenses_have_no_convergence_charts() {
    let mut file = outcome(3, "bank");
    file.outcome.trace.clear();
    file.outcome.gap = None;
    file.outcome.termination = Termination::Direct;
    file.outcome.settings.defense = Defense::RootOnly;
    file.outcome.clients.iter_mut().for_each(|client| client.weight = 0.0);
    let html = report(&file, &[]).render();
    checked(&html);
    assert!(html.contains("there is no trajectory to show"));
    assert!(html.contains("Computed directly") && html.contains("uses no proxy"));
}

#[test]
fn shared_rows_are_listed_below_the_weights() {
    let mut file = outcome(6, "bank");
    let html = report(&file, &[]).render();
    checked(&html);
    assert!(html.contains("5 pairs of clients share at least a tenth"));
    assert!(html.contains("bank 3 and bank 5") && html.contains("are estimated"));
    assert!(html.contains("about 1204") && html.contains("about 38.1\u{202f}%"));
    assert!(html.contains("there are 4 more"));
    file.more_overlaps = 0;
    file.overlaps[0].estimated = false;
    let html = report(&file, &[]).render();
    assert!(html.contains("1 pair of clients shares") && !html.contains("about 1"));
    file.overlaps.clear();
    assert!(!report(&file, &[]).render().contains("in common"));
}

#[test]
fn reports_on_a_single_client() {
    let file = outcome(1, "bank");
    let html = report(&file, &[]).render();
    checked(&html);
    assert!(html.contains("1 client sent one proxy"), "{}", &html[..200]);
    assert!(html.contains("1 of 1 client has more"));
}

#[test]
fn draws_the_largest_weights_and_lists_all_of_them() {
    let file = outcome(200, "bank");
    let report = report(&file, &[]);
    let html = report.render();
    checked(&html);
    assert!(html.contains("The chart shows the 30 largest of 200 weights"));
    let heading = |section: &Section| section.heading == "Client weights";
    let page = report.page();
    let section = page.sections.iter().find(|section| heading(section)).unwrap();
    let [Block::Chart(Chart { kind: ChartKind::Bars(bars), table, .. }), ..] = &section.blocks[..]
    else {
        panic!("{section:?}")
    };
    assert_eq!((bars.bars.len(), table.rows.len()), (30, 200));
    assert!(bars.bars.is_sorted_by(|a, b| a.value >= b.value));
}

#[test]
fn missing_figures_are_dashes() {
    let mut file = outcome(2, "bank");
    file.outcome.objective = f64::NAN;
    file.outcome.theta[1] = f64::NAN;
    file.outcome.trace[3].objective = f64::NAN;
    file.outcome.trace[4].violation = 0.0;
    file.seconds = 0.0;
    let mut report = report(&file, &[]);
    let full = metrics(0.5, 0.4, 10, f64::NAN);
    let mut group = full.groups.unprivileged.clone();
    group.rows = 0;
    group.selection_rate = None;
    group.true_positive_rate = None;
    let groups = Groups { unprivileged: group, ..full.groups.clone() };
    let none = Metrics { accuracy: None, spd: None, eod: None, auc: None, groups, ..full };
    let rows = "the root".to_owned();
    report.measured = vec![Measured { defense: Defense::Bilevel, rows, metrics: none }];
    let html = report.render();
    checked(&html);
    assert!(html.contains("<dd class=\"value\">–</dd>"));
    assert!(html.contains("no row is in the unprivileged group"));
}

#[test]
fn omits_sections_without_measurements() {
    let mut file = outcome(4, "bank");
    file.features.clear();
    file.outcome.clients.clear();
    let mut report = report(&file, &[]);
    report.measured.clear();
    let html = report.render();
    checked(&html);
    assert!(!html.contains("Differences compare") && html.contains("coefficient 1"));
}

#[test]
fn draws_charts_of_empty_single_and_extreme_values() {
    let axis = || Axis::new("axis", Format::Auto);
    let bars = |values: &[f64]| {
        let bars = values.iter().map(|&value| Bar::new("bar", value)).collect();
        ChartKind::Bars(Bars { axis: axis(), bars, reference: None })
    };
    let grouped = |values: &[f64]| {
        let quantities = values.iter().map(|&value| Quantity::new(value)).collect();
        let groups = vec![("group".to_owned(), quantities)];
        ChartKind::GroupedBars(GroupedBars { axis: axis(), series: Vec::new(), groups })
    };
    let lines = |values: &[f64], log_y: bool| {
        let points = values.iter().enumerate().map(|(i, &y)| (i as f64, y)).collect();
        let series = vec![Series { name: "series".to_owned(), points }];
        ChartKind::Lines(Lines { x: axis(), y: axis(), log_y, series, markers: Vec::new() })
    };
    let scatter = |values: &[f64]| {
        let point = |&y: &f64| Point { label: "p".to_owned(), x: y, y, ..Point::default() };
        let points = values.iter().map(point).collect();
        let series = vec![ScatterSeries { name: "series".to_owned(), points }];
        ChartKind::Scatter(Scatter { x: axis(), y: axis(), series })
    };
    let heatmap = |values: &[f64]| {
        ChartKind::Heatmap(Heatmap {
            values_axis: axis(),
            rows: vec!["row".to_owned()],
            columns: values.iter().map(|_| "column".to_owned()).collect(),
            values: vec![values.iter().copied().map(Some).collect()],
            max: 0.0,
        })
    };
    let cases: [&[f64]; 9] = [
        &[],
        &[0.5],
        &[2.0, 2.0, 2.0],
        &[0.0, 0.0],
        &[-1.0, -3.0],
        &[f64::NAN, f64::INFINITY],
        &[f64::NAN, 1.0],
        &[1e-300, 1e300],
        &[f64::MIN, f64::MAX],
    ];
    for values in cases {
        for kind in [
            bars(values),
            grouped(values),
            lines(values, false),
            lines(values, true),
            scatter(values),
            heatmap(values),
        ] {
            let html = page_of(kind);
            checked(&html);
        }
    }
}

#[test]
fn negative_bars_start_left_of_positive_ones() {
    let bars = vec![Bar::new("down", -1.0), Bar::new("up", 1.0)];
    let axis = Axis::new("axis", Format::Fixed(1));
    let tags = checked(&page_of(ChartKind::Bars(Bars { axis, bars, reference: None })));
    let rects: Vec<f64> = tags
        .iter()
        .filter(|t| t.name == "rect" && t.attribute("class") == Some("bar c0 k0"))
        .map(|t| t.attribute("x").unwrap().parse().unwrap())
        .collect();
    assert_eq!(rects.len(), 4);
    assert!(rects[0] < rects[1] && rects[2] < rects[3]);
}
