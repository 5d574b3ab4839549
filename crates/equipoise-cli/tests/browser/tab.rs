//! A tab of the browser.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::devtools::{Connection, Event, TIMEOUT};

/// The media to emulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    /// A screen with a light colour scheme.
    Light,
    /// A screen with a dark colour scheme.
    Dark,
    /// Paper.
    Print,
}

/// An open page.
pub(crate) struct Tab {
    connection: Connection,
    url: String,
}

/// A page that has been silent for this long has finished its work.
const SILENCE: Duration = Duration::from_millis(150);

impl Tab {
    /// An empty tab of this size that reports all its events.
    pub(crate) fn new(mut connection: Connection, width: u32, height: u32) -> Self {
        for domain in ["Page", "Runtime", "Log", "Network", "Audits"] {
            connection.call(&format!("{domain}.enable"), json!({}));
        }
        connection.call("Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        connection.call("Emulation.setDeviceMetricsOverride", size);
        Self { connection, url: "about:blank".to_owned() }
    }

    /// Opens a page and waits until it is loaded. Events of earlier pages are discarded.
    pub(crate) fn go_to(&mut self, url: &str) {
        self.url = url.to_owned();
        self.connection.forget_events();
        let page = self.connection.call("Page.navigate", json!({ "url": url }));
        assert!(page["errorText"].is_null(), "{url} cannot be opened: {page}");
        let loader = page["loaderId"].clone();
        self.connection.wait_for(&format!("end of loading {url}"), |event| {
            event.method == "Page.lifecycleEvent"
                && event.params["name"] == "load"
                && event.params["loaderId"] == loader
        });
    }

    /// Reloads the page with scripts enabled or disabled.
    pub(crate) fn reload(&mut self, javascript: bool) {
        let off = json!({ "value": !javascript });
        self.connection.call("Emulation.setScriptExecutionDisabled", off);
        let url = self.url.clone();
        self.go_to(&url);
    }

    /// Emulates other media.
    pub(crate) fn emulate(&mut self, media: Media) {
        let colours = if media == Media::Dark { "dark" } else { "light" };
        let params = json!({
            "media": if media == Media::Print { "print" } else { "screen" },
            "features": [{ "name": "prefers-color-scheme", "value": colours }],
        });
        self.connection.call("Emulation.setEmulatedMedia", params);
    }

    /// Evaluates an expression, and waits for it if it is a promise.
    pub(crate) fn evaluate(&mut self, js: &str) -> Value {
        self.try_evaluate(js).unwrap_or_else(|reason| panic!("{js}: {reason}"))
    }

    /// The same, or why the browser could not: the page may be replaced by another meanwhile.
    pub(crate) fn try_evaluate(&mut self, js: &str) -> Result<Value, String> {
        let params = json!({ "expression": js, "returnByValue": true, "awaitPromise": true });
        let result = self.connection.try_call("Runtime.evaluate", params, TIMEOUT)?;
        assert!(result["exceptionDetails"].is_null(), "{js}: {}", result["exceptionDetails"]);
        Ok(result["result"]["value"].clone())
    }

    /// What a page must not do: console warnings and errors, exceptions, policy violations, and requests for
    /// anything but itself.
    pub(crate) fn console_errors(&mut self) -> Vec<String> {
        self.connection.wait_for_silence(SILENCE);
        let mut errors: Vec<String> =
            self.connection.events().iter().filter_map(|event| self.error(event)).collect();
        errors.dedup();
        errors
    }

    /// Saves a screenshot of the whole page as PNG.
    pub(crate) fn screenshot(&mut self, file: &Path) {
        let size =
            self.connection.call("Page.getLayoutMetrics", json!({}))["cssContentSize"].take();
        let (width, height) = (&size["width"], &size["height"]);
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let params = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let picture = self.connection.call("Page.captureScreenshot", params);
        std::fs::write(file, decode_base64(picture["data"].as_str().unwrap())).unwrap();
    }

    fn error(&self, event: &Event) -> Option<String> {
        let params = &event.params;
        match event.method.as_str() {
            "Runtime.consoleAPICalled" => {
                let kind = params["type"].as_str()?;
                let texts = params["args"].as_array()?.iter().map(|arg| {
                    arg.get("value").or(arg.get("description")).unwrap_or(arg).to_string()
                });
                matches!(kind, "error" | "warning" | "assert")
                    .then(|| format!("console {kind}: {}", texts.collect::<Vec<_>>().join(" ")))
            }
            "Runtime.exceptionThrown" => {
                let details = &params["exceptionDetails"];
                let description = &details["exception"]["description"];
                Some(format!("exception: {}", description.as_str().or(details["text"].as_str())?))
            }
            "Log.entryAdded" => {
                let entry = &params["entry"];
                let level = entry["level"].as_str()?;
                matches!(level, "error" | "warning")
                    .then(|| format!("log {level}: {} {}", entry["text"], entry["url"]))
            }
            "Audits.issueAdded" => {
                let issue = &params["issue"];
                (issue["code"] == "ContentSecurityPolicyIssue").then(|| format!("policy: {issue}"))
            }
            "Network.requestWillBeSent" => {
                let url = params["request"]["url"].as_str()?;
                // The page's own URL may have a fragment.
                let itself = params["type"] == "Document" && url == without_fragment(&self.url);
                let inside = url.starts_with("data:") || url.starts_with("blob:");
                (!itself && !inside).then(|| format!("request: {url}"))
            }
            "Network.webSocketCreated" => Some(format!("request: {}", params["url"])),
            // An open stream is cancelled with its page.
            "Network.loadingFailed" if params["canceled"] == true => None,
            "Network.loadingFailed" => Some(format!("failed request: {}", params["errorText"])),
            _ => None,
        }
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        // If the browser is gone, so is the page.
        let _ = self.connection.try_call("Page.close", json!({}), Duration::from_secs(5));
    }
}

fn without_fragment(url: &str) -> &str {
    url.split('#').next().unwrap_or(url)
}

/// Decodes the browser's screenshots, without checking for errors.
fn decode_base64(text: &str) -> Vec<u8> {
    let sextets = text.bytes().filter_map(|byte| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    });
    let (mut bytes, mut bits, mut n_bits) = (Vec::new(), 0_u32, 0);
    for sextet in sextets {
        bits = bits << 6 | u32::from(sextet);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits & 0xff) as u8);
        }
    }
    bytes
}
