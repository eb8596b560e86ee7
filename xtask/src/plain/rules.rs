//! Rules for plain prose, as data: openings and phrases that make a sentence hard to read.
//!
//! A sentence that matches a rule should nearly always be rewritten.

/// Openings of sentences without a subject, as regular expressions. They match only at the start of a sentence.
pub(super) const OPENINGS: [&str; 18] = [
    "What",
    "Whom",
    "Whoever",
    "Whatever",
    "Which",
    "Whose",
    "Of (whom|which|what|a|an|the|each|every|all|those|it|them)",
    "That (a|an|the|it|no|some)",
    "The same",
    "Whether",
    "Nobody|Nothing",
    "Those (who|that|of)",
    "Who ",
    "So many|So much|No more",
    "And ",
    "As (the|a|it|they|that)",
    "How (it|they|many|much|long|a|the)",
    "Where (it|a|the|there|no|some|they)",
];

/// Headings that may begin with one of [`OPENINGS`].
pub(super) const HEADINGS: [&str; 1] = ["What can go wrong"];

/// Phrases for which a noun or a verb of the field should be used instead, as regular expressions. They match whole
/// words only.
pub(super) const PHRASES: [&str; 29] = [
    "whoever|whomever",
    "(of|for|to|by|with) whom",
    "what (nobody|somebody|comes of|came of|stands|is told|was told|it is told)",
    "(comes|came) of it",
    "is no news",
    "as it is said",
    "says? so",
    "is said of",
    "(is|are|was) told|to be told",
    "is there (already|yet|no)",
    "that there (is|are)",
    "stands? (there|in|beside|behind|before|for ever)",
    "in (its|their|somebody's) place of",
    "lets? (in|nobody|somebody)",
    "counts? (for|as|beside)",
    "no (folder|person|secret|token|call|name|file|approver|reader) (is|may|has|of)",
    "is no (folder|secret|approver|person|answer|file|reader|end|news|member)",
    "beside (that|it|them)",
    "meanwhile",
    "at work",
    "for (good|ever)",
    "hears? (of|it|its|their|his)",
    "who (has|have) seen nothing",
    "anew",
    "can not",
    "nobody (may|has|is|can)",
    "in (its|their|his|the) place",
    "somebody",
    "let go on",
];
