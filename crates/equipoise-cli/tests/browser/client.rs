//! Tests of the browser driver: tabs, pages on loopback, and cleanup.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::json;

use crate::chromium::file_url;
use crate::launch;
use crate::page_check::{Expectations, check_url};
use crate::tab::Media;

#[test]
fn a_tab_has_the_requested_size_media_and_scripts() {
    let Some(mut browser) = launch() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a page.html");
    let html =
        "<!DOCTYPE html><title>before</title><p>text<script>document.title = 'after'</script>";
    std::fs::write(&file, html).unwrap();

    let mut tab = browser.open(&file_url(&file), 640, 480);
    assert_eq!(tab.evaluate("[innerWidth, innerHeight]"), json!([640, 480]));
    assert_eq!(tab.evaluate("Promise.resolve(document.title)"), "after");
    let dark = "matchMedia('(prefers-color-scheme: dark)').matches";
    let print = "matchMedia('print').matches";
    for (media, seen) in [
        (Media::Dark, json!([true, false])),
        (Media::Print, json!([false, true])),
        (Media::Light, json!([false, false])),
    ] {
        tab.emulate(media);
        assert_eq!(tab.evaluate(&format!("[{dark}, {print}]")), seen, "{media:?}");
    }
    tab.reload(false);
    assert_eq!(tab.evaluate("document.title"), "before");
    tab.reload(true);
    assert_eq!(tab.evaluate("document.title"), "after");

    let picture = folder.path().join("picture.png");
    tab.screenshot(&picture);
    let png = std::fs::read(picture).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n") && png.ends_with(b"IEND\xaeB`\x82"));
    // The header contains width and height.
    assert_eq!(
        (&png[16..20], &png[20..24]),
        (&640_u32.to_be_bytes()[..], &480_u32.to_be_bytes()[..])
    );
}

#[test]
fn checks_a_page_served_on_loopback() {
    let Some(mut browser) = launch() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        // Browsers open connections before they need them, so each gets its own thread.
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    let expected = Expectations { title: "Served", charts: 0, figures: 0, requests: &[] };
    for host in ["127.0.0.1", "localhost"] {
        let faults = check_url(&mut browser, &format!("http://{host}:{port}/"), expected);
        assert_eq!(faults, [""; 0]);
    }
}

/// Answers one request with a small page.
fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    let html = "<!DOCTYPE html><html><head><title>Served</title><link rel='icon' href='data:,'/>\
                <style>body { background: #fff; color: #000 } @media screen and \
                (prefers-color-scheme: dark) { body { background: #000; color: #fff } }</style>\
                </head><body><h1>Served</h1></body></html>";
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    if stream.read(&mut [0; 4096])? == 0 {
        return Ok(());
    }
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", html.len());
    write!(stream, "{head}Content-Type: text/html\r\nConnection: close\r\n\r\n{html}")
}

#[test]
fn the_browser_and_its_profile_are_removed_even_if_a_test_panics() {
    let Some(mut browser) = launch() else { return };
    let profile = browser.profile().to_owned();
    let process = browser.process();
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        browser.open("about:blank", 100, 100).evaluate("throw 1");
    }));
    assert!(failed.is_err());
    assert!(!profile.exists());
    assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
}
