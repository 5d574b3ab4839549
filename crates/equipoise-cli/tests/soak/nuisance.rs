//! Peers that take connections and give nothing back, and visitors of the pages.

use std::io::Read as _;
use std::time::Duration;

use crate::plan::Listener;
use crate::random::Random;
use crate::requests::COMMON;
use crate::round::Round;
use crate::site::Site;
use crate::uploads::sleep_ms;

/// Sends many requests on one connection and reads no reply.
pub(crate) fn send_unread(site: &Site<'_>, random: &mut Random) -> String {
    let Ok(mut peer) = site.wire.connect() else { return "no connection".to_owned() };
    let request = "GET /v1/openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let _ = peer.socket().set_write_timeout(Some(Duration::from_millis(200)));
    let all_sent = peer.write_pieces(&[request.repeat(random.range(10, 300) as usize).as_bytes()]);
    site.hold(peer, Duration::from_millis(random.range(500, 8000)));
    if all_sent { "held".to_owned() } else { "held, some not sent".to_owned() }
}

/// Opens an event stream.
pub(crate) fn listen(
    site: &Site<'_>,
    round: &Round,
    listener: Listener,
    random: &mut Random,
) -> String {
    let Ok(mut peer) = site.wire.connect() else { return "no connection".to_owned() };
    let path = format!("/v1/rounds/{}/events", round.name());
    peer.write_pieces(&[format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()]);
    match listener {
        Listener::Leaves => {
            sleep_ms(random.below(5));
            peer.hang_up();
            "hung up".to_owned()
        }
        Listener::Stalls => {
            site.hold(peer, Duration::from_millis(random.range(500, 8000)));
            "held".to_owned()
        }
        Listener::Reads => {
            let _ = peer.socket().set_read_timeout(Some(Duration::from_millis(400)));
            let (mut text, mut chunk) = (String::new(), [0; 4096]);
            while let Ok(n @ 1..) = peer.read(&mut chunk) {
                text += &String::from_utf8_lossy(&chunk[..n]);
            }
            let status = text.split(' ').nth(1).unwrap_or_default().to_owned();
            match status.as_str() {
                "200" if text.contains("event: round") => "200, read".to_owned(),
                // The reply may not have come in time, or the server was killed.
                "" | "200" | "503" | "429" => format!("{status}, no event"),
                _ => {
                    site.report.violation(format!("an event stream got {status}"));
                    status
                }
            }
        }
    }
}

/// Sends half a request and waits.
pub(crate) fn send_half_a_header(site: &Site<'_>, random: &mut Random) -> String {
    let Ok(mut peer) = site.wire.connect() else { return "no connection".to_owned() };
    peer.write_pieces(&[b"GET /v1/rounds HTTP/1.1\r\nhost: local"]);
    site.hold(peer, Duration::from_millis(random.range(500, 15_000)));
    "held".to_owned()
}

/// Visits an address, sometimes a strange one.
pub(crate) fn browse(site: &Site<'_>, round: &Round, random: &mut Random) -> String {
    let name = round.name();
    let paths = [
        "/".to_owned(),
        "/v1/rounds".to_owned(),
        "/v1/openapi.json".to_owned(),
        format!("/v1/rounds/{name}"),
        format!("/v1/rounds/{name}/schema"),
        format!("/v1/rounds/{name}/files/model.json"),
        format!("/v1/rounds/{name}/files/..%2f..%2fserver.key"),
        format!("/v1/rounds/{name}/clients"),
        format!("/rounds/{name}"),
        "/v1/rounds/none".to_owned(),
        format!("/{}", "x".repeat(3000)),
    ];
    let path = &paths[random.below(paths.len() as u64) as usize];
    let method = random.pick(&["GET", "GET", "GET", "HEAD", "DELETE", "POST"]);
    let request = format!("{method} {path} HTTP/1.1\r\n{COMMON}content-length: 0\r\n\r\n");
    let reply = site.wire.send(&[request.as_bytes()]);
    if reply.status >= 500 && reply.status != 503 {
        site.report.violation(format!("{method} {path} got {}", reply.outcome()));
    }
    reply.status.to_string()
}
