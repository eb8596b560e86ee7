//! Tools and workflows that packs add to a server.

use holdshort_core::tool::Spec;
use holdshort_edges::crew::ReadCase;
use holdshort_tools::{Toolset, catalogue};
use holdshort_workflow::Shipped;

/// Tools and workflows that packs add to a server. By default there are none.
#[derive(Clone, Debug, Default)]
pub struct Packs {
    pub toolsets: Vec<&'static dyn Toolset>,
    pub workflows: Vec<&'static Shipped>,
    /// Function of a pack that reads the cases which clients of the crew edge send.
    pub read_case: Option<ReadCase>,
}

impl Packs {
    /// Returns the built-in tools and the tools of packs.
    pub fn catalogue(&self) -> Vec<Spec> {
        catalogue(&self.toolsets)
    }
}
