//! File patterns (`*.rs`), which are treated as sets of names. A pattern is not replaced by the existing files, because
//! files can be created and deleted later. A rule that asks or forbids applies if the pattern matches any name to which
//! the rule applies.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    One(char),
    /// Any single character of a name.
    Any,
    /// First character of a file name. The first character is not a dot, because shells do not expand patterns to names
    /// that begin with a dot.
    First,
    /// Any number of characters of a name, including none.
    Some,
    /// Any text in a path. It may contain `/`.
    All,
}

/// A set of names, given by a file pattern, that can be compared with another pattern.
#[derive(Debug)]
pub struct Pattern {
    pieces: Vec<Piece>,
    /// True if the file pattern does not match names that begin with a dot.
    skips_dots: bool,
}

/// Maximum number of pieces of a file pattern. A longer pattern is treated as one that matches every text.
const MAX_PIECES: usize = 256;

/// Maximum number of variants of a path, depending on which components with patterns expand to `..`. A path with more
/// variants is treated as a path to any place.
const MAX_WAYS: usize = 8;

/// Maximum number of `**/` in a glob that are also tried as matching no folder. The glob is compared with and without
/// each of these `**/`.
const MAX_FOLDERS: usize = 3;

impl Pattern {
    /// Returns the pattern of a word in a command line that the shell expands. `*`, `?` and `[…]` do not match `/`.
    pub fn of_shell(word: &str) -> Self {
        let skips_dots = Self::is_in(word.get(..1).unwrap_or_default());
        let mut found = Self::read(word, |star, _| if star { Piece::Some } else { Piece::Any });
        found.skips_dots = skips_dots;
        // The pattern `*` matches neither an empty name nor a name that begins with a dot. A leading `?` does not match
        // a dot either.
        let mut pieces = Vec::new();
        for (at, piece) in found.pieces.iter().copied().enumerate() {
            let begins = at == 0 || found.pieces.get(at - 1) == Some(&Piece::One('/'));
            let ends = matches!(found.pieces.get(at + 1), None | Some(Piece::One('/')));
            if begins && piece == Piece::Any {
                pieces.push(Piece::First);
            } else if begins && ends && piece == Piece::Some {
                pieces.extend([Piece::First, Piece::Some]);
            } else {
                pieces.push(piece);
            }
        }
        Self { pieces, ..found }
    }

    /// Returns the pattern of all paths below a folder of the workspace. The empty path is the workspace itself. If
    /// `expands` is true, the path is itself a pattern.
    pub fn below(path: &str, expands: bool) -> Self {
        if path.is_empty() {
            return Self::bounded(vec![Piece::All]);
        }
        let mut found = if expands {
            Self::of_shell(path)
        } else {
            Self::bounded(path.chars().map(Piece::One).collect())
        };
        found.pieces.extend([Piece::One('/'), Piece::All]);
        found
    }

    /// Returns true if the shell may expand the name to `..`. In some shells, `.*` and `.?` match `..`.
    pub fn climbs(name: &str) -> bool {
        Self::is_in(name) && Self::of_shell(name).meets(&Self::of_word(".."))
    }

    /// Returns the variants of a path after the shell has expanded its file patterns: in each, other components have
    /// become `..`. Returns `None` if there are too many variants.
    pub fn ways(path: &str) -> Option<Vec<String>> {
        let mut ways = vec![String::new()];
        for (at, name) in path.split('/').enumerate() {
            let between = if at == 0 { "" } else { "/" };
            let climbs = Self::climbs(name).then_some("..");
            ways = ways
                .iter()
                .flat_map(|way| {
                    let names = std::iter::once(name).chain(climbs);
                    names.map(move |name| format!("{way}{between}{name}"))
                })
                .collect();
            if ways.len() > MAX_WAYS {
                return None;
            }
        }
        Some(ways)
    }

    /// Returns true if the text contains a special character of file patterns.
    pub fn is_in(text: &str) -> bool {
        text.contains(['*', '?', '['])
    }

    /// Returns the pattern of a word in a command rule. `*` matches any text.
    pub fn of_word(word: &str) -> Self {
        Self::bounded(word.chars().map(|c| if c == '*' { Piece::All } else { Piece::One(c) }).collect())
    }

    /// Returns the pattern of all texts that contain this text, compared in lower case.
    pub fn holding(text: &str) -> Self {
        Self::of_word(&format!("*{}*", text.to_lowercase()))
    }

    pub fn in_small_letters(mut self) -> Self {
        for piece in &mut self.pieces {
            if let Piece::One(c) = piece {
                *c = c.to_lowercase().next().unwrap_or(*c);
            }
        }
        self
    }

