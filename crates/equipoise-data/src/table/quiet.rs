//! Turns a panic of a decoder into a value.
//!
//! The Parquet decoder checks much, but not all: some damaged files make it panic. Whoever reads a
//! stranger's file wants an error instead, and no stack trace on the terminal.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `decode`; a panic comes back as its message, unprinted. What `decode` holds must not be used
/// after that: it may be half changed.
pub(super) fn catch_panics<T>(decode: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    let before = QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(decode));
    QUIET.set(before);
    result.map_err(|payload| {
        payload
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| payload.downcast_ref::<&str>().map(|s| s.to_string()))
            .unwrap_or_else(|| "the decoder failed".to_string())
    })
}

/// Panics outside `catch_panics`, and on other threads, reach the hook that was there before.
fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::{QUIET, catch_panics};

    #[test]
    fn a_panic_becomes_its_message_and_quiet_ends() {
        let none = std::hint::black_box(None::<u8>);
        assert_eq!(catch_panics(|| 7), Ok(7));
        assert_eq!(catch_panics(|| none.expect("nothing there")), Err("nothing there".into()));
        assert_eq!(catch_panics(|| assert!(none.is_some(), "{} wrong", 1)), Err("1 wrong".into()));
        assert!(!QUIET.get());
    }
}
