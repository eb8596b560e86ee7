//! English words and phrases for the analysis of replies. The submodules contain only data.

pub(super) mod phrases;
pub(super) mod vocabulary;
