//! What replies are compared with: words and phrases of English. Data only.

pub(super) mod phrases;
pub(super) mod words;
