//! Second opinion on the commands of a line, by an independent parser for bash (brush). The parser knows the grammar of
//! bash, but no programs, so it finds no commands that wrappers run.

use std::collections::BTreeSet;

use brush_parser::ast::{
    AssignmentValue, Command as Node, CommandPrefixOrSuffixItem as Item, CompoundCommand as Compound,
    CompoundList, IoFileRedirectTarget as Target, IoRedirect, RedirectList, SimpleCommand, Word,
};
use brush_parser::word::{self, WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions, SourceInfo};

use super::{Entry, corpus, wrong};

/// The independent parser for bash finds no command that the corpus of command lines does not list. Lines that this
/// parser cannot read are skipped.
#[test]
fn a_second_parser_finds_no_other_command() {
    let entries = corpus();
    let found = wrong(&entries, |entry| {
        let Some(found) = ParsedLine::parse(&entry.line) else { return Vec::new() };
        let others = found.programs.iter().filter(|name| !is_told(entry, &found, name));
        others.map(|name| format!("the second parser finds {name}")).collect()
    });
    assert!(found.is_empty(), "{}", found.join("\n"));
    let understood = entries.iter().filter(|entry| ParsedLine::parse(&entry.line).is_some()).count();
    assert!(understood * 20 > entries.len() * 19, "it understands {understood} of {}", entries.len());
}

/// Returns true if the corpus entry lists the program. `coproc` is a keyword in bash, but a program in dash.
fn is_told(entry: &Entry, found: &ParsedLine, name: &str) -> bool {
    entry.runs.contains(name)
        || entry.hides.contains(name)
        || found.functions.contains(name)
        || name == "coproc"
}

/// Maximum nesting of commands within words that the independent parser for bash visits.
const MAX_DEPTH: usize = 8;

#[derive(Default)]
struct ParsedLine {
    programs: BTreeSet<String>,
    functions: BTreeSet<String>,
    depth: usize,
}

impl ParsedLine {
    fn parse(line: &str) -> Option<Self> {
        let mut found = Self::default();
        found.line(line)?;
        Some(found)
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let parser = Parser::new(line.as_bytes(), &ParserOptions::default(), &SourceInfo::default());
        let program = { parser }.parse_program().ok()?;
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            program.complete_commands.iter().for_each(|list| self.list(list));
        }
        self.depth -= 1;
        Some(())
    }

    fn list(&mut self, list: &CompoundList) {
        for item in &list.0 {
            for (_, pipeline) in &item.0 {
                pipeline.seq.iter().for_each(|node| self.node(node));
            }
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Simple(simple) => self.simple(simple),
            Node::Compound(compound, redirects) => {
                self.compound(compound);
                self.redirects(redirects.as_ref());
            }
            Node::Function(function) => {
                self.functions.insert(function.fname.value.clone());
                self.compound(&function.body.0);
                self.redirects(function.body.1.as_ref());
            }
            Node::ExtendedTest(_) => {}
        }
    }

    fn compound(&mut self, compound: &Compound) {
        match compound {
            Compound::Arithmetic(_) => {}
            Compound::ArithmeticForClause(clause) => self.list(&clause.body.list),
            Compound::BraceGroup(group) => self.list(&group.list),
            Compound::Subshell(shell) => self.list(&shell.list),
            Compound::ForClause(clause) => {
                clause.values.iter().flatten().for_each(|word| self.visit_word(word));
                self.list(&clause.body.list);
            }
            Compound::CaseClause(clause) => {
                self.visit_word(&clause.value);
                for case in &clause.cases {
                    case.patterns.iter().for_each(|word| self.visit_word(word));
                    case.cmd.iter().for_each(|list| self.list(list));
                }
            }
            Compound::IfClause(clause) => {
                self.list(&clause.condition);
                self.list(&clause.then);
                for other in clause.elses.iter().flatten() {
                    other.condition.iter().for_each(|list| self.list(list));
                    self.list(&other.body);
                }
            }
            Compound::WhileClause(clause) | Compound::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        if let Some(name) = &simple.word_or_name {
            self.visit_word(name);
            if let Some(name) = unquoted(&name.value) {
                self.programs.insert(base(&name));
            }
        }
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        for item in prefix.chain(suffix) {
            match item {
                Item::IoRedirect(redirect) => self.redirect(redirect),
                Item::Word(word) => self.visit_word(word),
                Item::AssignmentWord(assignment, _) => match &assignment.value {
                    AssignmentValue::Scalar(word) => self.visit_word(word),
                    AssignmentValue::Array(words) => words.iter().for_each(|(_, word)| self.visit_word(word)),
                },
                Item::ProcessSubstitution(_, shell) => self.list(&shell.list),
            }
        }
    }

    fn redirects(&mut self, redirects: Option<&RedirectList>) {
        redirects.iter().flat_map(|list| &list.0).for_each(|redirect| self.redirect(redirect));
    }

    fn redirect(&mut self, redirect: &IoRedirect) {
        match redirect {
            IoRedirect::File(_, _, Target::Filename(word) | Target::Duplicate(word))
            | IoRedirect::OutputAndError(word, _)
            | IoRedirect::HereString(_, word) => self.visit_word(word),
            IoRedirect::File(_, _, Target::ProcessSubstitution(_, shell)) => self.list(&shell.list),
            IoRedirect::HereDocument(_, document) if document.requires_expansion => {
                self.visit_word(&document.doc);
            }
            IoRedirect::File(_, _, Target::Fd(_)) | IoRedirect::HereDocument(..) => {}
        }
    }

    fn visit_word(&mut self, word: &Word) {
        if let Ok(pieces) = word::parse(&word.value, &ParserOptions::default()) {
            self.pieces(&pieces);
        }
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource]) {
        for found in pieces {
            match &found.piece {
                WordPiece::CommandSubstitution(line) | WordPiece::BackquotedCommandSubstitution(line) => {
                    self.line(line);
                }
                WordPiece::DoubleQuotedSequence(parts) | WordPiece::GettextDoubleQuotedSequence(parts) => {
                    self.pieces(parts);
                }
                WordPiece::Text(_)
                | WordPiece::SingleQuotedText(_)
                | WordPiece::AnsiCQuotedText(_)
                | WordPiece::TildePrefix(_)
                | WordPiece::ParameterExpansion(_)
                | WordPiece::EscapeSequence(_)
                | WordPiece::ArithmeticExpression(_) => {}
            }
        }
    }
}

/// Returns a word without its quotes. None if the shell computes it.
fn unquoted(raw: &str) -> Option<String> {
    fn join(pieces: &[WordPieceWithSource]) -> Option<String> {
        let texts = pieces.iter().map(|found| match &found.piece {
            WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => Some(text.clone()),
            WordPiece::EscapeSequence(text) => {
                Some(text.strip_prefix('\\').unwrap_or(text).trim_start_matches('\n').to_owned())
            }
            WordPiece::DoubleQuotedSequence(parts) | WordPiece::GettextDoubleQuotedSequence(parts) => {
                join(parts)
            }
            _ => None,
        });
        texts.collect()
    }
    let plain = !raw.contains(['*', '?', '{']);
    plain.then(|| word::parse(raw, &ParserOptions::default()).ok()).flatten().and_then(|pieces| join(&pieces))
}

fn base(name: &str) -> String {
    let folders = ["/bin/", "/usr/bin/"];
    let base = folders.iter().find_map(|folder| name.strip_prefix(folder));
    base.unwrap_or(name).to_owned()
}
