//! Capabilities (`capabilities(7)`): those that the first stages need, and the few that a command keeps.

use std::io;

use rustix::thread::{self, CapabilitySet, CapabilitySets};

/// What a command that runs as root keeps: handling files of several owners. Nothing about the machine.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// What `init` needs: mounts, the loopback device, giving capabilities up, and for an overlay, which works with the
/// rights of who mounts it, its own folder that is closed to its owner.
const FOR_INIT: [CapabilitySet; 4] =
    [CapabilitySet::SYS_ADMIN, CapabilitySet::NET_ADMIN, CapabilitySet::SETPCAP, CapabilitySet::DAC_OVERRIDE];

/// Lets the next program keep what `init` needs although it is not root's.
pub(super) fn keep_for_init() -> io::Result<()> {
    let mut sets = thread::capabilities(None)?;
    sets.inheritable = FOR_INIT.into_iter().fold(CapabilitySet::empty(), CapabilitySet::union);
    thread::set_capabilities(None, sets)?;
    for capability in FOR_INIT {
        thread::configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Gives up everything else for good. Together with no-new-privileges no later program gets it back.
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
            // Beyond the last one that the kernel knows.
            Err(_) => break,
        }
        // Without the right to do so there is nothing to give up either: the set binds who has capabilities.
        let _ = thread::remove_capability_from_bounding_set(capability);
    }
    let permitted = thread::capabilities(None)?.permitted.intersection(kept);
    thread::set_capabilities(
        None,
        CapabilitySets { effective: permitted, permitted, inheritable: CapabilitySet::empty() },
    )?;
    Ok(())
}
