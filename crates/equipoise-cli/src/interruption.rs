//! Ctrl-C and other signals: remove unfinished files, then end as the signal alone would have.
//!
//! All threads block the signals, except one that waits for them, so no code runs inside a signal handler. In the end the
//! process sends the signal to itself: a shell then reports 130 for Ctrl-C and also stops the script or loop around it,
//! which it does not after an exit with code 130.

use std::mem::MaybeUninit;
use std::ptr;

use equipoise_data::remove_staged;
use libc::{SIGHUP, SIGINT, SIGTERM, c_int, sigset_t};

use crate::output::print_to_stderr;

/// The signals that end a program early: Ctrl-C, `kill`, and a terminal that is closed.
const SIGNALS: [c_int; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Waits for signals in a thread of its own. Call it before any other thread is started. Signals that are
/// already ignored, as under `nohup`, stay ignored.
pub(crate) fn watch() {
    let signals = set_of(SIGNALS.into_iter().filter(|&signal| !is_ignored(signal)));
    block(&signals);
    let waiting = std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = wait_for(&signals) {
            remove_staged();
            print_to_stderr("interrupted", "no unfinished files are left behind");
            end_by(signal, &signals);
        }
    });
    if waiting.is_err() {
        // Without the thread, a signal ends the program at once, as usual.
        unblock(&signals);
    }
}

fn is_ignored(signal: c_int) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action, this only writes the current one, of which all zeros is a valid value.
    #[allow(unsafe_code)]
    let action = unsafe {
        libc::sigaction(signal, ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

fn set_of(signals: impl Iterator<Item = c_int>) -> sigset_t {
    let mut set = MaybeUninit::<sigset_t>::uninit();
    // SAFETY: the first call initialises the set, and the others change it.
    #[allow(unsafe_code)]
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// Blocks signals in this thread and in those that it starts.
fn block(signals: &sigset_t) {
    // SAFETY: the set is initialised, and the old mask is not requested.
    #[allow(unsafe_code)]
    unsafe {
        libc::pthread_sigmask(libc::SIG_BLOCK, signals, ptr::null_mut());
    }
}

fn unblock(signals: &sigset_t) {
    // SAFETY: as above.
    #[allow(unsafe_code)]
    unsafe {
        libc::pthread_sigmask(libc::SIG_UNBLOCK, signals, ptr::null_mut());
    }
}

/// `None` if the system cannot wait for them.
fn wait_for(signals: &sigset_t) -> Option<c_int> {
    let mut signal = 0;
    // SAFETY: both pointers are valid for the call.
    #[allow(unsafe_code)]
    let result = unsafe { libc::sigwait(signals, &mut signal) };
    (result == 0).then_some(signal)
}

fn end_by(signal: c_int, signals: &sigset_t) -> ! {
    unblock(signals);
    // SAFETY: the signal has its default action, which ends the process.
    #[allow(unsafe_code)]
    unsafe {
        libc::raise(signal);
    }
    std::process::exit(128 + signal)
}
