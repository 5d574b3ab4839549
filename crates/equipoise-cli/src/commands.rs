//! One file per command: its arguments, what it does, what it prints.

pub(crate) mod adapt;
pub(crate) mod arena;
pub(crate) mod audit;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod defend;
pub(crate) mod demo;
pub(crate) mod evaluate;
pub(crate) mod experiment;
pub(crate) mod export;
pub(crate) mod head;
pub(crate) mod keygen;
pub(crate) mod model;
pub(crate) mod predict;
pub(crate) mod privacy;
pub(crate) mod proxy;
pub(crate) mod round;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod setting;
pub(crate) mod split;
pub(crate) mod status;
pub(crate) mod submit;
pub(crate) mod validate_proxy;
pub(crate) mod verify;
