//! Headless Chromium, controlled through DevTools.
//!
//! It can reach only loopback and local files. The browser and its profile are removed when [`Browser`] is
//! dropped, even if a test fails.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::devtools::Connection;
use crate::tab::Tab;

/// Names of the executable.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Headless, with a fresh profile, and without any connection except to loopback.
const FLAGS: [&str; 26] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--mute-audio",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-client-side-phishing-detection",
    "--disable-domain-reliability",
    "--disable-breakpad",
    "--disable-sync",
    "--disable-quic",
    "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication",
    "--metrics-recording-only",
    "--no-pings",
    "--no-proxy-server",
    "--password-store=basic",
    "--use-mock-keychain",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    "--remote-debugging-port=0",
    "--lang=en",
];

/// Long enough to start while other processes compile.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// How long the browser may take to exit by itself.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// A running browser.
pub(crate) struct Browser {
    process: Child,
    port: u16,
    connection: Option<Connection>,
    profile: TempDir,
}

impl Browser {
    /// Starts the browser; `None` if it is not installed.
    pub(crate) fn launch() -> Option<Self> {
        let program = find()?;
        let profile = tempfile::Builder::new().prefix("equipoise-browser-").tempdir().unwrap();
        let log = std::fs::File::create(profile.path().join("log")).unwrap();
        let process = Command::new(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().join("user").display()))
            .arg("about:blank")
            // Also keep its other files in the profile.
            .env("HOME", profile.path())
            .env("TMPDIR", profile.path())
            .env("XDG_CONFIG_HOME", profile.path().join("config"))
            .env("XDG_CACHE_HOME", profile.path().join("cache"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        // From here on the process is killed if anything fails.
        let mut browser = Self { process, port: 0, connection: None, profile };
        let (port, path) = browser.wait_for_port();
        browser.port = port;
        browser.connection = Some(Connection::open(port, &path));
        Some(browser)
    }

    /// Opens a page in a window of this size and waits until it is loaded.
    pub(crate) fn open(&mut self, url: &str, width: u32, height: u32) -> Tab {
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }));
        let id = target["targetId"].as_str().unwrap();
        let connection = Connection::open(self.port, &format!("/devtools/page/{id}"));
        let mut tab = Tab::new(connection, width, height);
        tab.go_to(url);
        tab
    }

    /// Name and version of the browser.
    pub(crate) fn version(&mut self) -> String {
        self.call("Browser.getVersion", json!({}))["product"].as_str().unwrap().to_owned()
    }

    /// The folder with all its files.
    pub(crate) fn profile(&self) -> &Path {
        self.profile.path()
    }

    /// Its process id.
    pub(crate) fn process(&self) -> u32 {
        self.process.id()
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.connection.as_mut().unwrap().call(method, params)
    }

    /// The port and path of DevTools, which the browser writes to a file once it is listening.
    fn wait_for_port(&mut self) -> (u16, String) {
        let file = self.profile.path().join("user/DevToolsActivePort");
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if let Some((port, path)) = text.split_once('\n')
                && path.starts_with("/devtools/browser/")
            {
                return (port.parse().unwrap(), path.trim().to_owned());
            }
            let ended = self.process.try_wait().unwrap();
            if ended.is_some() || Instant::now() > deadline {
                let log = std::fs::read_to_string(self.profile.path().join("log"));
                panic!("the browser did not start ({ended:?}): {}", log.unwrap_or_default());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // A clean exit also ends its child processes; otherwise it is killed.
        if let Some(connection) = &mut self.connection {
            let _ = connection.try_call("Browser.close", json!({}), EXIT_TIMEOUT);
        }
        let deadline = Instant::now() + EXIT_TIMEOUT;
        while self.connection.is_some()
            && matches!(self.process.try_wait(), Ok(None))
            && Instant::now() < deadline
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
        // A child process may still be writing.
        for _ in 0..50 {
            match std::fs::remove_dir_all(self.profile.path()) {
                Err(_) if self.profile.path().exists() => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                _ => break,
            }
        }
    }
}

/// Finds the browser in PATH.
fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}

/// The URL of a file.
pub(crate) fn file_url(path: &Path) -> String {
    let path = path.canonicalize().unwrap();
    let mut url = "file://".to_owned();
    for byte in path.to_str().unwrap().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                url.push(char::from(byte));
            }
            _ => url += &format!("%{byte:02X}"),
        }
    }
    url
}
