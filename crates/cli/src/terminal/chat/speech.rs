//! Text of an agent, printed line by line while it arrives. Pure. The text of the final event replaces the streamed
//! text.

use super::Chat;
use crate::terminal::paint::Paint;
use crate::terminal::quote::{Cap, quote};

#[derive(Debug)]
pub(super) struct Speech {
    paint: Paint,
    /// Ids of the run and the step to which the streamed text belongs.
    whose: (String, String),
    text: String,
    /// Number of bytes of the streamed text that have been printed.
    told: usize,
}

impl Speech {
    pub(super) fn new(paint: Paint) -> Self {
        Self { paint, whose: Default::default(), text: String::new(), told: 0 }
    }

    /// Appends a piece of an agent's streamed text. Returns the lines of this text that are now complete.
    pub(super) fn add(&mut self, whose: (&str, &str), lead: &str, piece: &str) -> Vec<String> {
        let mut out = Vec::new();
        if (&*self.whose.0, &*self.whose.1) != whose {
            out = self.cut();
            self.whose = (whose.0.to_owned(), whose.1.to_owned());
        }
        self.text.push_str(piece);
        if self.told == 0 {
            let blank = self.text.len() - self.text.trim_start_matches('\n').len();
            self.text.drain(..blank);
        }
        while let Some(end) = self.text[self.told..].find('\n') {
            let line = self.text[self.told..self.told + end].to_owned();
            out.extend(self.line(&line, lead));
            self.told += end + 1;
        }
        while let Some((end, next)) = self.full() {
            let line = self.text[self.told..self.told + end].to_owned();
            out.extend(self.line(&line, lead));
            self.told += next;
        }
        out
    }

    /// Replaces an agent's streamed text with the final text. Returns the lines that have not been printed yet.
    pub(super) fn end(&mut self, whose: (&str, &str), lead: &str, said: &str) -> Vec<String> {
        let is_ours = (&*self.whose.0, &*self.whose.1) == whose;
        let told = self.text[..self.told].trim_end();
        let body = said.trim_start_matches('\n');
        let rest = body.strip_prefix(told).filter(|_| is_ours && self.told > 0).map(str::to_owned);
        let out = if let Some(rest) = rest {
            let rest = rest.trim_end().trim_start_matches('\n');
            let rest = rest.strip_prefix(' ').unwrap_or(rest);
            let at_the_end = rest.is_empty();
            if at_the_end { Vec::new() } else { quote(rest, &Self::indent(lead), Cap::None, self.paint) }
        } else {
            let mut out = if is_ours { self.cut() } else { Vec::new() };
            if !body.trim().is_empty() {
                out.push(String::new());
                out.extend(quote(body, lead, Cap::None, self.paint));
            }
            out
        };
        if is_ours {
            self.forget();
        }
        out
    }

    /// Discards an agent's incomplete text. Returns a remark about the missing rest if a part of the text was printed.
    pub(super) fn cut(&mut self) -> Vec<String> {
        let was_told = self.told > 0;
        self.forget();
        if was_told { vec![self.paint.dim("  … and broke off there")] } else { Vec::new() }
    }

    fn forget(&mut self) {
        self.whose = Default::default();
        self.text.clear();
        self.told = 0;
    }

    /// Returns the position at which a streamed line that is too long for the terminal is broken: the end of its first
    /// part, and the start of the next line. Returns `None` if the line fits.
    fn full(&self) -> Option<(usize, usize)> {
        let room = self.paint.width.saturating_sub(16).max(20);
        let rest = &self.text[self.told..];
        if console::measure_text_width(rest) <= room {
            return None;
        }
        let fits = |at: &usize| *at > 0 && console::measure_text_width(&rest[..*at]) <= room;
        let end = rest
            .match_indices(' ')
            .map(|(at, _)| at)
            .take_while(|at| *at == 0 || fits(at))
            .filter(fits)
            .last()?;
        Some((end, end + 1))
    }

