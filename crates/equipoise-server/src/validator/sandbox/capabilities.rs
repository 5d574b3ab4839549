//! A server that runs as root would otherwise give its children the right to override permissions and limits.

use rustix::io::Result;
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

/// Gives up all capabilities for good.
pub(super) fn drop_all() -> Result<()> {
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}
