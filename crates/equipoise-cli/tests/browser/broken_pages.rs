//! Tests of the page checker: pages with one fault each, and one without faults.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::launch;
use crate::page_check::{Expectations, check_page, faults_up_to};

const EXPECTED: Expectations =
    Expectations { title: "Valid", charts: 1, figures: 1, requests: &[] };

/// A page that passes all checks.
const VALID: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<link rel="icon" href="data:,"/>
<title>Valid page</title>
<style>
body { background: #fff; color: #111; }
svg { width: 100%; height: 80px; }
.narrow { display: none; }
@media (max-width: 720px) { .wide { display: none; } .narrow { display: block; } }
@media screen and (prefers-color-scheme: dark) { body { background: #111; color: #eee; } }
</style>
</head>
<body>
<h1>Heading</h1>
<dl class="figures"><div><dt>Accuracy</dt><dd class="value">71 %</dd></div></dl>
<figure class="chart">
<figcaption><h3>Weights</h3><p>One client has all.</p></figcaption>
<ul class="legend"><li><svg class="swatch"><rect width="9" height="9"/></svg>weight</li></ul>
<div class="wide"><svg><rect class="bar" width="90" height="20"/></svg></div>
<div class="narrow"><svg><rect class="bar" width="40" height="20"/></svg></div>
<details><summary>Numbers</summary><table><tbody><tr><td>1.0</td></tr></tbody></table></details>
</figure>
</body>
</html>
"#;

/// A part of the valid page, its replacement, and the fault to be found.
const FAULTS: [(&str, &str, &str); 34] = [
    // Required content.
    ("<title>Valid page", "<title>Page", "title is \"Page\""),
    ("<h1>Heading</h1>", "", "no h1 is shown"),
    ("<h1>", "<h1 hidden>", "no h1 is shown"),
    ("<dl class=\"figures\">", "<dl>", "0 key figures, not 1"),
    ("71 %", " ", "key figure \"Accuracy\" is empty"),
    ("<figure class=\"chart\">", "<figure>", "0 charts, not 1"),
    ("<p>One client has all.</p>", "", "has no description"),
    ("<td>1.0</td>", "<td></td>", "has no table of its numbers"),
    // Drawings.
    ("<rect class=\"bar\" width=\"90\" height=\"20\"/>", "", "has no visible mark"),
    ("width=\"90\" height=\"20\"", "width=\"90\" height=\"0\"", "has no visible mark"),
    ("class=\"bar\" width=\"40\"", "class=\"bar\" fill=\"none\" width=\"40\"", "no visible mark"),
    (".narrow { display: none; }", "", "2 visible drawings, not 1"),
    (".narrow { display: block; }", "", "400×900, Light: chart \"Weights\" has 0 visible drawings"),
    ("height: 80px", "height: 0", "0 visible drawings"),
    ("width=\"90\" height=\"20\"", "width=\"1\" height=\"20\"", "a bar has no width"),
    (
        "<rect class=\"bar\" width=\"90\"",
        "<text y='20'>ρ = 100</text><text x='9' y='22'>ρ = 1000</text><rect class=\"bar\" width=\"90\"",
        "labels \"ρ = 100\" and \"ρ = 1000\" overlap",
    ),
    // Tables and code.
    (
        "</body>",
        "<div class='scroll' aria-label='T' style='overflow:auto'><table><tr><td style='min-width:600px'>a</td></tr>\
         </table></div></body>",
        "400×900, Light: table \"T\" is cut off",
    ),
    (
        "</body>",
        "<div class='scroll matrix' aria-label='M'><table><tbody><tr><th>a</th></tr></tbody></table></div></body>",
        "table \"M\" scrolls without the names of its rows",
    ),
    (
        "</body>",
        "<pre style='overflow:auto'>a line of code that is too long for a narrow screen and does not wrap at all, not \
         even here</pre></body>",
        "code is cut off",
    ),
    // Texts.
    ("</body>", "<p>run `defend`</p></body>", "a backtick is shown"),
    ("</body>", "<p>16638 rows</p></body>", "digits are not grouped: \"16638 rows\""),
    ("</body>", "<p>in 0.01245 s</p></body>", "a time has too many digits"),
    (
        "</body>",
        "<p class='f' style='color:#999'>pale</p></body>",
        "faint text in P.f: contrast 2.8 for \"pale\"",
    ),
    (
        "</body>",
        "<p class='g' style='color:#fff;background:rgb(255 255 255 / .9)'>white</p></body>",
        "faint text in P.g",
    ),
    // The page as a whole.
    ("</body>", "<div style='width:500px'>wide</div></body>", "400×900, Dark: scrolls sideways"),
    ("color: #eee", "color: #555", "contrast"),
    ("prefers-color-scheme: dark", "prefers-color-scheme: none", "background is wrong for Dark"),
    // Requests.
    (
        "</body>",
        "<img src='https://example.invalid/a.png' alt=''/></body>",
        "request: https://example.invalid/a.png",
    ),
    (
        "</body>",
        "<script>fetch('http://127.0.0.1:9/a').catch(() => 0)</script></body>",
        "127.0.0.1:9/a",
    ),
    ("</head>", "<link rel='stylesheet' href='other.css'/></head>", "/other.css"),
    // Scripts.
    ("</body>", "<script>console.error('wrong', 7)</script></body>", "console error: \"wrong\" 7"),
    ("</body>", "<script>console.warn('odd')</script></body>", "console warning: \"odd\""),
    ("</body>", "<script>absent()</script></body>", "exception: ReferenceError"),
    (
        "<title>",
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src \
         'unsafe-inline'; img-src data:\"/><script>1</script><title>",
        "policy: ",
    ),
];

/// A folder for pages.
struct Pages(TempDir);

impl Pages {
    fn write(&self, name: &str, html: &str) -> PathBuf {
        let file = self.0.path().join(format!("{name} page.html"));
        std::fs::write(&file, html).unwrap();
        file
    }
}

#[test]
fn finds_every_fault_and_none_in_a_valid_page() {
    let Some(mut browser) = launch() else { return };
    let pages = Pages(tempfile::tempdir().unwrap());
    let valid = pages.write("valid", VALID);
    assert_eq!(check_page(&mut browser, &valid, EXPECTED), [""; 0]);

    for (i, (part, broken, expected)) in FAULTS.into_iter().enumerate() {
        assert!(VALID.contains(part), "the valid page has no {part}");
        let page = pages.write(&i.to_string(), &VALID.replace(part, broken));
        let faults = faults_up_to(&mut browser, &page, EXPECTED, expected);
        assert!(faults.iter().any(|fault| fault.contains(expected)), "{expected}: {faults:#?}");
        println!("found: {expected}");
    }
}

#[test]
fn finds_a_page_that_needs_scripts() {
    let Some(mut browser) = launch() else { return };
    let pages = Pages(tempfile::tempdir().unwrap());
    let script = "<script>document.querySelector('h1').textContent = 'Heading'</script></body>";
    let html = VALID.replace("<h1>Heading", "<h1>").replace("</body>", script);
    let faults = check_page(&mut browser, &pages.write("scripted", &html), EXPECTED);
    assert!(!faults.is_empty());
    assert!(faults.iter().all(|fault| fault.contains("without scripts")), "{faults:#?}");
}
