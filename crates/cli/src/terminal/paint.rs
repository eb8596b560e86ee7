//! Colours and width of the output on a terminal. Without colours, all text is printed without styles.

use console::{Style, Term};
use textwrap::{Options, WordSplitter};

/// Maximum width of printed text, in columns, even if the terminal is wider.
const WIDEST: usize = 110;
const NARROWEST: usize = 20;
const WIDTH_UNKNOWN: usize = 80;

/// Placeholder for a space at which a printed line must not be broken. Neither escaped text nor Holdshort's own texts
/// contain this character.
const BOUND: char = '\u{e000}';

/// Prevents line breaks inside text in backticks, so that a person can copy a command from the terminal.
fn bound(text: &str) -> String {
    let bind = |(i, part): (usize, &str)| {
        if i % 2 == 1 { part.replace(' ', BOUND.encode_utf8(&mut [0; 4])) } else { part.to_owned() }
    };
    text.split('`').enumerate().map(bind).collect::<Vec<_>>().join("`")
}

#[derive(Clone, Copy, Debug)]
pub struct Paint {
    colours: bool,
    pub width: usize,
    pub is_terminal: bool,
}

impl Paint {
    /// Returns the colours and the width with which text is printed to standard output.
    pub fn stdout() -> Self {
        Self::for_terminal(&Term::stdout(), console::colors_enabled())
    }

    /// Returns the colours and the width with which text is printed to standard error.
    pub fn stderr() -> Self {
        Self::for_terminal(&Term::stderr(), console::colors_enabled_stderr())
    }

    fn for_terminal(term: &Term, colours: bool) -> Self {
        let width = term.size_checked().map_or(WIDTH_UNKNOWN, |(_, columns)| usize::from(columns));
        Self { colours, width: width.clamp(NARROWEST, WIDEST), is_terminal: term.is_term() }
    }

    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self::narrow(WIDTH_UNKNOWN)
    }

    #[cfg(test)]
    pub(crate) fn narrow(width: usize) -> Self {
        Self { colours: false, width, is_terminal: false }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.style(Style::new().bold(), text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.style(Style::new().dim(), text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.style(Style::new().red(), text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.style(Style::new().green(), text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.style(Style::new().yellow(), text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.style(Style::new().cyan(), text)
    }

    /// Returns a label and a text in two columns. A word that is too long for the text column, such as a link, is
    /// printed on a line of its own without indentation, so that a person can copy it.
    pub(crate) fn labelled(self, label: &str, text: &str) -> Vec<String> {
        const LABEL: usize = 10;
        let options = Options::new(self.width.saturating_sub(LABEL + 3)).break_words(false);
        // A path or a command is never split, so that it can be copied.
        let text = bound(text);
        let lines = textwrap::wrap(&text, options.word_splitter(WordSplitter::NoHyphenation));
        let lines = lines.iter().map(|line| line.replace(BOUND, " "));
        let mut label = Some(self.dim(&format!("{label:LABEL$}")));
        let mut out = Vec::new();
        for line in lines {
            if console::measure_text_width(&line) + LABEL + 3 > self.width {
                out.extend(label.take().map(|label| format!("  {label}").trim_end().to_owned()));
                out.push(line);
            } else {
                let label = label.take().unwrap_or_else(|| " ".repeat(LABEL));
                out.push(format!("  {label} {line}"));
            }
        }
        out
    }

    /// Wraps a text to the width of the terminal. Lines after the first are indented by `hang` columns.
    pub(crate) fn fold(self, text: &str, hang: usize) -> Vec<String> {
        let hang = " ".repeat(hang);
        let options = Options::new(self.width).break_words(false).subsequent_indent(&hang);
        let options = options.word_splitter(WordSplitter::NoHyphenation);
        textwrap::wrap(&bound(text), options).iter().map(|line| line.replace(BOUND, " ")).collect()
    }

    /// Returns the lines of a message: wrapped to the width of a terminal, or a single line if the output is not a
    /// terminal.
    pub fn message(self, text: &str, hang: usize) -> Vec<String> {
        if self.is_terminal { self.fold(text, hang) } else { vec![text.to_owned()] }
    }

    fn style(self, style: Style, text: &str) -> String {
        style.force_styling(self.colours).apply_to(text).to_string()
    }

    /// Returns a horizontal line across the terminal, with the title of a section.
    pub(crate) fn rule(self, title: &str) -> String {
        let used = console::measure_text_width(title) + 4;
        let rest = "─".repeat(self.width.saturating_sub(used));
        format!("{} {} {}", self.yellow("──"), self.bold(title), self.yellow(&rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_copied_stands_alone_where_it_is_long() {
        let link = "http://127.0.0.1:7349/login#0123456789";
        let paint = Paint::narrow(40);
        assert_eq!(
            paint.labelled("browser", &format!("{link} signs in, once")),
            ["  browser", link, "             signs in, once"]
        );
        assert_eq!(
            paint.labelled("server", "none; start `holdshort serve --data /some/folder`"),
            ["  server     none; start", "`holdshort serve --data /some/folder`"]
        );
        assert_eq!(paint.labelled("data", "/tmp/a (kept)"), ["  data       /tmp/a (kept)"]);
    }

    #[test]
    fn lines_end_between_words_and_never_in_a_command() {
        let text = "  no server is there; start one with `holdshort serve --data /some/folder` and ask again";
        assert_eq!(
            Paint::narrow(40).fold(text, 4),
            [
                "  no server is there; start one with",
                "    `holdshort serve --data /some/folder`",
                "    and ask again"
            ]
        );
        assert_eq!(Paint::narrow(40).message(text, 4), [text]);
    }
}
