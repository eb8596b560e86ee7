//! A state machine without I/O from typed lines to a decision.
//!
//! A decision is sent only if its option was chosen by number or name, or was shown back and confirmed. While
//! something is shown back, `yes` confirms it and is never the name of another option.

use holdshort_protocol::{Decision, Interrupt, Kind, Offer, parts_of_lines, plain};
use serde_json::Value;

use super::paint::Paint;
use super::quote::{Cap, quote};
use super::{card, diff, naming};

#[derive(Debug)]
pub(crate) struct Prompt {
    pub interrupt: Interrupt,
    stage: Stage,
    /// An empty line was answered with a hint.
    hinted: bool,
}

#[derive(Debug)]
enum Stage {
    Choose,
    /// An option is chosen that needs words.
    Words(String),
    /// Shown back; Enter or a yes sends it, a no drops it.
    Confirm(Decision),
}

/// What follows from a line.
#[derive(Debug, PartialEq)]
pub(crate) enum Reaction {
    /// Say this and ask again.
    Ask(Vec<String>),
    Decide(Decision),
    Edit(Editing),
    Help,
    Uncut,
    Detach,
}

/// What is opened in the editor, and for which option.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Editing {
    pub option: String,
    pub text: String,
    pub form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// An edit that is JSON.
    Json,
    /// An edit that is text.
    Text,
    /// The paths whose changes are kept, one a line.
    Paths,
    /// No edit: the words of a decision.
    Words,
}

impl Form {
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Json => ".json",
            Self::Text | Self::Words => ".md",
            Self::Paths => ".txt",
        }
    }
}

impl Prompt {
    pub(crate) fn new(interrupt: Interrupt) -> Self {
        Self { interrupt, stage: Stage::Choose, hinted: false }
    }

