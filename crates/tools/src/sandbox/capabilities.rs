//! The capabilities (`capabilities(7)`) that the first two stages of the sandbox need, and the few that a command
//! keeps.

use std::io;

use rustix::thread::{self, CapabilitySet, CapabilitySets};

/// Capabilities that a sandboxed command keeps if it runs as root, so that it can handle files of several owners. None
/// of these capabilities has an effect outside the sandbox.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// Capabilities that the sandbox process `init` needs to mount file systems, to raise the loopback device, and to drop
/// capabilities. The kernel accesses an overlay with the permissions of the process that mounted it. `DAC_OVERRIDE`
/// lets the kernel access the overlay's working folder, whose mode denies access even to its owner.
const FOR_INIT: [CapabilitySet; 4] =
    [CapabilitySet::SYS_ADMIN, CapabilitySet::NET_ADMIN, CapabilitySet::SETPCAP, CapabilitySet::DAC_OVERRIDE];

/// Keeps the capabilities of the sandbox process `init` across the next `execve`, even if the user is not root.
pub(super) fn keep_for_init() -> io::Result<()> {
    let mut sets = thread::capabilities(None)?;
    sets.inheritable = FOR_INIT.into_iter().fold(CapabilitySet::empty(), CapabilitySet::union);
    thread::set_capabilities(None, sets)?;
    for capability in FOR_INIT {
        thread::configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Keeps only the capabilities in [`KEPT`], and none if the user is not root. No-new-privileges is set too, so a
/// program that starts later cannot regain a capability.
pub(super) fn give_up(is_root: bool) -> io::Result<()> {
    thread::clear_ambient_capability_set()?;
    let kept = if is_root { KEPT } else { CapabilitySet::empty() };
    for bit in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << bit);
        if kept.contains(capability) {
            continue;
        }
        match thread::capability_is_in_bounding_set(capability) {
            Ok(true) => {}
            Ok(false) => continue,
            // The kernel does not support this capability or any capability with a higher number.
            Err(_) => break,
        }
        // Ignores the error of a process without permission to change this set. The set matters only for processes with
        // capabilities.
        let _ = thread::remove_capability_from_bounding_set(capability);
    }
    let permitted = thread::capabilities(None)?.permitted.intersection(kept);
    thread::set_capabilities(
        None,
        CapabilitySets { effective: permitted, permitted, inheritable: CapabilitySet::empty() },
    )?;
    Ok(())
}
