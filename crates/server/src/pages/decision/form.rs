//! The form of a decision page, and the input that a person sends with it. If the input has errors, the form is shown
//! again with this input.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::schema::Problem;
use holdshort_presentation::card::{effect_beside, readable};
use holdshort_protocol::pointer::is_within;
use holdshort_protocol::{
    Decision, FieldError, Input, Interrupt, Kind, Member, Offer, Outcome, TrialCard, answer_of,
    parts_of_lines, plain,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::edit::Edit;

/// Fields of the decision page's form, as the browser sends them.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "Vec<(String, String)>")]
pub(super) struct Typed {
    option: String,
    /// Index of the suggested answer that the person chose in the form. Empty if the person chose none.
    choice: String,
    text: String,
    edit: String,
    /// Values that the person typed for the fields of a structured answer, by the index of the field.
    members: BTreeMap<usize, String>,
    /// Paths whose changes the person wants to keep, one per line. `None` if the form has no list of paths.
    keep: Option<String>,
    /// Ids of other open interrupts that the person also wants to approve with the grant of the decision.
    also: BTreeSet<String>,
    /// Ids of the other open interrupts for which the decision page had a check box, in their order.
    also_shown: Vec<String>,
    confirm: String,
    /// Number that the person copied from the decision page, which shows that no program sent the form. Only the page
    /// of a link in a message asks for a number.
    number: String,
    version: Option<u64>,
}

/// Prefix of the names of form fields for a structured answer. The index of the answer's member follows this prefix.
const MEMBER: &str = "answer-";

/// Prefix of the names of check boxes for other open interrupts. The id of the interrupt follows this prefix.
const ALSO: &str = "also-";

impl TryFrom<Vec<(String, String)>> for Typed {
    type Error = String;

    fn try_from(fields: Vec<(String, String)>) -> Result<Self, String> {
        let (mut typed, mut seen) = (Self::default(), BTreeSet::new());
        for (name, value) in fields {
            if !seen.insert(name.clone()) {
                return Err(format!("duplicate field `{name}`"));
            }
            match &*name {
                "option" => typed.option = value,
                "choice" => typed.choice = value,
                "text" => typed.text = value,
                "edit" => typed.edit = value,
                "keep" => typed.keep = Some(value),
                "confirm" => typed.confirm = value,
                "also_shown" => typed.also_shown = value.split_whitespace().map(str::to_owned).collect(),
                name if name.starts_with(ALSO) => {
                    typed.also.insert(name[ALSO.len()..].to_owned());
                }
                "number" => typed.number = value,
                "version" => {
                    let version = value.parse().map_err(|_| "field `version` is not a number")?;
                    typed.version = Some(version);
                }
                _ => {
                    let place = name.strip_prefix(MEMBER).and_then(|place| place.parse().ok());
                    let place: usize = place.ok_or_else(|| format!("unknown field `{name}`"))?;
                    typed.members.insert(place, value);
                }
            }
        }
        Ok(typed)
    }
}

impl Typed {
    /// Returns the decision that the submitted form of the decision page contains, and the errors in this form.
    /// `number` is the number that the person had to type, if the page asked for one.
    pub(super) fn decision(&self, interrupt: &Interrupt, number: Option<&str>) -> (Decision, Vec<Problem>) {
        let mut problems = Vec::new();
        if number.is_some_and(|number| number != self.number.trim()) {
            problems.push(Problem::new(
                "/number",
                "is missing or wrong: type the number that is shown above this field",
            ));
        }
        let option = interrupt.options.iter().find(|option| option.id == self.option);
        let mut decision = Decision {
            option: self.option.clone(),
            text: self.text(interrupt, option, &mut problems),
            edit: self.edit(interrupt, option, &mut problems),
            version: self.version,
            ..Decision::default()
        };
        // A link that was sent in a message is for one interrupt only, so it cannot approve other interrupts.
        if number.is_none() && option.is_some_and(Offer::gives_grant) {
            decision.also = self.also_shown.iter().filter(|id| self.also.contains(*id)).cloned().collect();
            decision.also_shown.clone_from(&self.also_shown);
        }
        if decision.text.is_some() && option.is_some_and(|option| self.lacks_answer(interrupt, option)) {
            let rule = "are sent only as a note beside the answer: also fill in the fields of the answer";
            problems.push(Problem::new("/text", rule));
        }
        let goes_on = option.is_none_or(Offer::releases);
        let is_unseen = match option {
            Some(option) => interrupt.unseen_by(option, &decision.edit).is_some(),
            None => interrupt.unseen.is_some(),
        };
        if let Some(why) = confirms(interrupt, is_unseen).filter(|_| goes_on && self.confirm.is_empty()) {
            problems.push(Problem::new(
                "/confirm",
                format!("is required to let the work continue, because {why}"),
            ));
        }
        (decision, problems)
    }

    /// Returns true if the chosen option needs a structured answer and the person left all fields of the answer empty.
    fn lacks_answer(&self, interrupt: &Interrupt, option: &Offer) -> bool {
        let is_blank = |typed: &String| typed.trim().is_empty();
        interrupt.kind == Kind::Question
            && option.needs_edit
            && is_blank(&self.edit)
            && self.members.values().all(is_blank)
    }

    fn text(
        &self,
        interrupt: &Interrupt,
        option: Option<&Offer>,
        problems: &mut Vec<Problem>,
    ) -> Option<String> {
        let own = unix(&self.text);
        let suggested =
            self.choice.parse().ok().and_then(|place: usize| interrupt.suggestions().get(place).copied());
        match suggested.filter(|_| option.is_some_and(|option| option.needs_text)) {
            Some(_) if !own.trim().is_empty() => {
                problems.push(Problem::new(
                    "/text",
                    "must be empty if you choose a suggested answer: choose a suggested answer, or write \
                    your own",
                ));
                None
            }
            Some(suggested) => Some(suggested.to_owned()),
            None => Some(own).filter(|own| !own.trim().is_empty()),
        }
    }

    fn edit(&self, interrupt: &Interrupt, option: Option<&Offer>, problems: &mut Vec<Problem>) -> Value {
        let Some(option) = option else { return Value::Null };
        let keep = self.keep.as_deref().map(|keep| parts_of_lines(&unix(keep)));
        if option.keeps_some() {
            return Value::from(keep.unwrap_or_default());
        }
        let all = || parts_of_lines(&interrupt.parts_as_lines());
        if option.releases() && keep.is_some_and(|keep| keep != all()) {
            let rule = "is changed, but this option applies to all paths: choose the option for some of the \
                changes, or restore the list";
            problems.push(Problem::new("/keep", rule));
        }
        if let Some(members) = answer_members(interrupt) {
            if !option.needs_edit {
                return Value::Null;
            }
            let typed = |at: usize| self.members.get(&at).map(|typed| unix(typed)).unwrap_or_default();
            return answer_of(&members, typed).unwrap_or_else(|wrong| {
                problems.extend(wrong.into_iter().map(|(pointer, message)| Problem::new(pointer, message)));
                Value::Null
            });
        }
        let Some(edit) = Edit::from_interrupt(interrupt) else { return Value::Null };
        let typed = unix(&self.edit);
        if option.needs_edit {
            return edit.read(&typed).unwrap_or_else(|problem| {
                problems.push(Problem::new("/edit", problem));
                Value::Null
            });
        }
        // The person changed the text but chose an option that ignores the change. This is probably a mistake.
        if option.releases() && !typed.is_empty() && edit.is_changed(&typed) {
            let rule =
                "is changed, but this option ignores changes: choose another option, or undo your change";
            problems.push(Problem::new("/edit", rule));
        }
        Value::Null
    }
}

/// Returns the members of the structured answer to an interrupt. Returns `None` unless the schema of the answer
/// describes an object of plain values.
fn answer_members(interrupt: &Interrupt) -> Option<Vec<Member<'_>>> {
    interrupt.editable().filter(|_| interrupt.kind == Kind::Question)?;
    Member::all(interrupt.response_schema.as_ref()?)
}