    /// What stands before the cursor.
    pub(crate) fn label(&self) -> &'static str {
        match &self.stage {
            Stage::Choose => "> ",
            Stage::Words(_) => "your words> ",
            Stage::Confirm(_) => "Enter sends it, n drops it, or type something else> ",
        }
    }

    /// The keys, below the options.
    pub(crate) fn keys(&self, paint: Paint) -> Vec<String> {
        let typed = match naming::natural(&self.interrupt) {
            Some(_) if self.interrupt.takes_a_number() => "the answer as JSON, or an option's name",
            Some(offer) if offer.needs_edit => "a number, or the answer as JSON",
            Some(offer) if offer.effect == "respond" => "a number, or your own words",
            Some(offer) if offer.effect == "proceed" => "a number, or your own words to go along",
            Some(offer) if offer.id == "abort" => "a number, or your own words to end it with",
            Some(_) => "a number, or your own words to refuse it",
            None => "a number",
        };
        let edit = if self.interrupt.editable().is_some() { " · e edit" } else { "" };
        let some = if self.interrupt.keeping().is_some() { " · f by file" } else { "" };
        let keys = format!("  {typed}{edit}{some} · ? explain · v all of it · d leave");
        paint.fold(&keys, 2).iter().map(|line| paint.dim(line)).collect()
    }

    pub(crate) fn line(&mut self, line: &str, paint: Paint) -> Reaction {
        let line = line.trim();
        match std::mem::replace(&mut self.stage, Stage::Choose) {
            Stage::Confirm(decision) => self.confirmed(decision, line, paint),
            Stage::Words(option) if !line.is_empty() => {
                if self.asks_again(&option).is_some() {
                    return self.confirm(&option, line, paint);
                }
                Reaction::Decide(self.decision(&option, Some(line.to_owned())))
            }
            Stage::Words(_) => Reaction::Ask(vec!["  No words, no decision.".to_owned()]),
            Stage::Choose => self.choose(line, paint),
        }
    }

    /// A line of a conversation: there the answer to a question is words among words, and sent as it is typed.
    pub(crate) fn said(&mut self, line: &str, paint: Paint) -> Reaction {
        let was_choosing = self.is_choosing();
        let reaction = self.line(line, paint);
        match &self.stage {
            Stage::Confirm(decision)
                if was_choosing
                    && self.interrupt.kind == Kind::Question
                    && decision.text.is_some()
                    && self.asks_again(&decision.option).is_none() =>
            {
                Reaction::Decide(decision.clone())
            }
            _ => reaction,
        }
    }

    /// Whether nothing is chosen yet, and nothing shown back.
    pub(crate) fn is_choosing(&self) -> bool {
        matches!(self.stage, Stage::Choose)
    }

    /// How many options a key alone chooses from. None of a question: its answer may begin with a digit.
    pub(crate) fn digits(&self) -> usize {
        let is_words = matches!(self.interrupt.kind, Kind::Question | Kind::Choice | Kind::Turn);
        let count = self.interrupt.suggestions().len() + self.interrupt.options.len();
        if is_words || !self.is_choosing() || self.interrupt.takes_a_number() || count > 9 {
            0
        } else {
            count
        }
    }

    /// What is said to a decision that was shown back.
    fn confirmed(&mut self, decision: Decision, line: &str, paint: Paint) -> Reaction {
        let word = line.to_lowercase();
        match word.as_str() {
            "" | "y" | "yes" | "ok" => return Reaction::Decide(decision),
            "n" | "no" => return Reaction::Ask(vec!["  Not sent.".to_owned()]),
            "?" | "help" | "v" => {
                self.stage = Stage::Confirm(decision);
                return if word == "v" { Reaction::Uncut } else { Reaction::Help };
            }
            _ => {}
        }
        // Agreed or refused what: this, or what was asked? Only a number or an option's own name says it.
        if naming::listed(&self.interrupt, line).is_none() && naming::option(&self.interrupt, line).is_some()
        {
            self.stage = Stage::Confirm(decision);
            let rule =
                "Enter sends what is shown, n drops it; an option by its number or name takes its place.";
            return Reaction::Ask(vec![format!("  “{}”: {rule}", plain::line(line))]);
        }
        self.choose(line, paint)
    }

    /// What came back from the editor.
    pub(crate) fn edited(&mut self, editing: &Editing, saved: &str, paint: Paint) -> Reaction {
        let saved = saved.trim_end_matches('\n');
        // What an answer begins with may be the answer.
        let is_same = self.interrupt.kind != Kind::Question && saved == editing.text.trim_end_matches('\n');
        if saved.trim().is_empty() || is_same {
            return Reaction::Ask(vec!["  Nothing changed, nothing sent.".to_owned()]);
        }
        let mut decision = self.decision(&editing.option, None);
        match editing.form {
            Form::Words => decision.text = Some(saved.to_owned()),
            Form::Text => decision.edit = Value::String(saved.to_owned()),
            Form::Paths => {
                decision.edit = Value::from(parts_of_lines(saved));
            }
            Form::Json => match serde_json::from_str(saved) {
                Ok(edit) => decision.edit = edit,
                Err(error) => {
                    return Reaction::Ask(vec![format!(
                        "  {}",
                        paint.red(&format!("That is no JSON: {error}. e opens it again."))
                    )]);
                }
            },
        }
        let mut shown = vec![format!("  {}", self.sentence_with(&editing.option, &decision.edit))];
        match editing.form {
            Form::Words => shown.extend(quote(saved, "   ", Cap::None, paint)),
            Form::Text | Form::Json | Form::Paths => {
                shown.extend(
                    diff::between(&editing.text, saved, paint).into_iter().map(|line| format!("    {line}")),
                );
                let more = self.interrupt.parts_not_listed().filter(|_| editing.form == Form::Paths);
                shown.extend(more.map(|more| format!("    {more}")));
            }
        }
        self.stage = Stage::Confirm(decision);
        Reaction::Ask(shown)
    }

    fn choose(&mut self, line: &str, paint: Paint) -> Reaction {
        match line {
            "" => return self.empty(paint),
            "?" | "help" => return Reaction::Help,
            "d" | "detach" => return Reaction::Detach,
            "v" => return Reaction::Uncut,
            "e" => {
                return self.editing().map_or_else(
                    || Reaction::Ask(vec!["  There is nothing to edit here.".to_owned()]),
                    Reaction::Edit,
                );
            }
            "f" => {
                if let Some(offer) = self.interrupt.keeping() {
                    return Reaction::Edit(self.editing_for(offer));
                }
            }
            _ => {}
        }
        self.hinted = false;
        if let Some(reaction) = self.picked(line) {
            return reaction;
        }
        if let Some((first, words)) = line.split_once(char::is_whitespace)
            && self.interrupt.kind != Kind::Question
            && let Some(offer) = naming::listed(&self.interrupt, first)
            && !offer.needs_edit
        {
            let id = offer.id.clone();
            return self.confirm(&id, words.trim(), paint);
        }
        match naming::natural(&self.interrupt).map(|offer| (offer.id.clone(), offer.needs_edit)) {
            Some((id, true)) => self.data(&id, line, paint),
            Some((id, false)) => self.confirm(&id, line, paint),
            None => Reaction::Ask(vec![format!(
                "  “{}” is none of the options; type a number, or ? for what they do.",
                plain::line(line)
            )]),
        }
    }

    fn empty(&mut self, paint: Paint) -> Reaction {
        if self.hinted {
            return Reaction::Ask(Vec::new());
        }
        self.hinted = true;
        let mut hint = vec!["  Nothing is decided yet.".to_owned()];
        hint.extend(card::options(&self.interrupt, paint));
        hint.extend(self.keys(paint));
        Reaction::Ask(hint)
    }

    /// A number or an option's name, and nothing else.
    fn picked(&mut self, line: &str) -> Option<Reaction> {
        let suggestions = self.interrupt.suggestions();
        if let Some(number) = naming::number(&self.interrupt, line) {
            if (1..=suggestions.len()).contains(&number) {
                let text = suggestions[number - 1].to_owned();
                return Some(Reaction::Decide(self.decision("answer", Some(text))));
            }
            let last = suggestions.len() + self.interrupt.options.len();
            if number == 0 || number > last {
                return Some(Reaction::Ask(vec![format!("  There is no {number}: 1 to {last}.")]));
            }
        }
        let offer = naming::option(&self.interrupt, line)?.clone();
        if offer.needs_edit {
            return Some(Reaction::Edit(self.editing_for(&offer)));
        }
        if offer.needs_text {
            let what = format!("  {} Empty goes back.", self.sentence(&offer.id));
            self.stage = Stage::Words(offer.id);
            return Some(Reaction::Ask(vec![what]));
        }
        let decision = self.decision(&offer.id, None);
        let Some(why) = self.asks_again(&offer.id) else { return Some(Reaction::Decide(decision)) };
        let shown = vec![format!("  {}: {why}.", plain::line(&offer.label))];
        self.stage = Stage::Confirm(decision);
        Some(Reaction::Ask(shown))
    }

    /// Why an option is shown back before it is sent: nobody can take it back, or the card has not shown all that it
    /// lets go on.
    fn asks_again(&self, option: &str) -> Option<String> {
        self.asks_again_with(option, &Value::Null)
    }

    fn asks_again_with(&self, option: &str, edit: &Value) -> Option<String> {
        let offer = self.interrupt.options.iter().find(|offer| offer.id == option)?;
        if matches!(&*offer.effect, "fail_run" | "cancel_run") {
            return Some("this ends the run".to_owned());
        }
        let unseen = self.interrupt.unseen_by(offer, edit)?;
        Some(plain::line(unseen.trim_end_matches('.')).into_owned())
    }

    /// Shows the words back before they are sent.
    fn confirm(&mut self, option: &str, words: &str, paint: Paint) -> Reaction {
        let mut shown = vec![format!("  {}", self.sentence(option))];
        shown.extend(quote(words, "   ", Cap::None, paint));
        self.stage = Stage::Confirm(self.decision(option, Some(words.to_owned())));
        Reaction::Ask(shown)
    }

    /// An answer that is data, typed on one line.
    fn data(&mut self, option: &str, line: &str, paint: Paint) -> Reaction {
        let edit = match serde_json::from_str(line) {
            Ok(edit) => edit,
            Err(error) => {
                let told = format!("The answer is JSON, and this is none: {error}. e opens an editor.");
                return Reaction::Ask(vec![format!("  {}", paint.red(&told))]);
            }
        };
        let mut shown = vec![format!("  {}", self.sentence(option))];
        shown.extend(quote(&card::readable(&edit), "   ", Cap::None, paint));
        self.stage = Stage::Confirm(Decision { edit, ..self.decision(option, None) });
        Reaction::Ask(shown)
    }

    fn sentence(&self, option: &str) -> String {
        self.sentence_with(option, &Value::Null)
    }

    fn sentence_with(&self, option: &str, edit: &Value) -> String {
        let offer = self.interrupt.options.iter().find(|offer| offer.id == option);
        let label = plain::line(offer.map_or(option, |offer| &offer.label));
        match self.asks_again_with(option, edit) {
            Some(why) => format!("{label} ({why}):"),
            None => format!("{label}:"),
        }
    }

    fn decision(&self, option: &str, text: Option<String>) -> Decision {
        Decision { option: option.to_owned(), text, edit: Value::Null, version: Some(self.interrupt.version) }
    }

    /// What `e` opens.
    fn editing(&self) -> Option<Editing> {
        match self.interrupt.editable() {
            Some(offer) => Some(self.editing_for(offer)),
            None => naming::natural(&self.interrupt).map(|offer| Editing {
                option: offer.id.clone(),
                text: String::new(),
                form: Form::Words,
            }),
        }
    }

    fn editing_for(&self, offer: &Offer) -> Editing {
        if offer.keeps_some() {
            let text = self.interrupt.parts_as_lines();
            return Editing { option: offer.id.clone(), text, form: Form::Paths };
        }
        let form = if self.interrupt.edits_text() { Form::Text } else { Form::Json };
        let text = card::readable(&self.interrupt.draft());
        Editing { option: offer.id.clone(), text, form }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::test::interrupt;

    fn decision(option: &str, text: Option<&str>) -> Decision {
        Decision {
            option: option.to_owned(),
            text: text.map(str::to_owned),
            edit: Value::Null,
            version: Some(1),
        }
    }

    /// What a person types, and what is sent in the end, if anything.
    #[test]
    fn lines_become_decisions() {
        let table: &[(Kind, &[&str], Option<Decision>)] = &[
            (Kind::ToolApproval, &["1"], Some(decision("approve", None))),
            (Kind::ToolApproval, &["approve_session"], Some(decision("approve_session", None))),
            (Kind::ToolApproval, &["  YES "], Some(decision("approve", None))),
            (Kind::ToolApproval, &["deny"], Some(decision("reject", None))),
            (Kind::ToolApproval, &["0"], None),
            (Kind::ToolApproval, &["6"], None),
            (Kind::ToolApproval, &["", ""], None),
            (Kind::ToolApproval, &["4", "it is 42"], Some(decision("respond", Some("it is 42")))),
            (Kind::ToolApproval, &["4", "", "1"], Some(decision("approve", None))),
            (Kind::ToolApproval, &["5 use integers"], None),
            (Kind::ToolApproval, &["5 use integers", ""], Some(decision("reject", Some("use integers")))),
            (Kind::ToolApproval, &["no need for it", ""], Some(decision("reject", Some("no need for it")))),
            (Kind::ToolApproval, &["use integers", "1"], Some(decision("approve", None))),
            // What is shown back is what is agreed to, or dropped: no word of its own there.
            (Kind::ToolApproval, &["use integers", "y"], Some(decision("reject", Some("use integers")))),
            (Kind::ToolApproval, &["use integers", " YES"], Some(decision("reject", Some("use integers")))),
            (Kind::ToolApproval, &["use integers", "n"], None),
            (Kind::ToolApproval, &["use integers", "no", ""], None),
            (Kind::ToolApproval, &["use integers", "n", "y"], Some(decision("approve", None))),
            (Kind::ToolApproval, &["use integers", "allow"], None),
            (
                Kind::ToolApproval,
                &["use integers", "allow", ""],
                Some(decision("reject", Some("use integers"))),
            ),
            (
                Kind::ToolApproval,
                &["use integers", "?", "v", ""],
                Some(decision("reject", Some("use integers"))),
            ),
            (Kind::ToolApproval, &["use integers", "use floats"], None),
            (
                Kind::ToolApproval,
                &["use integers", "use floats", "ok"],
                Some(decision("reject", Some("use floats"))),
            ),
            (Kind::PlanApproval, &["tests first", "y"], Some(decision("revise", Some("tests first")))),
            (Kind::Review, &["3", "n"], None),
            (Kind::Question, &["left, I think", "y"], Some(decision("answer", Some("left, I think")))),
            (Kind::Question, &["left, I think", "n", ""], None),
            (Kind::Review, &["3", "yes"], Some(decision("reject", None))),
            (Kind::Error, &["leave it", "y"], Some(decision("abort", Some("leave it")))),
            (Kind::Error, &["leave it", "r"], None),
            (Kind::PlanApproval, &["tests first", ""], Some(decision("revise", Some("tests first")))),
            (Kind::Question, &["1"], Some(decision("answer", Some("left")))),
            (Kind::Question, &["4"], Some(decision("skip", None))),
            (Kind::Question, &["skip the last one", ""], Some(decision("answer", Some("skip the last one")))),
            (Kind::Question, &["no", ""], Some(decision("answer", Some("no")))),
            (Kind::Question, &["3", "up"], Some(decision("answer", Some("up")))),
            (Kind::Review, &["looks good", ""], None),
            (Kind::Review, &["1"], Some(decision("approve", None))),
            (Kind::Review, &["3"], None),
            (Kind::Review, &["3", ""], Some(decision("reject", None))),
            (Kind::Review, &["reject", "1"], Some(decision("approve", None))),
            (Kind::Error, &["r"], Some(decision("retry", None))),
            (Kind::Error, &["s"], Some(decision("skip", None))),
            (Kind::Error, &["leave it", ""], Some(decision("abort", Some("leave it")))),
            (Kind::UnknownOutcome, &["1", "it printed 3"], Some(decision("happened", Some("it printed 3")))),
        ];
        for (kind, lines, expected) in table {
            let mut prompt = Prompt::new(interrupt(*kind));
            let mut sent = None;
            for line in *lines {
                assert_eq!(sent, None, "{kind:?} {lines:?}");
                if let Reaction::Decide(decision) = prompt.line(line, Paint::plain()) {
                    sent = Some(decision);
                }
            }
            assert_eq!(sent, *expected, "{kind:?} {lines:?}");
        }
    }

    /// What the card cut is said before it goes on; to refuse needs no second look.
    #[test]
    fn what_a_card_has_not_shown_is_said_before_it_is_released() {
        let paint = Paint::plain();
        let cut = || {
            let mut interrupt = interrupt(Kind::ToolApproval);
            interrupt.unseen =
                Some("Not shown here: 9 more lines that are added, 8 that are removed.".to_owned());
            Prompt::new(interrupt)
        };
        for option in ["1", "y", "approve", "2"] {
            let mut prompt = cut();
            let Reaction::Ask(shown) = prompt.line(option, paint) else { panic!("{option}: sent unseen") };
            let said = "Not shown here: 9 more lines that are added, 8 that are removed.";
            assert!(shown[0].ends_with(said), "{option}: {shown:?}");
            let Reaction::Decide(_) = prompt.line("y", paint) else { panic!("{option}: not sent") };
        }
        assert_eq!(cut().line("5", paint), Reaction::Decide(decision("reject", None)));
        let mut prompt = cut();
        prompt.line("1", paint);
        assert_eq!(prompt.line("n", paint), Reaction::Ask(vec!["  Not sent.".to_owned()]));
    }

    /// A31, with E34: a letter for each option, and words that are shown back before they go along.
    #[test]
    fn around_a_step_letters_and_words_mean_what_they_did() {
        let before = ["approve", "edit", "skip", "reject"];
        let after = ["continue", "redo", "abort"];
        let table: &[(&[&str], &[&str], Option<Decision>)] = &[
            (&before, &["y"], Some(decision("approve", None))),
            (&before, &["s"], Some(decision("skip", None))),
            (&before, &["n", ""], Some(decision("reject", None))),
            (&before, &["only the fast ones"], None),
            (&before, &["only the fast ones", ""], Some(decision("approve", Some("only the fast ones")))),
            (&after, &["c"], Some(decision("continue", None))),
            (&after, &["y"], Some(decision("continue", None))),
            (&after, &["r"], Some(decision("redo", None))),
            (&after, &["redo use ISO", ""], Some(decision("redo", Some("use ISO")))),
            (&after, &["a", ""], Some(decision("abort", None))),
            (&after, &["a", "y"], Some(decision("abort", None))),
            (&after, &["a", "c"], None),
            (&before, &["only the fast ones", "y"], Some(decision("approve", Some("only the fast ones")))),
            (&before, &["n", "y"], Some(decision("reject", None))),
            (&before, &["n", "n"], None),
            (&after, &["well done"], None),
            (&after, &["well done", ""], Some(decision("continue", Some("well done")))),
        ];
        for (offered, lines, expected) in table {
            let mut interrupt = interrupt(Kind::Checkpoint);
            interrupt.options.retain(|offer| offered.contains(&offer.id.as_str()));
            let mut prompt = Prompt::new(interrupt);
            let sent = lines.iter().find_map(|line| match prompt.line(line, Paint::plain()) {
                Reaction::Decide(decision) => Some(decision),
                _ => None,
            });
            assert_eq!(sent, *expected, "{offered:?} {lines:?}");
        }
    }

    #[test]
    fn an_edit_is_shown_back_before_it_is_sent() {
        let mut prompt = Prompt::new(interrupt(Kind::ToolApproval));
        let Reaction::Edit(editing) = prompt.line("e", Paint::plain()) else { panic!("nothing to edit") };
        assert_eq!((editing.form, &*editing.text), (Form::Json, "{\n  \"command\": \"ls\"\n}"));
        assert!(matches!(prompt.edited(&editing, &editing.text, Paint::plain()), Reaction::Ask(_)));
        assert!(matches!(prompt.edited(&editing, "{", Paint::plain()), Reaction::Ask(_)));
        let Reaction::Ask(shown) =
            prompt.edited(&editing, "{\n  \"command\": \"ls -l\"\n}\n", Paint::plain())
        else {
            panic!("sent at once")
        };
        assert_eq!(
            shown,
            [
                "  Edit, then run:",
                "      {",
                "    -   \"command\": \"ls\"",
                "    +   \"command\": \"ls -l\"",
                "      }"
            ]
        );
        let expected = Decision { edit: serde_json::json!({"command": "ls -l"}), ..decision("edit", None) };
        assert_eq!(prompt.line("", Paint::plain()), Reaction::Decide(expected));
    }

    /// The paths of what was tried, one a line; what is left of them is kept.
    #[test]
    fn changes_are_kept_by_file() {
        let mut tried = interrupt(Kind::ToolApproval);
        assert!(!matches!(Prompt::new(tried.clone()).line("f", Paint::plain()), Reaction::Edit(_)));
        let parts = ["\\\\x", "new/b.rs", "a.rs", "two\nlines"];
        let made = parts.map(
            |path| serde_json::json!({ "path": path, "does": "created", "kind": "file", "not_text": true }),
        );
        tried.payload["trial"] = serde_json::json!({ "changes": made, "not_shown": 7, "keep": { "parts": parts, "not_shown": 7 } });
        // All of it is more than the card shows; what is kept is not.
        tried.unseen = Some("Not shown here: 7 more paths.".to_owned());
        let row = holdshort_core::interrupt::option(
            holdshort_core::interrupt::Kind::ToolApproval,
            holdshort_core::interrupt::KEEP_SOME,
        );
        let offer = serde_json::to_value(holdshort_core::interrupt::Offer::of(row.unwrap())).unwrap();
        tried.options.push(serde_json::from_value(offer).unwrap());
        let mut prompt = Prompt::new(tried);
        let Reaction::Edit(editing) = prompt.line("f", Paint::plain()) else { panic!("nothing to choose") };
        assert_eq!((editing.form, &*editing.text), (Form::Paths, "\\\\x\nnew/b.rs\na.rs\ntwo\\nlines"));
        let Reaction::Ask(shown) = prompt.edited(&editing, "\\\\x\nnew/b.rs\ntwo\\nlines\n", Paint::plain())
        else {
            panic!("sent at once")
        };
        let expected = [
            "  Keep some of the changes:",
            "      \\\\x",
            "      new/b.rs",
            "    - a.rs",
            "      two\\nlines",
            "    7 more have no room in the list, and are dropped",
        ];
        assert_eq!(shown, expected);
        let expected = Decision {
            edit: serde_json::json!([parts[0], parts[1], parts[3]]),
            ..decision("keep_some", None)
        };
        assert_eq!(prompt.line("", Paint::plain()), Reaction::Decide(expected));
    }

    /// A question whose schema is of data: what is typed is JSON, and what an editor begins with may be the answer.
    #[test]
    fn an_answer_of_data_is_json() {
        let mut question = interrupt(Kind::Question);
        question.payload = serde_json::json!({});
        question.response_schema = Some(serde_json::json!({
            "$defs": {"Slot": {"type": "object", "required": ["day", "hours"], "properties":
                {"day": {"enum": ["mon", "tue"]}, "hours": {"type": "integer"}, "note": {"type": "string"}}}},
            "$ref": "#/$defs/Slot",
        }));
        let answer = question.options.iter_mut().find(|option| option.id == "answer").unwrap();
        (answer.needs_text, answer.needs_edit) = (false, true);
        let paint = Paint::plain();
        let mut prompt = Prompt::new(question);
        let Reaction::Ask(told) = prompt.line("monday", paint) else { panic!("sent") };
        assert!(told[0].starts_with("  The answer is JSON, and this is none:"), "{told:?}");
        let typed = serde_json::json!({"day": "tue", "hours": 2});
        let Reaction::Ask(shown) = prompt.line(&typed.to_string(), paint) else { panic!("sent unseen") };
        assert!(shown.join("\n").contains("\"tue\""), "{shown:?}");
        let expected = Decision { edit: typed, ..decision("answer", None) };
        assert_eq!(prompt.line("", paint), Reaction::Decide(expected));
        for pick in ["e", "1", "answer"] {
            let Reaction::Edit(editing) = prompt.line(pick, paint) else { panic!("{pick}") };
            let begun = "{\n  \"day\": \"mon\",\n  \"hours\": 0\n}";
            assert_eq!((&*editing.text, editing.form), (begun, Form::Json), "{pick}");
            let Reaction::Ask(_) = prompt.edited(&editing, begun, paint) else { panic!("sent unseen") };
            let edit = serde_json::json!({"day": "mon", "hours": 0});
            let expected = Decision { edit, ..decision("answer", None) };
            assert_eq!(prompt.line("", paint), Reaction::Decide(expected));
        }
    }

    /// Where a number is an answer, no option has one.
    #[test]
    fn a_number_is_an_answer_where_the_schema_takes_one() {
        let mut question = interrupt(Kind::Question);
        question.payload = serde_json::json!({});
        question.response_schema = Some(serde_json::json!({"type": "integer"}));
        let answer = question.options.iter_mut().find(|option| option.id == "answer").unwrap();
        (answer.needs_text, answer.needs_edit) = (false, true);
        let paint = Paint::plain();
        let shown = card::options(&question, paint).join("\n");
        assert!(shown.contains("answer") && !shown.contains(" 1 "), "{shown}");
        let mut prompt = Prompt::new(question);
        for number in [0, 2, 7] {
            let Reaction::Ask(told) = prompt.line(&number.to_string(), paint) else { panic!("sent unseen") };
            assert!(told.join("\n").contains(&number.to_string()), "{told:?}");
            let expected = Decision { edit: serde_json::json!(number), ..decision("answer", None) };
            assert_eq!(prompt.line("", paint), Reaction::Decide(expected));
        }
        assert!(matches!(prompt.line("answer", paint), Reaction::Edit(_)));
    }
}
