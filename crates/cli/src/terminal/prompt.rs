//! State machine without I/O that converts typed lines into a decision.
//!
//! A decision is *shown back* when it is printed again, so that the person can confirm it before it is sent. A decision
//! is sent in two cases: its option was chosen by number or name, or the decision was shown back and confirmed. After a
//! decision was shown back, `yes` confirms this decision and never selects an option.

use std::time::Instant;

use holdshort_presentation::card::{free_text_option, readable};
use holdshort_protocol::{Decision, FieldError, Interrupt, Kind, Offer, parts_of_lines, plain};
use serde_json::Value;

use super::paint::Paint;
use super::quote::{Cap, quote};
use super::{card, diff, earlier_answers, naming};

pub(crate) mod also;
mod confirm;
mod fields;
mod shape;
mod value_kind;

use fields::{Filled, Filling};

#[derive(Debug)]
pub struct Prompt {
    pub interrupt: Interrupt,
    stage: Stage,
    /// Form of an interrupt whose answer is complete and waits for the person's confirmation.
    filled: Option<Filling>,
    /// True if the hint about an empty input line was already printed.
    hinted: bool,
    /// Time at which the card was printed on the terminal.
    shown: Instant,
    /// Number of lines of the card that the person has not seen, because the terminal omitted them.
    cut_lines: usize,
    /// True if the input is a script, which cannot answer a further question.
    in_script: bool,
}

#[derive(Debug)]
enum Stage {
    Choose,
    /// The chosen option needs a text, and the next input line is this text. Contains the id of the option.
    Words(String),
    /// The person fills in the form of a structured answer, field by field.
    Fill(Filling),
    /// A decision was printed for confirmation. Enter or `yes` sends the decision, and `no` discards it. A risky
    /// decision needs `yes`.
    Confirm(Decision),
    /// A decision that creates a grant waits for confirmation. The person was shown the other open calls that the grant
    /// would approve.
    Also(Decision),
    /// The next input line is the reason for a freeze.
    Freeze,
}

/// Action of the terminal after a person has typed a line at a prompt.
#[derive(Debug, PartialEq)]
pub enum Reaction {
    /// The terminal prints these lines, and waits for another line.
    Ask(Vec<String>),
    Decide(Decision),
    Edit(Editing),
    Help,
    Uncut,
    /// The terminal freezes all runs, with this reason.
    Freeze(String),
    Detach,
}