/// Returns the name of the form field for a structured answer's member with the index `place`.
fn member_field(place: usize) -> String {
    format!("{MEMBER}{place}")
}

/// Values of the form on the decision page, for the template of this page.
#[derive(Serialize)]
pub(super) struct Form<'a> {
    version: u64,
    suggestions: Vec<Suggestion<'a>>,
    /// Hint below the text field of the form that says how the chosen option uses the text.
    words_are: &'static str,
    text: Field<'a>,
    /// Input fields for a structured answer, one for each member of the JSON object. The page shows these fields
    /// instead of the editor in `edit`.
    members: Vec<MemberInput<'a>>,
    edit: Option<Editor<'a>>,
    keep: Option<Field<'a>>,
    /// True if the changes that the decision page lists are an undo of earlier changes.
    is_undo: bool,
    /// Sentence with the number of changed paths that do not fit into the list on the decision page.
    keep_more: Option<String>,
    also: Vec<Also<'a>>,
    /// Value of a hidden form field: the ids of all interrupts in `also`.
    also_shown: String,
    confirm: Option<Confirm<'a>>,
    number: Option<Number<'a>>,
    options: Vec<Offered<'a>>,
    problems: Vec<Wrong<'a>>,
}

/// Check box for another open interrupt of the run, which the grant of the decision would approve too.
#[derive(Serialize)]
struct Also<'a> {
    name: String,
    title: &'a str,
    is_ticked: bool,
}

