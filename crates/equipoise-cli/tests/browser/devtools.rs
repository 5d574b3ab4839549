//! A connection to the browser's DevTools: calls that are answered, and events that come in between.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};

/// No answer takes longer, not even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a wait looks at the clock.
const TICK: Duration = Duration::from_millis(50);

pub(crate) struct Connection {
    socket: WebSocket<TcpStream>,
    last_id: u64,
    events: Vec<Event>,
}

/// Something that the browser told without being asked.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) method: String,
    pub(crate) params: Value,
}

impl Connection {
    /// Connects to a path of the browser that listens on this port of loopback.
    pub(crate) fn open(port: u16, path: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        // A picture of a long page comes as one message.
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let url = format!("ws://127.0.0.1:{port}{path}");
        let (socket, _) = tungstenite::client::client_with_config(url, stream, Some(config))
            .unwrap_or_else(|error| panic!("DevTools do not answer: {error}"));
        socket.get_ref().set_read_timeout(Some(TICK)).unwrap();
        Self { socket, last_id: 0, events: Vec::new() }
    }

    /// Calls a method and waits for its result.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params, PATIENCE)
            .unwrap_or_else(|reason| panic!("DevTools, {method}: {reason}"))
    }

    /// Calls a method; tells if it failed, if nothing came, or if the browser is gone.
    pub(crate) fn try_call(
        &mut self,
        method: &str,
        params: Value,
        patience: Duration,
    ) -> Result<Value, String> {
        self.last_id += 1;
        let request = json!({ "id": self.last_id, "method": method, "params": params });
        self.socket.send(Message::text(request.to_string())).map_err(|error| error.to_string())?;
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            let Some(message) = self.receive()? else { continue };
            if message["id"] == self.last_id {
                return match message.get("error") {
                    Some(error) => Err(error.to_string()),
                    None => Ok(message["result"].clone()),
                };
            }
        }
        Err(format!("no answer within {} s", patience.as_secs()))
    }

    /// Waits until an event, old or new, is of this kind.
    pub(crate) fn wait_for(&mut self, what: &str, wanted: impl Fn(&Event) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !self.events.iter().any(&wanted) {
            assert!(Instant::now() < deadline, "DevTools: no {what} within {PATIENCE:?}");
            self.receive().unwrap_or_else(|reason| panic!("DevTools: {reason}"));
        }
    }

    /// Waits until nothing has come for so long.
    pub(crate) fn wait_for_silence(&mut self, silence: Duration) {
        let mut last = Instant::now();
        let deadline = last + PATIENCE;
        while last.elapsed() < silence && Instant::now() < deadline {
            if self.receive().unwrap_or_else(|reason| panic!("DevTools: {reason}")).is_some() {
                last = Instant::now();
            }
        }
    }

    /// All events so far, or since they were last forgotten.
    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    pub(crate) fn forget_events(&mut self) {
        self.events.clear();
    }

    /// One message, if one comes within a tick. Events are kept.
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
