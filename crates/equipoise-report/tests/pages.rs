//! Every page is well-formed, loads nothing, escapes what clients wrote, and gives every chart a
//! description and a table.
#![allow(clippy::unwrap_used)]

mod html_check;
mod sample_pages;

use equipoise_core::{
    ClientTilt, Counted, Defense, Fairness, Requirements, SweepPoint, Termination, TiltReason,
    TiltSummary, Verdict,
};
use equipoise_report::{
    Axis, Bar, Bars, Block, Chart, ChartKind, Format, GroupedBars, Heatmap, Measured, Page, Point,
    Quantity, Scatter, ScatterSeries, Section, Table, groups_text,
};
use html_check::{Tag, read_balanced};
use sample_pages::{
    TWO, counted_metrics, every_block, group_metrics, metrics, outcome as sample, report, schema,
};

const HOSTILE: &str = "<script>alert(1)</script>&\"'";

fn sample_html(name: &str) -> [String; 2] {
    let mut outcome = sample(6, name);
    outcome.features[0] = name.to_owned();
    outcome.warnings[0].message += name;
    let unreliable = outcome.clients[2].id.clone();
    let unreliable = [unreliable.as_str()];
    outcome.clients[1].audit.as_mut().unwrap().reason = name.to_owned();
    let hostile_groups = [name, TWO[1]];
    let schema = schema(&hostile_groups, name);
    let mut report = report(&outcome, &schema, &unreliable);
    report.measured[0].rows = name.to_owned();
    report.measured[0].metrics = group_metrics(&[(name, 0.4), (TWO[1], 0.6)], 100);
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

fn two() -> equipoise_data::Schema {
    schema(&TWO, "pass_bar")
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
        assert_eq!(html.matches("<details>").count(), charts, "one table per chart");
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
fn direct_defenses_say_that_they_do_not_iterate() {
    let mut outcome = sample(3, "bank");
    outcome.trace.clear();
    outcome.gap = None;
    outcome.termination = Termination::Direct;
    outcome.settings.defense = Defense::RootOnly;
    outcome.clients.iter_mut().for_each(|client| client.weight = 0.0);
    let html = report(&outcome, &two(), &[]).render();
    checked(&html);
    assert!(html.contains("Computed directly") && html.contains("uses no proxy"));
}

#[test]
fn shared_rows_are_listed_below_the_weights() {
    let mut outcome = sample(6, "bank");
    let html = report(&outcome, &two(), &[]).render();
    checked(&html);
    assert!(html.contains("5 pairs of clients share at least a tenth"));
    assert!(html.contains("bank 3 and bank 5") && html.contains("are estimated"));
    assert!(html.contains("about 1,204") && html.contains("about 38.1\u{202f}%"));
    assert!(html.contains("there are 4 more"));
    outcome.more_overlaps = 0;
    outcome.overlaps[0].estimated = false;
    let html = report(&outcome, &two(), &[]).render();
    assert!(html.contains("1 pair of clients shares") && !html.contains("about 1"));
    outcome.overlaps.clear();
    assert!(!report(&outcome, &two(), &[]).render().contains("in common"));
}

#[test]
fn reports_on_a_single_client() {
    let outcome = sample(1, "bank");
    let html = report(&outcome, &two(), &[]).render();
    checked(&html);
    assert!(html.contains("1 client sent one dataset"), "{}", &html[..200]);
    assert!(html.contains("1 of 1 client has more"));
}

#[test]
fn draws_the_largest_weights_and_lists_all_of_them() {
    let outcome = sample(200, "bank");
    let schema = two();
    let report = report(&outcome, &schema, &[]);
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
    let mut outcome = sample(2, "bank");
    outcome.objective = f64::NAN;
    outcome.theta[1] = f64::NAN;
    outcome.trace[3].objective = f64::NAN;
    outcome.trace[4].violation = 0.0;
    let schema = two();
    let mut report = report(&outcome, &schema, &[]);
    // The first group has no rows.
    let mut none = metrics(0.5, 0.4, 10);
    none.groups[0].rows = 0;
    none.groups[0].selection_rate = None;
    none.groups[0].true_positive_rate = None;
    (none.accuracy, none.auc, none.selection_ratio) = (None, None, None);
    none.gaps = Default::default();
    let rows = "the root".to_owned();
    report.measured = vec![Measured { defense: Defense::Bilevel, rows, metrics: none }];
    let html = report.render();
    checked(&html);
    assert!(html.contains("<dd class=\"value\">–</dd>"));
    assert!(html.contains("no row is in the group <code>race ≠ White</code>"));
}

#[test]
fn omits_sections_without_measurements() {
    let mut outcome = sample(4, "bank");
    outcome.features.clear();
    outcome.clients.clear();
    let schema = two();
    let mut report = report(&outcome, &schema, &[]);
    report.measured.clear();
    let html = report.render();
    checked(&html);
    assert!(!html.contains("A gap is the largest") && html.contains("coefficient 1"));
    assert!(!html.contains("Client audit"));
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
        ChartKind::GroupedBars(GroupedBars {
            axis: axis(),
            series: Vec::new(),
            groups,
            reference: None,
        })
    };
    let scatter = |values: &[f64], is_path: bool| {
        let point = |&y: &f64| Point { label: "p".to_owned(), x: y, y, ..Point::default() };
        let points = values.iter().map(point).collect();
        let series = vec![ScatterSeries { name: "series".to_owned(), points }];
        ChartKind::Scatter(Scatter { x: axis(), y: axis(), series, is_path })
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
            scatter(values, false),
            scatter(values, true),
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

/// The outcome judged by these requirements, on a root with these selection rates.
fn judged(requirements: &str, privileged: f64, other: f64, rows: usize) -> String {
    let mut outcome = sample(4, "bank");
    let requirements: Requirements = requirements.parse().unwrap();
    let figures = metrics(privileged, other, rows);
    outcome.judgements = figures.judge(requirements, outcome.settings.fairness);
    outcome.verdict = Verdict::of(&outcome.judgements);
    outcome.root_metrics = figures;
    let schema = two();
    let mut report = report(&outcome, &schema, &[]);
    report.measured = Measured::on_root(&outcome);
    let html = report.render();
    checked(&html);
    html
}

#[test]
fn the_first_section_answers_whether_the_model_may_be_used() {
    let yes = judged("gap=0.05", 0.8, 0.8, 40_000);
    assert!(yes.contains("answer good") && yes.contains("Yes: it meets every requirement."));
    assert!(yes.contains("percentage points; up to 5 are allowed"), "{}", &yes[..4000]);
    let no = judged("gap=0.05", 0.9, 0.6, 4000);
    assert!(no.contains("answer bad") && no.contains("only 5 are allowed"));
    let perhaps = judged("gap=0.05", 0.8, 0.78, 84);
    assert!(perhaps.contains("Cannot tell: there are too few trusted rows."));
    assert!(perhaps.contains("rows in each group would be needed to tell"));
    let none = judged("none", 0.8, 0.8, 84);
    assert!(none.contains("No requirements were set."));
    for html in [yes, no, perhaps, none] {
        let first = html.split("<section").nth(1).unwrap();
        let facts = ["May we use it?", "pass_bar = 1", "race = White", "spring bank", "2026-03-31"];
        for fact in facts.into_iter().chain(["round.example.org", "9f86d081", "60303ae2"]) {
            assert!(first.contains(fact), "{fact}: {first}");
        }
        for jargon in ["SPD", "EOD", "ρ", "AUC", "objective", "covariance", "hypergradient"] {
            assert!(!first.contains(jargon), "{jargon}: {first}");
        }
    }
}

/// The first section of a report on figures of these groups: rows, positives, selected, true positives.
fn first_section(fairness: Fairness, require: &str, groups: &[(&str, [usize; 4])]) -> String {
    let mut outcome = sample(4, "bank");
    let figures = counted_metrics(groups);
    outcome.settings.fairness = fairness;
    outcome.judgements = figures.judge(require.parse().unwrap(), fairness);
    outcome.verdict = Verdict::of(&outcome.judgements);
    outcome.root_metrics = figures;
    let schema = schema(&groups.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "hired");
    let mut report = report(&outcome, &schema, &[]);
    report.measured = Measured::on_root(&outcome);
    let html = report.render();
    checked(&html);
    html.split("<section").nth(1).unwrap().to_owned()
}

#[test]
fn a_pass_points_at_groups_that_fare_badly_by_other_figures() {
    // Both groups have a true positive rate of 90 %. Of the negatives, 75 % and 10 % are selected, so that
    // 180 + 200 of 1,000 and 720 + 180 of 1,000 decisions are correct.
    let uneven = [("race = A", [1000, 200, 780, 180]), ("race = B", [1000, 800, 740, 720])];
    let text = first_section(Fairness::EO, "gap=0.1", &uneven);
    assert!(text.contains("Yes: it meets every requirement."), "{text}");
    // The selection rates differ by four points only.
    let closer = "Also look at the false positive rate, which was not required to be equal: 75.0\u{202f}% for race = A but \
                  10.0\u{202f}% for race = B; and at the accuracy for race = A: only 38.0\u{202f}% of the decisions are \
                  correct, against 64.0\u{202f}% for all.";
    assert!(text.contains(closer), "{text}");
    let even = [("race = A", [1000, 500, 500, 450]), ("race = B", [1000, 500, 500, 450])];
    assert!(!first_section(Fairness::EO, "gap=0.1", &even).contains("Also look at"));
    // On so few rows, the difference may be chance.
    let few = [("race = A", [10, 5, 6, 4]), ("race = B", [10, 5, 4, 4])];
    assert!(!first_section(Fairness::EO, "gap=1", &few).contains("Also look at"));
}

#[test]
fn an_accuracy_that_a_constant_reaches_is_pointed_out() {
    let groups = [("race = A", [1000, 200, 200, 150]), ("race = B", [1000, 240, 200, 150])];
    let low = first_section(Fairness::SP, "accuracy=0.7", &groups);
    assert!(low.contains("selecting no one would be correct for 78.0\u{202f}%"), "{low}");
    let high = first_section(Fairness::SP, "accuracy=0.8", &groups);
    assert!(!high.contains("selecting no one"), "{high}");
    let groups = [("race = A", [1000, 900, 900, 850]), ("race = B", [1000, 900, 900, 850])];
    let everyone = first_section(Fairness::SP, "accuracy=0.8", &groups);
    assert!(everyone.contains("selecting everyone would be correct for 90.0\u{202f}%"));
}

#[test]
fn a_published_report_says_where_its_date_is() {
    let mut outcome = sample(4, "bank");
    outcome.about.date = None;
    let html = report(&outcome, &two(), &[]).render();
    assert!(html.contains("<dt>Date</dt><dd>in the audit log of the round"));
}

#[test]
fn the_coefficient_of_a_group_is_named_after_the_group_for_which_it_is_1() {
    let mut outcome = sample(4, "bank");
    outcome.features[7] = "race".to_owned();
    let html = report(&outcome, &two(), &[]).render();
    assert!(html.contains("race = White: 0.015") && !html.contains(">race: 0.015"));
    let mut blind = two();
    blind.sensitive.as_feature = false;
    assert!(report(&outcome, &blind, &[]).render().contains("race: 0.015"));
}

#[test]
fn groups_are_listed_so_that_names_with_commas_stay_apart() {
    let text = |columns: &str, members: [&str; 2]| {
        let names = ["sex = F, age = old", "sex = M, age = old"];
        let groups: String = names
            .iter()
            .zip(members)
            .map(|(name, members)| {
                format!("[[sensitive.group]]\nname = \"{name}\"\nmembers = [{members}]\n")
            })
            .collect();
        let toml = format!(
            "version = 1\nintercept = true\nlabel = {{ column = \"y\", positive = \"1\" }}\n[sensitive]\n{columns}\n\
             reference = \"sex = F, age = old\"\n{groups}[[feature]]\ncolumn = \"x\"\nkind = \"numeric\"\n\
             center = 0.0\nscale = 1.0\n"
        );
        let schema = equipoise_data::Schema::from_toml(&toml, "schema.toml".as_ref()).unwrap();
        groups_text(&schema.sensitive)
    };
    let pairs = ["[\"F\", \"old\"]", "[\"M\", \"old\"]"];
    assert_eq!(text("columns = [\"sex\", \"age\"]", pairs), "sex & age: F/old · M/old");
    let single = ["\"F\"", "\"M\""];
    assert_eq!(text("column = \"sex\"", single), "sex = F, age = old · sex = M, age = old");
}

#[test]
fn the_trade_off_says_if_the_model_lost_on_both_sides() {
    let page = |before: [f64; 2], after: [f64; 2]| {
        let mut outcome = sample(4, "bank");
        let point = |strength: f64, [privileged, other]: [f64; 2]| SweepPoint {
            strength,
            weights: vec![0.25; 4],
            theta: vec![0.0; 9],
            root_metrics: metrics(privileged, other, 2000),
        };
        outcome.sweep = vec![point(0.0, before), point(0.5, before), point(1.0, after)];
        let html = report(&outcome, &two(), &[]).render();
        checked(&html);
        html
    };
    // Seven tenths of the labels are positive, so a rate of 0.9 is wrong about more rows than one of 0.6.
    let (fair, unfair) = ([0.6, 0.6], [0.9, 0.6]);
    let lost = "worse in both: accuracy alone would have been fairer and more accurate";
    assert!(page(fair, unfair).contains(lost));
    assert!(!page(unfair, fair).contains(lost));
    assert!(page(fair, unfair).contains("1: this model"));
}

#[test]
fn the_figures_of_six_groups_are_in_two_tables() {
    let names = ["a, x", "a, y", "b, x", "b, y", "c, x", "c, y"];
    let groups: Vec<(&str, f64)> = names.iter().map(|name| (*name, 0.4)).collect();
    let mut outcome = sample(3, "bank");
    outcome.root_metrics = group_metrics(&groups, 1200);
    let schema = schema(&names, "hired");
    let mut report = report(&outcome, &schema, &[]);
    report.measured = Measured::on_root(&outcome);
    let page = report.page();
    let section = page.sections.iter().find(|section| section.heading == "Groups").unwrap();
    let tables: Vec<&Table> = section
        .blocks
        .iter()
        .filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None })
        .collect();
    let shapes: Vec<_> = tables.iter().map(|t| (t.rows.len(), t.columns.len())).collect();
    assert_eq!(shapes, [(6, 5), (6, 5)]);
    let html = report.render();
    assert!(html.contains("the worst of all pairs of groups"));
}

#[test]
fn the_solver_table_lists_only_settings_that_the_defense_uses() {
    let mut outcome = sample(4, "bank");
    let of_bilevel = ["Penalty ρ", "Maximum number of steps", "The penalty on a violation"];
    let html = report(&outcome, &two(), &[]).render();
    assert!(of_bilevel.iter().all(|name| html.contains(name)));
    outcome.settings.defense = Defense::Tilt;
    let html = report(&outcome, &two(), &[]).render();
    assert!(of_bilevel.iter().all(|name| !html.contains(name)));
    for term in ["Reliable", "AUC", "Calibration", "Mean model"] {
        assert!(html.contains(&format!("scope=\"row\">{term}</th>")), "{term}");
    }
}

#[test]
fn what_is_not_known_about_a_round_is_left_out() {
    let mut outcome = sample(4, "bank");
    outcome.about = Default::default();
    let html = report(&outcome, &two(), &[]).render();
    for name in ["<dt>Round</dt>", "<dt>Date</dt>", "<dt>Run by</dt>"] {
        assert!(!html.contains(name), "{name}");
    }
}

#[test]
fn sections_come_in_the_order_of_their_use_and_the_solver_is_folded_away() {
    let outcome = sample(6, "bank");
    let schema = two();
    let page = report(&outcome, &schema, &[]).page();
    let headings: Vec<&str> = page.sections.iter().map(|s| s.heading.as_str()).collect();
    let expected = [
        "May we use it?",
        "Warnings",
        "Client weights",
        "Fairness",
        "Groups",
        "Client audit",
        "Model",
        "Glossary",
        "Solver",
    ];
    assert_eq!(headings, expected);
    let solver = &page.sections[8].blocks;
    assert!(matches!(&solver[..], [Block::Details { .. }]), "{solver:?}");
}

#[test]
fn intervals_are_drawn_as_they_are_measured() {
    let quantity = Quantity { value: Some(0.2), interval: Some([0.1, 0.9]) };
    let groups = vec![("group".to_owned(), vec![quantity])];
    let axis = Axis::new("axis", Format::Fixed(1));
    let series = vec!["series".to_owned()];
    let kind = ChartKind::GroupedBars(GroupedBars { axis, series, groups, reference: None });
    let html = page_of(kind);
    assert!(html.contains("group, series: 0.2 (0.1\u{a0}to\u{a0}0.9)"));
    let tags = checked(&html);
    // The first is in the legend.
    let bar = tags.iter().filter(|t| t.attribute("class") == Some("bar c0 k0")).nth(1).unwrap();
    let number = |tag: &Tag, name: &str| tag.attribute(name).unwrap().parse::<f64>().unwrap();
    let (zero, end) = (number(bar, "x"), number(bar, "x") + number(bar, "width"));
    let whisker = tags.iter().find(|t| t.attribute("class") == Some("whisker")).unwrap();
    let unit = (end - zero) / 0.2;
    assert!((number(whisker, "x1") - (zero + 0.1 * unit)).abs() < 0.3);
    assert!((number(whisker, "x2") - (zero + 0.9 * unit)).abs() < 0.3);
}

#[test]
fn pages_with_many_groups_and_clients_stay_readable() {
    let names: Vec<String> =
        (0..40).map(|g| format!("ethnicity = {g}, a group with a rather long name")).collect();
    let groups: Vec<(&str, f64)> =
        names.iter().enumerate().map(|(g, name)| (name.as_str(), 0.3 + 0.01 * g as f64)).collect();
    let schema = schema(&names.iter().map(String::as_str).collect::<Vec<_>>(), "hired");
    let mut outcome = sample(1000, "bank");
    outcome.root_metrics = group_metrics(&groups, 4000);
    outcome.pooled_root_metrics = Some(group_metrics(&groups, 4000));
    let mut report = report(&outcome, &schema, &[]);
    report.measured = Measured::on_root(&outcome);
    let html = report.render();
    checked(&html);
    assert!(html.contains("race: 40 groups"));
    assert!(html.contains("The chart shows the 30 largest groups"));
    assert!(html.contains("The cards show 24 of 1,000 clients"));
    assert_eq!(html.matches("<article").count(), 24);
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
}

#[test]
fn a_card_shows_what_the_audit_found() {
    let outcome = sample(6, "bank");
    let unreliable = ["bank 3"];
    let html = report(&outcome, &two(), &unreliable).render();
    let card = html.split("<article").find(|card| card.contains("<span>bank 3</span>")).unwrap();
    let card = card.split("</article>").next().unwrap();
    for part in [
        "Known to be unreliable; shares rows with others",
        "Leaving it out would raise the loss by 0.0021 on the root.",
        "bank 5 (about 1,204)",
        "loss +0.0010, worst gap +1.2\u{202f}pp",
        "of which 3,100 distinct",
    ] {
        assert!(card.contains(part), "no {part} in {card}");
    }
    assert!(html.contains("loss −0.0010, worst gap +1.2\u{202f}pp"));
}

#[test]
fn the_page_says_how_each_client_was_counted_and_why() {
    let mut outcome = sample(4, "bank");
    outcome.settings.defense = Defense::Tilt;
    let unfair = TiltReason::Unfair {
        favours: "`women`".to_owned(),
        gap: 0.312,
        error: 0.021,
        spread: 0.015,
    };
    let reasons = [
        (Counted::Full, TiltReason::Full, 0.0, vec![]),
        (Counted::Less, TiltReason::Tilted { favours: "`men`".to_owned() }, -0.31, vec![]),
        (Counted::Less, TiltReason::Doubtful, 0.0, vec![1]),
        (Counted::Not, unfair, 0.0, vec![]),
    ];
    for (client, (counted, reason, shift, limited)) in outcome.clients.iter_mut().zip(reasons) {
        let tilt = ClientTilt { counted, reason, useful: 1.0, gaps: vec![], shift, limited };
        client.tilt = Some(tilt);
    }
    outcome.tilt = Some(TiltSummary {
        contrasts: vec![],
        unmeasured: vec![],
        counted: [1, 2, 1],
        best: None,
        best_loss: 0.5,
        constant_loss: 0.6,
        came_back: false,
    });
    let html = report(&outcome, &two(), &[]).render();
    checked(&html);
    let limited = &outcome.features[1];
    for part in [
        "1 of 4 clients are counted in full, 2 less, 1 not",
        "counted in full, 2 less, 1 not",
        "Counted in full.",
        "its people have other rates than the root: threshold moved by -0.31.",
        "since the root cannot check it: ",
        limited,
        "by 0.312 ± 0.021; most fair clients are within 0.015.",
    ] {
        assert!(html.contains(part), "no {part}");
    }
    assert!(!html.contains("robability of being"));

    outcome.termination = Termination::FellBack;
    outcome.clients.iter_mut().for_each(|client| client.weight = 0.0);
    let html = report(&outcome, &two(), &[]).render();
    assert!(html.contains("Not counted, because a model of the root alone is used. Among the clients: counted in full."));
}