#[derive(Serialize)]
struct Suggestion<'a> {
    label: Cow<'a, str>,
    is_chosen: bool,
}

/// Input field for one member of a structured answer, without a default value.
#[derive(Serialize)]
struct MemberInput<'a> {
    id: String,
    label: String,
    description: Option<&'a str>,
    /// Ids of the HTML elements that describe the input field, separated by spaces.
    described_by: String,
    is_required: bool,
    /// Kind of the HTML input field: `text`, `integer`, `number` or `choice`.
    input: &'static str,
    choices: Vec<Choice>,
    field: Field<'a>,
}

#[derive(Serialize)]
struct Choice {
    label: String,
    is_chosen: bool,
}

#[derive(Serialize)]
struct Editor<'a> {
    /// Text of the HTML element that a person clicks to open the editor.
    summary: &'static str,
    label: &'static str,
    /// JSON schema of the answer that the person edits; `None` if the answer has no schema.
    schema: Option<String>,
    is_text: bool,
    is_open: bool,
    field: Field<'a>,
}

/// Error in the person's input on the decision page, and the form field that contains the error.
#[derive(Serialize)]
struct Wrong<'a> {
    field: Option<String>,
    label: String,
    message: &'a str,
}

/// Check box that the person must tick before an option lets the work continue.
#[derive(Serialize)]
struct Confirm<'a> {
    risk: bool,
    /// Name of the thing that the person confirms to have read, such as `the plan`.
    what: &'static str,
    /// Description of the parts of the change that the decision page does not show. `None` if the page shows the
    /// complete change.
    unseen: Option<&'a str>,
    field: Field<'a>,
}

/// Number that the person must copy from the decision page. A mail scanner that submits forms does not type this
/// number.
#[derive(Serialize)]
struct Number<'a> {
    shown: String,
    field: Field<'a>,
}

#[derive(Serialize)]
struct Field<'a> {
    value: String,
    problem: Option<&'a str>,
}

#[derive(Serialize)]
struct Offered<'a> {
    id: &'a str,
    label: Cow<'a, str>,
    /// CSS class of the option's button: `go` if the option lets the work continue, `stop` if it ends the work, and
    /// otherwise empty.
    tone: &'static str,
    notes: Vec<Cow<'a, str>>,
    /// True if the browser lets the person choose the option without a tick in the confirmation check box.
    holds: bool,
}

impl<'a> Form<'a> {
    pub(super) fn new(interrupt: &'a Interrupt, number: Option<String>) -> Self {
        let edit = Edit::from_interrupt(interrupt).map(|edit| edit.text.clone()).unwrap_or_default();
        Self::draw(interrupt, &Typed { edit, ..Typed::default() }, number, &[])
    }

    /// Returns the form of the decision page again, with the person's input and the errors in this input.
    pub(super) fn again(
        interrupt: &'a Interrupt,
        typed: &Typed,
        number: Option<String>,
        problems: &'a [FieldError],
    ) -> Self {
        Self::draw(interrupt, typed, number, problems)
    }

