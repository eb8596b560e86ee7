//! Share of the machine's processor time that a phase of `verify` uses, in percent. In a phase with a low share, the
//! machine mostly waits.

/// Processor times of the machine since its start, in clock ticks (`proc_stat(5)`), of all processors together.
#[derive(Clone, Copy)]
pub(crate) struct Processors {
    all: u64,
    idle: u64,
}

impl Processors {
    /// Reads the current times of the processors. Returns `None` if the system does not report them.
    pub(crate) fn now() -> Option<Self> {
        Self::read(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    fn read(stat: &str) -> Option<Self> {
        let ticks = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
        // The first two numbers already include the time of virtual guests.
        let ticks: Vec<u64> = ticks.take(8).map(|ticks| ticks.parse().ok()).collect::<Option<_>>()?;
        Some(Self { all: ticks.iter().sum(), idle: ticks.get(3)? + ticks.get(4)? })
    }

    /// Returns the percentage of the machine's processor time that was used since this reading.
    pub(crate) fn busy(self) -> Option<u64> {
        Self::now().and_then(|now| self.busy_until(now))
    }

    fn busy_until(self, now: Self) -> Option<u64> {
        let all = now.all.checked_sub(self.all)?;
        let idle = now.idle.checked_sub(self.idle)?;
        (100 * all.checked_sub(idle)?).checked_div(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_of_all_processors() {
        let read = |stat| Processors::read(stat).unwrap();
        let before = read("cpu  10 0 10 70 10 0 0 0 0 0\ncpu0 1 2 3\n");
        let after = read("cpu  30 0 20 90 20 0 0 0 5 0\n");
        assert_eq!(before.busy_until(after), Some(50));
        assert_eq!(before.busy_until(before), None);
        assert!(Processors::read("intr 1 2 3").is_none());
    }
}
