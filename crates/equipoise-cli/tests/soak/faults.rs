//! Faults of the process, each followed by a restart.

use std::time::Duration;

use crate::site::Site;

/// The drain of 3 seconds in the configuration, and time for a busy machine.
const TERMINATES_IN: Duration = Duration::from_secs(20);

/// Kills the server as by kill -9, and starts it again.
pub(crate) fn kill(site: &Site<'_>) -> String {
    let mut server = site.server();
    if let Some(mut running) = server.take() {
        site.sample(&running);
        running.kill();
    }
    site.start(&mut server);
    "restarted".to_owned()
}

/// Stops the server with SIGTERM, runs `work`, and starts it again.
pub(crate) fn terminate(site: &Site<'_>, work: impl FnOnce()) -> String {
    let mut server = site.server();
    if let Some(mut running) = server.take() {
        site.sample(&running);
        match running.terminate(TERMINATES_IN) {
            Some(status) if status.success() => {}
            Some(status) => {
                site.report.violation(format!("SIGTERM ended the server with {status}"))
            }
            None => site.report.violation("SIGTERM did not end the server"),
        }
    }
    work();
    site.start(&mut server);
    "restarted".to_owned()
}

/// Sends SIGHUP, at which the server reads its certificate again.
pub(crate) fn reload(site: &Site<'_>) -> String {
    if let Some(server) = site.server().as_ref() {
        server.signal("HUP");
    }
    "sent".to_owned()
}
