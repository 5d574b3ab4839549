//! Turns a panic of a decoder into an error.
//!
//! Some damaged files make the Parquet decoder panic. A reader of untrusted files needs an error instead, without
//! a stack trace on the terminal.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `decode` and returns the message of a panic without printing it. After a panic, what `decode` changed
/// must not be used.
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

/// Other panics still reach the previous hook.
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
    fn a_panic_becomes_its_message_and_is_not_silenced_later() {
        let none = std::hint::black_box(None::<u8>);
        assert_eq!(catch_panics(|| 7), Ok(7));
        assert_eq!(catch_panics(|| none.expect("nothing there")), Err("nothing there".into()));
        assert_eq!(catch_panics(|| assert!(none.is_some(), "{} wrong", 1)), Err("1 wrong".into()));
        assert!(!QUIET.get());
    }
}
