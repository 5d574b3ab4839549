//! Path parameters, such as a round's name. A segment that cannot be decoded is refused like any bad request.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::reply::Refused;
use crate::protocol::Refusal;

pub(super) struct Segments<T>(pub(super) T);

/// A round and a client or file. Not parsed yet: an invalid name is answered like an unknown one.
pub(super) type TwoSegments = (String, String);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Segments<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(segments)) => Ok(Self(segments)),
            Err(_) => Err(Refusal::BadRequest("the decoded path is not UTF-8".into()).into()),
        }
    }
}
