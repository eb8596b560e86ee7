//! A second parser for command lines: a bash parser by other authors (brush), which knows only the grammar and no
//! programs. It lists the simple commands and redirections of a line, each of which the reader must have found.

use brush_parser::ast::{
    Command as Node, CommandPrefixOrSuffixItem as Item, CompoundList, IoFileRedirectKind as Kind,
    IoFileRedirectTarget as Target, IoRedirect, Pipeline, SimpleCommand,
};
use brush_parser::word::{self, WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions, SourceInfo};
use holdshort_command::{Command, Part};

/// Returns a command or redirection of the line that the second parser finds and the reader missed.
pub(super) fn contradiction(line: &str, command: &Command) -> Option<String> {
    let options = ParserOptions::default();
    let program = Parser::new(line.as_bytes(), &options, &SourceInfo::default()).parse_program();
    let lists = match program {
        Ok(program) => program.complete_commands,
        // Either shells reject the line too, or this parser supports less than a shell. Neither is an error of the
        // reader.
        Err(_) => return None,
    };
    let mut second = Second { options, command };
    lists.iter().find_map(|list| second.list(list))
}

pub(super) fn understands(line: &str) -> bool {
    Parser::new(line.as_bytes(), &ParserOptions::default(), &SourceInfo::default()).parse_program().is_ok()
}

struct Second<'a> {
    options: ParserOptions,
    command: &'a Command,
}

impl Second<'_> {
    fn list(&mut self, list: &CompoundList) -> Option<String> {
        list.0.iter().find_map(|item| item.0.iter().find_map(|(_, pipeline)| self.pipeline(pipeline)))
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Option<String> {
        pipeline.seq.iter().find_map(|node| match node {
            Node::Simple(simple) => self.simple(simple),
            Node::Compound(compound, _) => Some(format!("the second parser finds the grammar of {compound}")),
            Node::Function(function) => Some(format!("the second parser finds a function: {function}")),
            Node::ExtendedTest(test) => {
                Some(format!("the second parser finds a test of the shell's own: {test}"))
            }
        })
    }

    fn simple(&mut self, simple: &SimpleCommand) -> Option<String> {
        let mut words = Vec::new();
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let name = simple.word_or_name.iter().map(|name| Item::Word(name.clone()));
        for item in prefix.cloned().chain(name).chain(suffix.cloned()) {
            match item {
                Item::Word(found) => words.push(self.text(&found.value)),
                Item::IoRedirect(redirect) => {
                    if let Some(target) = self.written(&redirect) {
                        return Some(format!("the second parser finds a file that is written: {target}"));
                    }
                }
                Item::AssignmentWord(_, found) if !words.is_empty() => words.push(self.text(&found.value)),
                Item::AssignmentWord(assignment, _) => {
                    return Some(format!("the second parser finds an assignment: {assignment}"));
                }
                Item::ProcessSubstitution(..) => {
                    return Some("the second parser finds a process substitution".to_owned());
                }
            }
        }
        if words.iter().any(|word| matches!(word, Text::Runs)) {
            return Some("the second parser finds a command substitution".to_owned());
        }
        let (name, arguments) = words.split_first()?;
        let seen = self.command.parts.iter().any(|part| is_part(part, name, arguments));
        (!seen).then(|| format!("the second parser finds a command that no part names: {words:?}"))
    }

    /// Returns the file to which a redirection of a command line writes. Returns `None` for `/dev/null`.
    fn written(&self, redirect: &IoRedirect) -> Option<String> {
        let target = match redirect {
            IoRedirect::File(_, Kind::Read | Kind::DuplicateInput, _)
            | IoRedirect::HereDocument(..)
            | IoRedirect::HereString(..)
            | IoRedirect::File(_, _, Target::Fd(_)) => return None,
            IoRedirect::File(_, _, Target::Filename(file) | Target::Duplicate(file))
            | IoRedirect::OutputAndError(file, _) => file,
            IoRedirect::File(_, _, Target::ProcessSubstitution(..)) => return Some("a process".to_owned()),
        };
        match self.text(&target.value) {
            Text::Known(text) if text == "/dev/null" || text == "-" => None,
            Text::Known(text) if text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit()) => None,
            other => Some(format!("{other:?}")),
        }
    }

    /// Removes the quotes of a word of a command line, if the value of the word is known.
    fn text(&self, raw: &str) -> Text {
        match word::parse(raw, &self.options) {
            Ok(pieces) => unquoted(pieces),
            Err(_) => Text::Unknown,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Text {
    Known(String),
    /// A word of a command line with a variable or a tilde, whose value is known only at run time.
    Unknown,
    /// A word of a command line that contains code, such as a command substitution.
    Runs,
}

fn unquoted(pieces: Vec<WordPieceWithSource>) -> Text {
    let mut text = Text::Known(String::new());
    for found in pieces {
        let next = match found.piece {
            WordPiece::Text(part) | WordPiece::SingleQuotedText(part) => Text::Known(part),
            WordPiece::EscapeSequence(part) => {
                // A backslash before a line break removes both characters.
                Text::Known(part.strip_prefix('\\').unwrap_or(&part).trim_start_matches('\n').to_owned())
            }
            WordPiece::DoubleQuotedSequence(parts) | WordPiece::GettextDoubleQuotedSequence(parts) => {
                unquoted(parts)
            }
            WordPiece::CommandSubstitution(_) | WordPiece::BackquotedCommandSubstitution(_) => Text::Runs,
            WordPiece::AnsiCQuotedText(_)
            | WordPiece::TildePrefix(_)
            | WordPiece::ParameterExpansion(_)
            | WordPiece::ArithmeticExpression(_) => Text::Unknown,
        };
        text = match (text, next) {
            (Text::Runs, _) | (_, Text::Runs) => Text::Runs,
            (Text::Known(before), Text::Known(after)) => Text::Known(before + &after),
            _ => Text::Unknown,
        };
    }
    text
}

/// Returns true if `part`, which the reader found, is the command `name` with these arguments.
fn is_part(part: &Part, name: &Text, arguments: &[Text]) -> bool {
    let is = |text: &Text, said: &str| match text {
        Text::Known(text) => text == said,
        Text::Unknown => true,
        Text::Runs => false,
    };
    let base = match name {
        Text::Known(text) if text.starts_with('/') => {
            Text::Known(text.rsplit('/').next().unwrap_or(text).to_owned())
        }
        other => other.clone(),
    };
    (is(name, &part.program) || is(&base, &part.program))
        && part.arguments.len() == arguments.len()
        && arguments.iter().zip(&part.arguments).all(|(text, said)| is(text, said))
}