    fn draw(
        interrupt: &'a Interrupt,
        typed: &Typed,
        number: Option<String>,
        problems: &'a [FieldError],
    ) -> Self {
        let chosen = interrupt.options.iter().find(|option| option.id == typed.option);
        let edit_field = if chosen.is_some_and(Offer::keeps_some) { "keep" } else { "edit" };
        let is_undo = TrialCard::from_payload(&interrupt.payload).is_some_and(TrialCard::is_undo);
        let members = answer_members(interrupt).unwrap_or_default();
        let wrong = |problem| wrong(problem, edit_field, is_undo, &members);
        let wrong: Vec<Wrong<'_>> = problems.iter().map(wrong).collect();
        let field = |name: &str, value: &str| {
            let problem =
                wrong.iter().find(|wrong| wrong.field.as_deref() == Some(name)).map(|wrong| wrong.message);
            Field { value: value.to_owned(), problem }
        };
        let editor = |edit: Edit| {
            let field = field("edit", &typed.edit);
            let answers = interrupt.kind == Kind::Question;
            let is_open = answers || field.problem.is_some() || edit.is_changed(&unix(&typed.edit));
            let summary = if answers { "Write the answer" } else { "Change it before it continues" };
            let schema = interrupt.response_schema.as_ref().filter(|_| answers).map(readable);
            Editor { summary, label: edit.label, schema, is_text: edit.is_text, is_open, field }
        };
        let takes_data = interrupt.kind == Kind::Question && interrupt.editable().is_some();
        // A link that was sent in a message is for one interrupt only, so it cannot approve other interrupts.
        let also_covers = if number.is_none() { interrupt.also_covers.as_slice() } else { &[] };
        let also = also_covers.iter().map(|each| Also {
            name: format!("{ALSO}{}", each.interrupt),
            title: &each.title,
            is_ticked: !typed.also_shown.contains(&each.interrupt) || typed.also.contains(&each.interrupt),
        });
        let ids: Vec<&str> = also_covers.iter().map(|each| each.interrupt.as_str()).collect();
        Self {
            also: also.collect(),
            also_shown: ids.join(" "),
            version: interrupt.version,
            suggestions: interrupt
                .suggestions()
                .into_iter()
                .enumerate()
                .map(|(place, label)| Suggestion {
                    label: plain::line(label),
                    is_chosen: typed.choice == place.to_string(),
                })
                .collect(),
            words_are: if takes_data {
                "A note with the answer."
            } else {
                "An answer, a reason or a note to the agent."
            },
            text: field("text", &typed.text),
            members: members
                .iter()
                .enumerate()
                .map(|(at, member)| {
                    let value = typed.members.get(&at).map(|typed| unix(typed)).unwrap_or_default();
                    member_input(at, member, field(&member_field(at), &value))
                })
                .collect(),
            edit: Edit::from_interrupt(interrupt).filter(|_| members.is_empty()).map(editor),
            keep: interrupt.keeping().map(|_| {
                let all = || interrupt.parts_as_lines();
                field("keep", &typed.keep.clone().unwrap_or_else(all))
            }),
            is_undo,
            keep_more: interrupt.parts_not_listed(),
            confirm: confirms(interrupt, interrupt.unseen.is_some()).map(|_| Confirm {
                risk: interrupt.risk.level.is_risky(),
                what: looked_at(interrupt.kind),
                unseen: interrupt.unseen.as_deref(),
                field: field("confirm", &typed.confirm),
            }),
            number: number.map(|shown| Number { shown, field: field("number", &typed.number) }),
            options: interrupt
                .options
                .iter()
                .map(|option| {
                    let is_alone = also_covers.is_empty();
                    offered(option, interrupt, is_undo, !members.is_empty(), is_alone)
                })
                .collect(),
            problems: wrong,
        }
    }
}

/// Describes an error in the submitted form, and the form field that contains this error. `edit_field` is the name of
/// the form field with the edit.
fn wrong<'a>(
    problem: &'a FieldError,
    edit_field: &'static str,
    is_undo: bool,
    members: &[Member<'_>],
) -> Wrong<'a> {
    let message = problem.message.as_str();
    if let Some(at) = members.iter().position(|member| member.is_meant_by(&problem.pointer)) {
        let label = members[at].label.clone().into_owned();
        return Wrong { field: Some(member_field(at)), label, message };
    }
    if !members.is_empty() && is_within(&problem.pointer, "/edit") {
        return Wrong { field: Some(member_field(0)), label: "Your answer".to_owned(), message };
    }
    let place = problem.pointer.strip_prefix('/').unwrap_or_default();
    let (field, inside) = place.split_once('/').unwrap_or((place, ""));
    let field = if field == "edit" { edit_field } else { field };
    let label = match field {
        "text" => "Your words".to_owned(),
        "edit" => format!("Your change {inside}").trim_end().to_owned(),
        "keep" if is_undo => "The list of paths to undo".to_owned(),
        "keep" => "The list of paths to keep".to_owned(),
        "confirm" => "The tick".to_owned(),
        "also" => "The other open calls".to_owned(),
        "number" => "The number".to_owned(),
        other => other.to_owned(),
    };
    let field = Some(field).filter(|field| matches!(*field, "text" | "edit" | "keep" | "confirm" | "number"));
    Wrong { field: field.map(str::to_owned), label, message }
}

