//! Capabilities (`capabilities(7)`) that the first stages need, and the few that a command keeps.

use std::io;

use rustix::thread::{self, CapabilitySet, CapabilitySets};

/// Capabilities that a command of root keeps, to handle files of several owners. None concerns the machine.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// Capabilities that `init` needs for mounts, for the loopback device, and to give capabilities up. An overlay acts
/// with the rights of the process that mounts it: `DAC_OVERRIDE` opens its own folder that is closed to its owner.
const FOR_INIT: [CapabilitySet; 4] =
    [CapabilitySet::SYS_ADMIN, CapabilitySet::NET_ADMIN, CapabilitySet::SETPCAP, CapabilitySet::DAC_OVERRIDE];

/// Keeps the capabilities of `init` across the next `execve`, although the user is not root.
pub(super) fn keep_for_init() -> io::Result<()> {
    let mut sets = thread::capabilities(None)?;
    sets.inheritable = FOR_INIT.into_iter().fold(CapabilitySet::empty(), CapabilitySet::union);
    thread::set_capabilities(None, sets)?;
    for capability in FOR_INIT {
        thread::configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Drops all other capabilities. Together with no-new-privileges, no later program regains them.
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
            // This capability is beyond the last one that the kernel knows.
            Err(_) => break,
        }
        // Without the right to change this set there is nothing to drop: it limits only processes with capabilities.
        let _ = thread::remove_capability_from_bounding_set(capability);
    }
    let permitted = thread::capabilities(None)?.permitted.intersection(kept);
    thread::set_capabilities(
        None,
        CapabilitySets { effective: permitted, permitted, inheritable: CapabilitySet::empty() },
    )?;
    Ok(())
}