    fn line(&self, line: &str, lead: &str) -> Vec<String> {
        let indent = Self::indent(lead);
        let lead = if self.told == 0 { lead } else { &indent };
        let mut out = if self.told == 0 { vec![String::new()] } else { Vec::new() };
        if line.trim().is_empty() {
            out.push(format!("{lead} {}", self.paint.dim("│")));
        } else {
            out.extend(quote(line, lead, Cap::None, self.paint));
        }
        out
    }

    fn indent(lead: &str) -> String {
        " ".repeat(console::measure_text_width(lead))
    }
}

impl Chat<'_> {
    pub(super) fn print_piece(&mut self, run: &str, step: &str, piece: &str) {
        let Some(known) = self.runs.get(run) else { return };
        match known.projector.is_heard(step) {
            Some(true) => {
                let lead = self.paint.cyan(&known.agent(step));
                let lines = self.speech.add((run, step), &lead, piece);
                self.keyboard.print(&lines);
            }
            Some(false) => {}
            None => self.early.entry((run.to_owned(), step.to_owned())).or_default().push_str(piece),
        }
    }

    /// Prints the text of a step that arrived before the start event of this step, if the text is meant for a person.
    pub(super) fn print_early_text(&mut self, run: &str, step: &str) {
        if let Some(text) = self.early.remove(&(run.to_owned(), step.to_owned())) {
            self.print_piece(run, step, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed_lines(pieces: &[&str], whole: &str) -> Vec<String> {
        let mut speech = Speech::new(Paint::narrow(40));
        let mut out = Vec::new();
        for piece in pieces {
            out.extend(speech.add(("run_1", "work"), "ada", piece));
        }
        out.extend(speech.end(("run_1", "work"), "ada", whole));
        out
    }

    #[test]
    fn however_it_arrives_it_is_told_once() {
        let whole = "First line.\n\nA paragraph that is longer than one line is wide.\n- item\nEnd";
        // A long line may be wrapped at different positions. No word is lost or repeated, and each line fits.
        let words = |lines: &[String]| {
            assert!(lines.iter().all(|line| console::measure_text_width(line) <= 40), "{lines:?}");
            let text = lines.iter().map(|line| line.split_once('│').map_or("", |(_, text)| text.trim()));
            text.collect::<Vec<_>>().join(" ").split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let expected: Vec<String> = whole.split_whitespace().map(str::to_owned).collect();
        let letters: Vec<String> = whole.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(words(&printed_lines(&letters, whole)), expected);
        let pieces =
            ["\n\nFirst line.\n\nA para", "graph that is longer than one line is", " wide.\n- item\nEnd"];
        assert_eq!(words(&printed_lines(&pieces, whole)), expected);
        // Without previews, the final event contains the complete text.
        assert_eq!(printed_lines(&[], "Short.\n"), ["", "ada │ Short."]);
        assert_eq!(printed_lines(&["Short."], "Short."), ["", "ada │ Short."]);
        assert_eq!(printed_lines(&["Short.\n"], "Short.\n"), ["", "ada │ Short."]);
        assert_eq!(printed_lines(&["\u{1b}[2J\n"], "\u{1b}[2J\n"), ["", "ada │ \\u{1b}[2J"]);
    }

    #[test]
    fn what_broke_off_is_said_to_have() {
        let broken = "  … and broke off there";
        assert_eq!(
            printed_lines(&["One.\nTw"], "Another.\n"),
            ["", "ada │ One.", broken, "", "ada │ Another."]
        );
        let mut speech = Speech::new(Paint::narrow(40));
        speech.add(("run_1", "work"), "ada", "One.\nTwo");
        let next = speech.add(("run_1", "other"), "bob", "Me.\n");
        assert_eq!(next, [broken, "", "bob │ Me."]);
        assert_eq!(speech.end(("run_1", "work"), "ada", "One.\nTwo.")[1], "ada │ One.");
    }
}
