//! A response body that keeps its request running until the whole body is produced.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};

use super::connection::RunningExchange;

pub(super) struct TrackedBody {
    body: Body,
    _exchange: RunningExchange,
}

impl TrackedBody {
    pub(super) fn new(body: Body, exchange: RunningExchange) -> Self {
        Self { body, _exchange: exchange }
    }
}

impl hyper::body::Body for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
