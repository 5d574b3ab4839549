//! A connection to the browser's DevTools: calls with replies, and events in between.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};

/// Longest wait for a reply, even on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// How often a wait checks the clock.
const TICK: Duration = Duration::from_millis(50);

pub(crate) struct Connection {
    socket: WebSocket<TcpStream>,
    last_id: u64,
    events: Vec<Event>,
}

/// A message from the browser that is not a reply.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) method: String,
    pub(crate) params: Value,
}

impl Connection {
    /// Connects to a path of the browser that listens on this loopback port.
    pub(crate) fn open(port: u16, path: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        stream.set_write_timeout(Some(TIMEOUT)).unwrap();
        // A screenshot of a long page is a single message.
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let url = format!("ws://127.0.0.1:{port}{path}");
        let (socket, _) = tungstenite::client::client_with_config(url, stream, Some(config))
            .unwrap_or_else(|error| panic!("cannot connect to DevTools: {error}"));
        socket.get_ref().set_read_timeout(Some(TICK)).unwrap();
        Self { socket, last_id: 0, events: Vec::new() }
    }

    /// Calls a method and waits for its result.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params, TIMEOUT)
            .unwrap_or_else(|reason| panic!("DevTools, {method}: {reason}"))
    }

    /// Calls a method. The error is the browser's, a timeout or a closed connection.
    pub(crate) fn try_call(
        &mut self,
        method: &str,
        params: Value,
        timeout: Duration,
    ) -> Result<Value, String> {
        self.last_id += 1;
        let request = json!({ "id": self.last_id, "method": method, "params": params });
        self.socket.send(Message::text(request.to_string())).map_err(|error| error.to_string())?;
        let deadline = Instant::now() + timeout;
        while Instant::now() < deadline {
            let Some(message) = self.receive()? else { continue };
            if message["id"] == self.last_id {
                return match message.get("error") {
                    Some(error) => Err(error.to_string()),
                    None => Ok(message["result"].clone()),
                };
            }
        }
        Err(format!("no reply within {} s", timeout.as_secs()))
    }

    /// Waits for an event that matches, including earlier ones.
    pub(crate) fn wait_for(&mut self, what: &str, matches: impl Fn(&Event) -> bool) {
        let deadline = Instant::now() + TIMEOUT;
        while !self.events.iter().any(&matches) {
            assert!(Instant::now() < deadline, "DevTools: no {what} within {TIMEOUT:?}");
            self.receive().unwrap_or_else(|reason| panic!("DevTools: {reason}"));
        }
    }

    /// Waits until no message has arrived for this long.
    pub(crate) fn wait_for_silence(&mut self, silence: Duration) {
        let mut last = Instant::now();
        let deadline = last + TIMEOUT;
        while last.elapsed() < silence && Instant::now() < deadline {
            if self.receive().unwrap_or_else(|reason| panic!("DevTools: {reason}")).is_some() {
                last = Instant::now();
            }
        }
    }

    /// All events since the last call of `forget_events`.
    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    pub(crate) fn forget_events(&mut self) {
        self.events.clear();
    }

    /// One message, if one arrives within a tick. Events are recorded.
    fn receive(&mut self) -> Result<Option<Value>, String> {
        let text = match self.socket.read() {
            Ok(Message::Text(text)) => text,
            Ok(_) => return Ok(None),
            Err(Error::Io(error))
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(format!("the connection ended: {error}")),
        };
        let message: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        if let Some(method) = message["method"].as_str() {
            let event = Event { method: method.to_owned(), params: message["params"].clone() };
            self.events.push(event);
        }
        Ok(Some(message))
    }
}
