//! The checks that every page must pass in a browser.

use std::path::Path;

use serde_json::json;

use crate::chromium::{Browser, file_url};
use crate::tab::Media::{self, Dark, Light, Print};
use crate::tab::Tab;

/// What a page must contain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expectations {
    /// Part of its title.
    pub(crate) title: &'static str,
    /// Minimum number of charts.
    pub(crate) charts: usize,
    /// Minimum number of key figures.
    pub(crate) figures: usize,
    /// Prefixes of the paths that it may request from its own server.
    pub(crate) requests: &'static [&'static str],
}

/// A window size and the media to emulate in it.
struct View {
    width: u32,
    height: u32,
    scripts: bool,
    every_media: &'static [Media],
}

/// A phone, a small and a large desktop, one without scripts, and the printable width of A4, the narrowest common paper.
const VIEWS: [View; 5] = [
    View { width: 400, height: 900, scripts: true, every_media: &[Light, Dark] },
    View { width: 1000, height: 900, scripts: true, every_media: &[Light, Dark] },
    View { width: 1400, height: 900, scripts: true, every_media: &[Light, Dark, Print] },
    View { width: 1400, height: 900, scripts: false, every_media: &[Light] },
    View { width: 718, height: 1046, scripts: true, every_media: &[Print] },
];

/// Every fault of a page, with the view in which it was found. Prints what was checked.
pub(crate) fn check_page(
    browser: &mut Browser,
    page: &Path,
    expected: Expectations,
) -> Vec<String> {
    check_url(browser, &file_url(page), expected)
}

/// The same for a page that is served.
pub(crate) fn check_url(browser: &mut Browser, url: &str, expected: Expectations) -> Vec<String> {
    println!("{url}");
    VIEWS.iter().flat_map(|view| check_view(browser, url, view, expected)).collect()
}

/// The faults of a page in all views up to the first that has the `wanted` one.
pub(crate) fn faults_up_to(
    browser: &mut Browser,
    page: &Path,
    expected: Expectations,
    wanted: &str,
) -> Vec<String> {
    let url = file_url(page);
    let mut faults = Vec::new();
    for view in &VIEWS {
        faults.extend(check_view(browser, &url, view, expected));
        if faults.iter().any(|fault| fault.contains(wanted)) {
            break;
        }
    }
    faults
}

/// The faults of a page in one view.
fn check_view(
    browser: &mut Browser,
    url: &str,
    &View { width, height, scripts, every_media }: &View,
    expected: Expectations,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut tab = browser.open(url, width, height);
    if !scripts {
        tab.reload(false);
    }
    let view = format!("{width}×{height}{}", if scripts { "" } else { " without scripts" });
    for &media in every_media {
        let (summary, found) = check_media(&mut tab, width, media, expected);
        println!("  {view}, {media:?}: {summary}");
        faults.extend(found.iter().map(|fault| format!("{view}, {media:?}: {fault}")));
    }
    let mut errors = tab.console_errors();
    errors.retain(|error| !is_allowed(error, url, expected));
    println!("  {view}: console, policy, requests: {}", count(errors.len()));
    faults.extend(errors.iter().map(|error| format!("{view}: {error}")));
    faults
}

/// A summary of one view in one medium, and its faults.
fn check_media(
    tab: &mut Tab,
    width: u32,
    media: Media,
    expected: Expectations,
) -> (String, Vec<String>) {
    tab.emulate(media);
    let expected = json!({
        "title": expected.title,
        "charts": expected.charts,
        "figures": expected.figures,
        "width": width,
        "media": format!("{media:?}"),
    });
    let result =
        tab.evaluate(&format!("({})({expected})", include_str!("page_check.js").trim_end()));
    let list = result["faults"].as_array().unwrap();
    let faults: Vec<String> = list.iter().map(|fault| fault.as_str().unwrap().into()).collect();
    let summary = format!(
        "title and heading; {} key figures with text; {} charts with one drawing, marks, sentence and \
         table; no column, code or bar cut off; no overlapping labels; text; contrast: {}",
        result["figures"],
        result["charts"],
        count(faults.len())
    );
    (summary, faults)
}

/// Whether this is a request that the page is allowed to make.
fn is_allowed(error: &str, url: &str, expected: Expectations) -> bool {
    let origin: String = url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    let path =
        error.strip_prefix("request: ").and_then(|requested| requested.strip_prefix(&origin));
    path.is_some_and(|path| expected.requests.iter().any(|start| path.starts_with(start)))
}

fn count(faults: usize) -> String {
    if faults == 0 { "ok".to_owned() } else { format!("{faults} FAULTS") }
}
