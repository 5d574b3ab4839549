//! Descriptors that the server inherited from whatever started it, and that the child inherited from the server. Rust
//! marks its own descriptors as close-on-exec; those of other programs need not be.

use std::io;

/// Closes all descriptors above standard error.
#[allow(unsafe_code)]
pub(super) fn close() -> io::Result<()> {
    // SAFETY: the process has just started and has not opened anything, so no object owns one of these descriptors.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3u32, u32::MAX, 0u32) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
