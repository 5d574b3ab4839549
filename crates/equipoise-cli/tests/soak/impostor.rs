//! Requests with headers that were copied or forged. None may change what the server has accepted.

use equipoise_server::protocol::PrivateKey;

use crate::plan::{Forgery, Replay};
use crate::random::Random;
use crate::requests::{COMMON, path, put_head};
use crate::round::Round;
use crate::site::Site;
use crate::uploads::Upload;
use crate::wire::Reply;

/// Sends a genuine request of a client to another address, or with another body.
pub(crate) fn replay(
    site: &Site<'_>,
    rounds: &[Round],
    round: &Round,
    client: usize,
    kind: Replay,
    random: &mut Random,
) -> String {
    let upload = Upload::honest(site, round, client, 0);
    let head = site.put_head(client, &upload.manifest, 0);
    let genuine = path(&upload.manifest);
    let reply = match kind {
        Replay::Body => {
            // Leaves the wrong bytes, or some of them, in the client's part.
            let body = vec![b'7'; upload.file.len() as usize];
            let sent = random.pick(&[body.len(), body.len() / 2]);
            if sent < body.len() {
                if let Ok(mut peer) = site.wire.connect() {
                    peer.write_pieces(&[head.as_bytes(), &body[..sent]]);
                    peer.hang_up();
                }
                return "hung up".to_owned();
            }
            let reply = site.wire.send(&[head.as_bytes(), &body]);
            // The server may return the stored receipt, if it has the genuine file.
            site.report.require(round.check_reply(site, client, &upload.manifest, &reply));
            return reply.outcome();
        }
        Replay::Round => {
            let other = rounds.iter().find(|other| other.name() != round.name()).unwrap();
            let path = genuine.replace(round.name(), other.name());
            site.wire.send(&[head.replace(&genuine, &path).as_bytes(), &upload.file.bytes])
        }
        Replay::Client => {
            let other = (client + 1) % round.plan.n_clients;
            let name = |client: usize| site.keys[client].name().to_string();
            let path = genuine.replace(&name(client), &name(other));
            site.wire.send(&[head.replace(&genuine, &path).as_bytes(), &upload.file.bytes])
        }
    };
    must_be_refused(site, &format!("a request with another {kind:?}"), &reply);
    reply.outcome()
}

/// Sends a request that no client of the round signed.
pub(crate) fn forge(
    site: &Site<'_>,
    round: &Round,
    client: usize,
    kind: Forgery,
    random: &mut Random,
) -> String {
    let upload = Upload::honest(site, round, client, 1);
    let mut manifest = upload.manifest.clone();
    let mut key = site.keys[client].clone();
    match kind {
        Forgery::WrongKey => {
            key = PrivateKey::from_seed(manifest.client.clone(), [random.next() as u8; 32]);
        }
        Forgery::UnknownClient => manifest.client = "nobody".parse().unwrap(),
        Forgery::UnknownRound => manifest.round = "nowhere".parse().unwrap(),
        Forgery::OtherAudience => manifest.audience = "https://elsewhere.example".to_owned(),
        Forgery::Garbage | Forgery::NoHeaders => {}
    }
    let mut head = put_head(&manifest, &key, 0, "");
    if kind == Forgery::Garbage {
        head = head.replace("equipoise-manifest: ", "equipoise-manifest: ????");
    }
    if kind == Forgery::NoHeaders {
        let length = upload.file.len();
        head =
            format!("PUT {} HTTP/1.1\r\n{COMMON}content-length: {length}\r\n\r\n", path(&manifest));
    }
    let reply = site.wire.send(&[head.as_bytes(), &upload.file.bytes]);
    must_be_refused(site, &format!("{kind:?}"), &reply);
    reply.outcome()
}

/// 401, 429 after many failures, or nothing, if the server hung up before the whole body was sent.
fn must_be_refused(site: &Site<'_>, what: &str, reply: &Reply) {
    if !matches!(reply.status, 0 | 401 | 429 | 503) {
        site.report.violation(format!("{what} got {}", reply.outcome()));
    }
}
