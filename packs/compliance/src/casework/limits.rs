//! Named limits of a case. Holds numbers only.

/// Maximum bytes of one table of a case. A larger table is refused with `file_too_large`.
pub const FILE_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of transactions in a case. All transactions of a case are in memory. A case with more transactions is
/// refused with `too_many_rows`.
pub const TRANSACTIONS: usize = 500_000;
/// Maximum number of customers of a case. A case with more is refused with `too_many_rows`.
pub const CUSTOMERS: usize = 20_000;
/// Maximum number of entries in the watch list of a case. A case with more is refused with `too_many_rows`.
pub const WATCHED: usize = 20_000;
/// Maximum number of words of a name that are compared with the watch list. Further words are ignored.
pub const NAME_WORDS: usize = 16;
/// Maximum number of letters of a word in a name, after transliteration, that are compared. Further letters are
/// ignored.
pub const WORD_LETTERS: usize = 32;
/// Maximum number of Chinese characters in a company form or a common word of the rules. Longer entries match no name.
pub const HAN_PHRASE: usize = 8;
/// Cost of comparing one word of a name, expressed as a number of letters. The letters of the word are an additional
/// cost.
pub const WORD_COST: usize = 8;
/// Maximum cost of comparing all names of a case with the watch list. The cost of a name is the number of its letters
/// plus 8 for each of its words. The total is the cost of all names on the list multiplied by the cost of all names in
/// the case. The maximum is enough for about 20 million pairs of ordinary names, which take about 25 seconds. A case
/// whose total is higher is refused with `too_many_names`.
pub const COMPARISONS: u64 = 25_000_000_000;
/// Maximum number of columns of a table in a case. A table with more is refused with `cells`.
pub const COLUMNS: usize = 100;
/// Maximum bytes of a table cell in a case. A case with a longer cell is refused with `cell_too_long`.
pub const CELL_BYTES: usize = 1_000;
/// Maximum number of aliases of one entry of the watch list. A case with more is refused with `cell_too_long`.
pub const ALIASES: usize = 20;
/// Maximum number of problems in a case that are listed. Further problems are only counted.
pub const PROBLEMS: usize = 50;
/// Maximum bytes of `rules.yaml`. A larger file is refused with `bad_rules`.
pub const RULES_BYTES: usize = 64 * 1024;
/// Maximum number of findings that a report lists, the gravest first. All other findings are only counted, by rule.
pub const FINDINGS: usize = 150;
/// Maximum number of rows that a finding lists in the report. Further rows are only counted.
pub const ROWS: usize = 20;
/// Maximum number of groups that a query returns to an agent, the largest first. Further groups are only counted.
pub const QUERY_LINES: usize = 50;
/// Maximum number of regulatory implications of one rule. Rules with more are refused with `bad_rules`.
pub const IMPLICATIONS: usize = 10;
