//! Named limits of a case. Holds numbers only.

/// Maximum bytes of one table. A larger table is refused with `file_too_large`.
pub const FILE_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of transactions of a case, because all of them are held in memory. A case with more is refused with
/// `too_many_rows`.
pub const TRANSACTIONS: usize = 500_000;
/// Maximum number of customers of a case. A case with more is refused with `too_many_rows`.
pub const CUSTOMERS: usize = 20_000;
/// Maximum number of entries of the watch list. A case with more is refused with `too_many_rows`.
pub const WATCHED: usize = 20_000;
/// Maximum number of words of a name that are compared. Further words are ignored.
pub const NAME_WORDS: usize = 16;
/// Maximum number of letters of a word that are compared, after transliteration. Further letters are ignored.
pub const WORD_LETTERS: usize = 32;
/// Maximum number of Chinese characters of a company form or a common word in the rules. Longer entries match no
/// name.
pub const HAN_PHRASE: usize = 8;
/// Cost of comparing one word of a name, in letters. It is added to the cost of the letters of the word.
pub const WORD_COST: usize = 8;
/// Maximum cost of comparing names with the watch list. The cost of a name is its number of letters plus 8 for each
/// word. The cost of all names of the list is multiplied by the cost of all names of the case. The maximum is enough
/// for 20 million pairs of usual names, about 25 seconds of computing. A case with more is refused with
/// `too_many_names`.
pub const COMPARISONS: u64 = 25_000_000_000;
/// Maximum number of columns of a table. A table with more is refused with `cells`.
pub const COLUMNS: usize = 100;
/// Maximum bytes of a table cell. A case with a longer cell is refused with `cell_too_long`.
pub const CELL_BYTES: usize = 1_000;
/// Maximum number of aliases of one entry of the watch list. A case with more is refused with `cell_too_long`.
pub const ALIASES: usize = 20;
/// Maximum number of problems that are listed. Further problems are only counted.
pub const PROBLEMS: usize = 50;
/// Maximum bytes of `rules.yaml`. A larger file is refused with `bad_rules`.
pub const RULES_BYTES: usize = 64 * 1024;
/// Maximum number of findings that a report lists, the gravest first. The remaining findings are counted by rule.
pub const FINDINGS: usize = 150;
/// Maximum number of rows that a finding lists. Further rows are only counted.
pub const ROWS: usize = 20;
/// Maximum number of groups that a query returns to an agent, the largest first. Further groups are only counted.
pub const QUERY_LINES: usize = 50;
/// Maximum number of regulatory implications of one rule. Rules with more are refused with `bad_rules`.
pub const IMPLICATIONS: usize = 10;