fn member_input<'a>(at: usize, member: &Member<'a>, field: Field<'a>) -> MemberInput<'a> {
    let chosen = field.value.clone();
    let choice = |(place, label): (usize, String)| Choice { label, is_chosen: chosen == place.to_string() };
    let (input, choices) = match member.input() {
        Input::Text => ("text", Vec::new()),
        Input::Integer => ("integer", Vec::new()),
        Input::Number => ("number", Vec::new()),
        Input::Choice(choices) => ("choice", choices.into_iter().enumerate().map(choice).collect()),
    };
    let id = member_field(at);
    let beside = [(member.description.is_some(), "note"), (field.problem.is_some(), "problem")];
    let beside = beside.into_iter().filter(|(is_there, _)| *is_there);
    let described_by: Vec<String> = beside.map(|(_, what)| format!("{id}-{what}")).collect();
    MemberInput {
        described_by: described_by.join(" "),
        id,
        label: member.label.clone().into_owned(),
        description: member.description,
        is_required: member.is_required,
        input,
        choices,
        field,
    }
}

/// Returns the name of the thing that the person confirms to have read, such as `the plan`.
fn looked_at(kind: Kind) -> &'static str {
    match kind {
        Kind::ToolApproval | Kind::UnknownOutcome | Kind::ClientCall => "what will run",
        Kind::PlanApproval => "the plan",
        Kind::Review => "what is released",
        Kind::Checkpoint
        | Kind::Error
        | Kind::Question
        | Kind::Choice
        | Kind::Turn
        | Kind::Escalation
        | Kind::Continuation => "what this is about",
    }
}

/// Builds the template data of an option on the decision page. `is_alone` is true if the page has no check boxes for
/// other open interrupts.
fn offered<'a>(
    option: &'a Offer,
    interrupt: &Interrupt,
    is_undo: bool,
    has_members: bool,
    is_alone: bool,
) -> Offered<'a> {
    let is_answer = option.id == "answer";
    let notes = [
        (option.gives_grant() && !is_alone, "also lets the ticked calls continue"),
        (option.needs_text, "uses your text"),
        (option.keeps_some() && !is_undo, "keeps the paths above"),
        (option.keeps_some() && is_undo, "undoes the paths above"),
        (option.needs_edit && !is_answer && !option.keeps_some(), "uses your changed version"),
        (option.needs_edit && is_answer && has_members, "sends the answer above"),
        (option.needs_edit && is_answer && !has_members, "sends the answer as JSON"),
    ];
    let notes = notes.into_iter().filter(|(holds, _)| *holds).map(|(_, note)| note.into());
    Offered {
        id: &option.id,
        label: plain::line(&option.label),
        tone: match option.outcome {
            Outcome::Approved => "go",
            Outcome::Rejected | Outcome::Cancelled => "stop",
            Outcome::Answered | Outcome::Expired | Outcome::Superseded => "",
        },
        notes: effect_beside(interrupt, option).into_iter().chain(notes).collect(),
        // For an option that keeps some parts of the changes, the browser does not require the tick. The server checks
        // instead that the page showed the kept parts.
        holds: !option.releases() || option.keeps_some(),
    }
}

/// Returns the reason why the person must tick a check box before an option lets the work continue. Returns `None` if
/// no tick is required. `is_unseen` is true if the decision page does not show the whole change.
fn confirms(interrupt: &Interrupt, is_unseen: bool) -> Option<&'static str> {
    match (interrupt.risk.level.is_risky(), is_unseen) {
        (true, true) => Some("the risk is high and this page does not show the whole change"),
        (true, false) => Some("the risk is high"),
        (false, true) => Some("this page does not show the whole change"),
        (false, false) => None,
    }
}

/// Converts the line breaks that browsers send (CRLF) to LF.
fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}