    /// Returns the patterns of a glob in a path rule. `**` and braces match any text. A `**/` can also match no folder.
    pub fn of_glob(glob: &str) -> Vec<Self> {
        let read = |glob: &str| {
            Self::read(glob, |star, deep| match (star, deep) {
                (true, true) => Piece::All,
                (true, false) => Piece::Some,
                (false, _) => Piece::Any,
            })
        };
        let mut forms = vec![glob.to_owned()];
        for _ in 0..glob.matches("**/").count().min(MAX_FOLDERS) {
            forms.extend(forms.clone().iter().map(|form| form.replacen("**/", "", 1)));
            forms.sort();
            forms.dedup();
        }
        forms.iter().map(|form| read(form)).collect()
    }

    fn read(text: &str, wild: impl Fn(bool, bool) -> Piece) -> Self {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next().filter(|_| pieces.len() <= MAX_PIECES) {
            rest = &rest[c.len_utf8()..];
            pieces.push(match c {
                '*' => {
                    let after = rest.trim_start_matches('*');
                    let piece = wild(true, after.len() < rest.len());
                    rest = after;
                    piece
                }
                '?' => wild(false, false),
                '[' => {
                    let name = rest.split('/').next().unwrap_or_default();
                    let end = name.rfind(']').map_or(0, |end| end + 1);
                    let is_plain = !name.contains('[') && name.matches(']').count() == 1;
                    rest = &rest[end..];
                    // A character class, and brackets that are nested or not closed, are treated as any text.
                    if is_plain && end > 1 { wild(false, false) } else { Piece::All }
                }
                '{' => {
                    rest = rest.rfind('}').map_or(rest, |end| &rest[end + 1..]);
                    Piece::All
                }
                '\\' => Piece::All,
                c => Piece::One(c),
            });
        }
        Self::bounded(pieces)
    }

    fn bounded(pieces: Vec<Piece>) -> Self {
        let pieces = if pieces.len() > MAX_PIECES { vec![Piece::All] } else { pieces };
        Self { pieces, skips_dots: false }
    }

    fn begins_with_a_dot(&self) -> bool {
        self.pieces.first() == Some(&Piece::One('.'))
    }

    /// Returns true if there is a text that matches both patterns.
    pub fn meets(&self, other: &Self) -> bool {
        if (self.skips_dots && other.begins_with_a_dot()) || (other.skips_dots && self.begins_with_a_dot()) {
            return false;
        }
        let (ours, theirs) = (&self.pieces, &other.pieces);
        // `meet[j]` is true if a text matches both remainders: this pattern from the current piece on, and the other
        // pattern from piece `j` on.
        let mut meet: Vec<bool> = Vec::new();
        for i in (0..=ours.len()).rev() {
            let mut row = vec![false; theirs.len() + 1];
            for j in (0..=theirs.len()).rev() {
                let (our, their) = (ours.get(i).copied(), theirs.get(j).copied());
                // Results for three cases: the next piece of this pattern, that of the other pattern, or both are
                // skipped.
                let skip_ours = || meet.get(j).copied().unwrap_or_default();
                let skip_theirs = || row.get(j + 1).copied().unwrap_or_default();
                let skip_both = || meet.get(j + 1).copied().unwrap_or_default();
                row[j] = match (our, their) {
                    (None, None) => true,
                    (Some(Piece::Some | Piece::All), None) => skip_ours(),
                    (None, Some(Piece::Some | Piece::All)) => skip_theirs(),
                    (None, Some(_)) | (Some(_), None) => false,
                    (Some(our), Some(their)) => {
                        (our.is_run() && (skip_ours() || (our.may_contain(their) && skip_theirs())))
                            || (their.is_run() && (skip_theirs() || (their.may_contain(our) && skip_ours())))
                            || (!our.is_run() && !their.is_run() && our.is_like(their) && skip_both())
                    }
                };
            }
            meet = row;
        }
        meet.first().copied().unwrap_or_default()
    }
}

impl Piece {
    fn is_run(self) -> bool {
        matches!(self, Self::Some | Self::All)
    }

    /// Returns true if this wildcard of a file pattern can match a text that the other piece of a pattern matches.
    fn may_contain(self, other: Self) -> bool {
        self == Self::All || !matches!(other, Self::One('/') | Self::All)
    }

    fn is_like(self, other: Self) -> bool {
        match (self, other) {
            (Self::First, Self::One('.')) | (Self::One('.'), Self::First) => false,
            (Self::One(a), Self::One(b)) => a == b,
            (Self::One(c), _) | (_, Self::One(c)) => c != '/',
            (_, _) => true,
        }
    }
}

/// Returns true if a word of a command matches a word of a rule's pattern, in which `*` stands for any characters.
pub fn word_matches(pattern: &str, word: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = word.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}
