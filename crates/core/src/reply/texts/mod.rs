//! English words and phrases for the analysis of replies. Data only.

pub(super) mod phrases;
pub(super) mod vocabulary;
