//! Whoever is told that runs end, such as one that tells traces of them.

use holdshort_core::id::RunId;

/// Told by the node whose append ends a run, and by no other. Never in the way: all return at once.
pub trait Ends: Send + Sync {
    /// The append that would end it is about to be written.
    fn ending(&self, run: &RunId);
    /// It wrote nothing.
    fn goes_on(&self, run: &RunId);
    /// It is written, or perhaps: where its answer got lost the journal knows.
    fn ended(&self, run: &RunId);
}
