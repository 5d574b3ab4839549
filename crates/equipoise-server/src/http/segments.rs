//! The parts of an address, such as a round's name. What cannot be decoded is refused like everything else.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::reply::Refused;
use crate::protocol::Refusal;

/// The parameters of an address, as typed.
pub(super) struct Segments<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Segments<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(segments)) => Ok(Self(segments)),
            Err(_) => {
                let what = "the address is not UTF-8 behind its percent signs".to_owned();
                Err(Refused(Refusal::BadRequest { what }))
            }
        }
    }
}