/// Text that opens in the editor, and the option with which the edited text is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Editing {
    pub option: String,
    pub text: String,
    pub form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The text that the person edits is JSON, and is parsed when the editor closes.
    Json,
    /// The text that the person edits is plain text.
    Text,
    /// The text that the person edits is a list of paths, one per line. The changes of these paths are kept.
    Paths,
    /// The text that the person writes is a message that is sent with the decision.
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
    /// Creates a prompt for an interrupt. `cut_lines` is the number of lines that the card of the interrupt omitted.
    pub(crate) fn new(interrupt: Interrupt, cut_lines: usize) -> Self {
        let stage = filling(&interrupt).map_or(Stage::Choose, Stage::Fill);
        let shown = Instant::now();
        Self { interrupt, stage, filled: None, hinted: false, shown, cut_lines, in_script: false }
    }

    /// Records that the terminal has printed all lines of a card. Returns true if the server had omitted nothing from
    /// the card.
    pub(crate) fn mark_shown_whole(&mut self) -> bool {
        self.cut_lines = 0;
        self.shows_all()
    }

    /// Returns true if the person has seen the whole card: neither the terminal nor the server has omitted a part of
    /// it.
    pub(crate) fn shows_all(&self) -> bool {
        self.cut_lines == 0 && self.interrupt.unseen.is_none()
    }

    /// Adds to the decision the time, in milliseconds, for which the card was on the screen.
    pub(crate) fn timed(&self, decision: Decision) -> Decision {
        let ms = u64::try_from(self.shown.elapsed().as_millis()).ok();
        Decision { viewed_ms: ms, ..decision }
    }

    /// Returns the text that is printed before the person's input.
    pub(crate) fn label(&self) -> &'static str {
        match &self.stage {
            Stage::Choose => "> ",
            Stage::Words(_) => "your words> ",
            Stage::Freeze => "reason for the freeze> ",
            Stage::Fill(_) => "your answer> ",
            Stage::Also(_) => also::KEYS,
            Stage::Confirm(decision) if self.needs_explicit_yes(decision) => {
                "y sends it, n drops it, or type something else> "
            }
            Stage::Confirm(_) => "Enter sends it, n drops it, or type something else> ",
        }
    }

    /// Returns the lines below the options of a card that describe what the person can type.
    pub(crate) fn keys(&self, paint: Paint) -> Vec<String> {
        let typed = match free_text_option(&self.interrupt) {
            Some(offer) if self.interrupt.takes_a_number() && offer.needs_edit => {
                "the answer as JSON, or an option's name"
            }
            Some(_) if self.interrupt.takes_a_number() && !self.interrupt.suggestions().is_empty() => {
                "an answer by its text or as #1, your own words, or an option's name"
            }
            Some(_) if self.interrupt.takes_a_number() => "your own words, or an option's name",
            None if self.interrupt.takes_a_number() => "an option's name",
            Some(offer) if offer.needs_edit => "a number, or the answer as JSON",
            Some(offer) if offer.effect == "respond" => "a number, or your own words",
            Some(offer) if offer.effect == "proceed" => "a number, or your own words to send along",
            Some(offer) if offer.id == "abort" => "a number, or your own words to abort with",
            Some(offer) if offer.effect == "replan" => "a number, or your own words to ask for another plan",
            Some(_) => "a number, or your own words to reject it",
            None => "a number",
        };
        if let Stage::Fill(filling) = &self.stage {
            let keys =
                "  e the whole answer as JSON · o the other options · ? explain · v show all · d leave";
            let keys = paint.fold(keys, 2).into_iter().map(|line| paint.dim(&line));
            return keys.chain([filling.ask()]).collect();
        }
        let shape = free_text_option(&self.interrupt)
            .filter(|offer| offer.needs_edit && self.interrupt.kind == Kind::Question)
            .and(self.interrupt.response_schema.as_ref())
            .map(|schema| format!("  The answer is {}", shape::shape(schema)));
        let edit = if self.interrupt.editable().is_some() { " · e edit" } else { "" };
        let some = if self.interrupt.keeping().is_some() { " · f by file" } else { "" };
        let earlier = if self.interrupt.suggestions_from_history.is_empty() { "" } else { " · h as before" };
        let keys = format!("  {typed}{earlier}{edit}{some} · ? explain · v show all · d leave");
        let folded = shape.iter().flat_map(|shape| paint.fold(shape, 2)).chain(paint.fold(&keys, 2));
        let cut = self.describe_cut().map(|cut| paint.yellow(&format!("  {cut}")));
        cut.into_iter().chain(folded.map(|line| paint.dim(&line))).collect()
    }

    pub(crate) fn line(&mut self, line: &str, paint: Paint) -> Reaction {
        let line = line.trim();
        match std::mem::replace(&mut self.stage, Stage::Choose) {
            Stage::Confirm(decision) => self.confirmed(decision, line, paint),
            Stage::Also(_) if matches!(line, "d" | "detach") => Reaction::Detach,
            Stage::Also(decision) => self.also(decision, line, paint),
            Stage::Words(option) if !line.is_empty() => {
                if self.asks_again(&option).is_some() {
                    return self.confirm(&option, line, paint);
                }
                Reaction::Decide(self.decision(&option, Some(line.to_owned())))
            }
            Stage::Words(_) => Reaction::Ask(vec!["  You typed no text, so nothing is decided.".to_owned()]),
            Stage::Fill(filling) => self.fill(filling, line, paint),
            Stage::Freeze => {
                self.stage = filling(&self.interrupt).map_or(Stage::Choose, Stage::Fill);
                match line {
                    "" => Reaction::Ask(vec!["  You gave no reason, so nothing is frozen.".to_owned()]),
                    reason => Reaction::Freeze(reason.to_owned()),
                }
            }
            Stage::Choose => self.choose(line, paint),
        }
    }

    /// Handles a line that a person typed in a conversation. The answer to a question is sent without confirmation. A
    /// script cannot confirm, so its text is also sent at once if the decision starts no work.
    pub fn read_conversation_line(&mut self, line: &str, in_script: bool, paint: Paint) -> Reaction {
        self.in_script = in_script;
        let was_choosing = self.is_choosing();
        let reaction = self.line(line, paint);
        let Stage::Confirm(decision) = &self.stage else { return reaction };
        // A number could be an answer as well as the position of a choice.
        let is_clear =
            in_script || self.interrupt.suggestions().is_empty() || line.trim().parse::<f64>().is_err();
        let is_sent = (self.interrupt.kind == Kind::Question && is_clear)
            || (in_script && self.releases_nothing(decision));
        let is_words =
            decision.text.is_some() && decision.from.is_none() && self.asks_again(&decision.option).is_none();
        if was_choosing && is_words && is_sent {
            return Reaction::Decide(decision.clone());
        }
        reaction
    }

    /// Returns true if the line is a valid value of the form field that is being filled in.
    pub fn accepts_value(&self, line: &str) -> bool {
        matches!(&self.stage, Stage::Fill(filling) if filling.accepts_value(line))
    }

    /// Returns true while the person has chosen no option of the card, and no decision waits for confirmation.
    pub fn is_choosing(&self) -> bool {
        matches!(self.stage, Stage::Choose)
    }

    /// Returns the number of options that a single key can select. Returns 0 if there are none, for example for a
    /// question, because its answer may begin with a digit.
    pub(crate) fn digits(&self) -> usize {
        let is_words = matches!(self.interrupt.kind, Kind::Question | Kind::Choice | Kind::Turn);
        let count = self.interrupt.suggestions().len() + self.interrupt.options.len();
        if is_words || !self.is_choosing() || self.interrupt.takes_a_number() || count > 9 {
            0
        } else {
            count
        }
    }

    /// Handles a line that a person typed while a form is filled in. A line of JSON is the complete answer, and not the
    /// value of one field.
    fn fill(&mut self, mut filling: Filling, line: &str, paint: Paint) -> Reaction {
        let is_key = matches!(line, "?" | "help" | "d" | "detach" | "v" | "e" | "!")
            || filling.is_whole(line)
            || earlier_answers::parse_answer_number(&self.interrupt, line).is_some();
        if is_key && !filling.accepts_value(line) {
            let reaction = self.choose(line, paint);
            if self.is_choosing() {
                self.stage = Stage::Fill(filling);
            }
            return reaction;
        }
        if line == "o" && !filling.accepts_value(line) {
            let mut shown = card::options(&self.interrupt, paint);
            shown.extend(self.keys(paint));
            return Reaction::Ask(shown);
        }
        match filling.line(line) {
            Filled::On(told) => {
                let shown = told.into_iter().chain([filling.ask()]).collect();
                self.stage = Stage::Fill(filling);
                Reaction::Ask(shown)
            }
            Filled::Whole(answer) => match free_text_option(&self.interrupt).map(|offer| offer.id.clone()) {
                Some(option) => {
                    self.filled = Some(filling);
                    self.data(&option, &answer.to_string(), paint)
                }
                None => Reaction::Ask(Vec::new()),
            },
        }
    }

    /// Handles an answer that the server rejected. In a form, the person has to fill in only the fields with errors
    /// again. Returns the lines that describe the keys, because the errors have pushed them off the screen.
    pub(crate) fn refused(&mut self, problems: &[FieldError], paint: Paint) -> Vec<String> {
        if let Some(filling) = self.filled.take().and_then(|filling| filling.refused(problems)) {
            self.stage = Stage::Fill(filling);
        }
        self.keys(paint)
    }

    /// Returns true if the person has to type the complete answer to the interrupt as JSON.
    pub(crate) fn takes_json(&self) -> bool {
        let takes_data = free_text_option(&self.interrupt).is_some_and(|offer| offer.needs_edit);
        self.interrupt.kind == Kind::Question && takes_data && filling(&self.interrupt).is_none()
    }

    /// Handles a line that a person typed while the completed form waits for confirmation. Returns `None` if the line
    /// is not about the form.
    fn beside_a_form(&mut self, decision: &Decision, line: &str, paint: Paint) -> Option<Reaction> {
        let filled = self.filled.as_ref()?;
        if line == "o" {
            self.filled = None;
            return Some(Reaction::Ask([card::options(&self.interrupt, paint), self.keys(paint)].concat()));
        }
        // Here a number is more likely the value of a field than an option.
        let is_option = naming::number(&self.interrupt, line).is_none()
            && naming::listed(&self.interrupt, line).is_some();
        let is_earlier = earlier_answers::parse_answer_number(&self.interrupt, line).is_some();
        if matches!(line, "d" | "detach") || is_option || is_earlier || filled.is_whole(line) {
            return None;
        }
        let offer = self.interrupt.offer(&decision.option);
        let reaction = match offer.filter(|_| line == "e") {
            Some(offer) => {
                Reaction::Edit(Editing { text: readable(&decision.edit), ..self.editing_for(offer) })
            }
            None => Reaction::Ask(vec![format!(
                "  “{}”: Enter sends what is shown, e changes it, n asks for each part again; o shows the other options.",
                plain::line(line)
            )]),
        };
        self.stage = Stage::Confirm(decision.clone());
        Some(reaction)
    }

    /// Returns true if the editor was opened with the original draft, and not with an answer that the person has typed.
    fn is_untouched(&self, editing: &Editing) -> bool {
        let offer = self.interrupt.offer(&editing.option);
        offer.is_some_and(|offer| self.editing_for(offer).text == editing.text)
    }

    /// Handles the text that a person saved in the editor.
    pub(crate) fn edited(&mut self, editing: &Editing, saved: &str, paint: Paint) -> Reaction {
        let saved = saved.trim_end_matches('\n');
        // A draft that the person has not changed, such as the schema's `default`, can be the answer. A draft with
        // blanks cannot.
        let may_stand =
            self.interrupt.kind == Kind::Question && !(self.is_untouched(editing) && has_blanks(editing));
        let is_same = !may_stand && saved == editing.text.trim_end_matches('\n');
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
                        paint.red(&format!("That is not valid JSON: {error}. e opens it again."))
                    )]);
                }
            },
        }
        self.filled = None;
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
        if let Some(answer) = naming::suggested(&self.interrupt, line) {
            let answer = Some(answer.to_owned());
            return Reaction::Decide(self.decision("answer", answer));
        }
        match line {
            "" => return self.empty(paint),
            "?" | "help" => return Reaction::Help,
            "d" | "detach" => return Reaction::Detach,
            "v" => return Reaction::Uncut,
            "!" => {
                self.stage = Stage::Freeze;
                return Reaction::Ask(vec![
                    "  Until the freeze is lifted, no call starts. An empty line freezes nothing.".to_owned(),
                ]);
            }
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
        if let Some(number) = earlier_answers::parse_answer_number(&self.interrupt, line) {
            return self.earlier(number, paint);
        }
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
        match free_text_option(&self.interrupt).map(|offer| (offer.id.clone(), offer.needs_edit)) {
            Some((id, true)) => self.data(&id, line, paint),
            Some((id, false)) => self.confirm(&id, line, paint),
            None => {
                let typed = if self.interrupt.takes_a_number() { "an option's name" } else { "a number" };
                let line = plain::line(line);
                let told = format!("  “{line}” is not an option; type {typed}, or ? for an explanation.");
                Reaction::Ask(vec![told])
            }
        }
    }

    /// Prints the earlier answer with the number `number`, so that the person can confirm it before it is sent.
    fn earlier(&mut self, number: usize, paint: Paint) -> Reaction {
        let all = &self.interrupt.suggestions_from_history;
        let chosen = number.checked_sub(1).and_then(|at| all.get(at));
        let Some((suggestion, decision)) =
            chosen.and_then(|chosen| Some((chosen, earlier_answers::decision(&self.interrupt, chosen)?)))
        else {
            return Reaction::Ask(vec![format!(
                "  There is no h{number}; earlier answers found: {}.",
                all.len()
            )]);
        };
        let mut shown = vec![format!("  {}", self.sentence(&decision.option))];
        shown.extend(quote(&readable(&suggestion.answer), "   ", Cap::None, paint));
        self.stage = Stage::Confirm(decision);
        Reaction::Ask(shown)
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

    /// Chooses the option of the interrupt with the typed number or name. Returns `None` if the typed line names no
    /// option.
    fn picked(&mut self, line: &str) -> Option<Reaction> {
        let suggested = self.interrupt.suggestions().len();
        if let Some(number) = naming::number(&self.interrupt, line) {
            let last = suggested + self.interrupt.options.len();
            if (number == 0 || number > last) && suggested > 0 {
                // A number that selects nothing is treated as an answer, and the answer must be confirmed.
                return None;
            }
            if number == 0 || number > last {
                return Some(Reaction::Ask(vec![format!(
                    "  There is no option {number}: choose 1 to {last}."
                )]));
            }
        } else if suggested > 0 && naming::parse_suggestion_number(&self.interrupt, line).is_some() {
            return Some(Reaction::Ask(vec![format!(
                "  There is no suggested answer {line}: choose #1 to #{suggested}."
            )]));
        }
        let offer = naming::option(&self.interrupt, line)?.clone();
        if offer.needs_edit {
            return Some(Reaction::Edit(self.editing_for(&offer)));
        }
        if offer.needs_text {
            let what = format!("  {} An empty line goes back.", self.sentence(&offer.id));
            self.stage = Stage::Words(offer.id);
            return Some(Reaction::Ask(vec![what]));
        }
        let decision = self.decision(&offer.id, None);
        let Some(why) = self.asks_again(&offer.id) else { return Some(Reaction::Decide(decision)) };
        let shown = vec![format!("  {}: {why}.", plain::line(&offer.label))];
        self.stage = Stage::Confirm(decision);
        Some(Reaction::Ask(shown))
    }

    /// Parses a structured answer that a person typed as JSON on one line, and asks for confirmation.
    fn data(&mut self, option: &str, line: &str, paint: Paint) -> Reaction {
        let edit = match serde_json::from_str(line) {
            Ok(edit) => edit,
            Err(error) => {
                let told = format!("The answer must be JSON, but this is not: {error}. e opens an editor.");
                return Reaction::Ask(vec![format!("  {}", paint.red(&told))]);
            }
        };
        let mut shown = vec![format!("  {}", self.sentence(option))];
        shown.extend(quote(&readable(&edit), "   ", Cap::None, paint));
        self.stage = Stage::Confirm(Decision { edit, ..self.decision(option, None) });
        Reaction::Ask(shown)
    }

    fn decision(&self, option: &str, text: Option<String>) -> Decision {
        let (option, version) = (option.to_owned(), Some(self.interrupt.version));
        Decision { option, text, version, ..Decision::default() }
    }

    /// Returns the text of the interrupt that the key `e` opens in the editor.
    fn editing(&self) -> Option<Editing> {
        match self.interrupt.editable() {
            Some(offer) => Some(self.editing_for(offer)),
            None => free_text_option(&self.interrupt).map(|offer| Editing {
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
        let text = readable(&self.interrupt.draft());
        Editing { option: offer.id.clone(), text, form }
    }
}

/// Returns the empty form for a question with a structured answer. Returns `None` if a form cannot ask for the answer
/// field by field.
fn filling(interrupt: &Interrupt) -> Option<Filling> {
    let takes_data = free_text_option(interrupt).is_some_and(|offer| offer.needs_edit);
    let schema =
        interrupt.response_schema.as_ref().filter(|_| interrupt.kind == Kind::Question && takes_data)?;
    Filling::from_schema(schema)
}

/// Returns true if the JSON in the editor contains null, which marks a value that the person must fill in.
fn has_blanks(editing: &Editing) -> bool {
    fn is_blank(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Array(items) => items.iter().any(is_blank),
            Value::Object(members) => members.values().any(is_blank),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }
    matches!(editing.form, Form::Json)
        && serde_json::from_str(&editing.text).is_ok_and(|value| is_blank(&value))
}

#[cfg(test)]
mod also_tests;
#[cfg(test)]
mod form_tests;
#[cfg(test)]
mod number_tests;
#[cfg(test)]
mod risk_tests;
#[cfg(test)]
mod tests;
