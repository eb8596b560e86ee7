//! Phrases of messages in each language. English phrases are used for unknown languages.

use holdshort_core::interrupt::{Kind, Outcome};
use holdshort_core::level::Level;
use holdshort_core::notice::Occasion;

/// Phrases of notifications in one language. Each `{}` is replaced by a value such as a name, a time or a kind of
/// interrupt.
pub(crate) struct Phrases {
    /// Language tag of the phrases: the value of the header `Content-Language`.
    pub(crate) tag: &'static str,
    kinds: [&'static str; 12],
    risks: [&'static str; 4],
    outcomes: [&'static str; 6],
    resolved: &'static str,
    opened: &'static str,
    asked: &'static str,
    reminded: &'static str,
    escalated: &'static str,
    expired: &'static str,
    /// Phrase that joins a kind of interrupt and a workflow, such as `review in payout`.
    of: &'static str,
    /// Phrase with quotation marks of the language, for a text that a person or an agent wrote.
    pub(crate) quoted: &'static str,
    pub(crate) risk: &'static str,
    pub(crate) asks: &'static str,
    pub(crate) expires: &'static str,
    pub(crate) by: &'static str,
    pub(crate) when: &'static str,
    pub(crate) id: &'static str,
    pub(crate) everybody: &'static str,
    pub(crate) more: &'static str,
    pub(crate) open_and_decide: &'static str,
    pub(crate) open: &'static str,
    pub(crate) in_app: &'static str,
    /// Sentence that says that the link is only for the recipient.
    pub(crate) yours: &'static str,
    /// Sentence that says that the person must sign in to decide.
    pub(crate) sign_in: &'static str,
    /// Sentence that says that nobody reads replies to this mail.
    pub(crate) no_reply: &'static str,
    /// Heading of a notification that lists several requests.
    pub(crate) several: &'static str,
    pub(crate) inbox: &'static str,
    pub(crate) not_listed: &'static str,
}

static ENGLISH: Phrases = Phrases {
    tag: "en",
    kinds: [
        "tool approval",
        "plan approval",
        "checkpoint",
        "error",
        "question",
        "choice",
        "turn",
        "escalation",
        "review",
        "continuation",
        "client call",
        "unknown outcome",
    ],
    risks: ["low", "medium", "high", "critical"],
    outcomes: ["Approved", "Rejected", "Answered", "Expired", "Not needed any more", "Replaced"],
    resolved: "Resolved",
    opened: "Waiting for a decision: {}",
    asked: "Your turn: {}",
    reminded: "Still waiting: {}",
    escalated: "Not decided yet: {}",
    expired: "Expired without a decision: {}",
    of: "{} in {}",
    quoted: "“{}”",
    risk: "Risk",
    asks: "Asked",
    expires: "Expires",
    by: "By",
    when: "At",
    id: "Id",
    everybody: "admins and operators",
    more: "{} and {} more",
    open_and_decide: "Open and decide",
    open: "Open",
    in_app: "Open in the app",
    yours: "This link is only for you. Anyone who opens the link can decide in your name. The link works \
            once, until {}. Do not share the link.",
    sign_in: "You must sign in first.",
    no_reply: "Replies to this mail are not read and decide nothing.",
    several: "{} new notifications",
    inbox: "Open the inbox",
    not_listed: "and {} more",
};

static GERMAN: Phrases = Phrases {
    tag: "de",
    kinds: [
        "Freigabe eines Aufrufs",
        "Freigabe eines Plans",
        "Kontrollpunkt",
        "Fehler",
        "Frage",
        "Auswahl",
        "Gesprächsrunde",
        "Eskalation",
        "Prüfung",
        "Fortsetzung",
        "Aufruf beim Client",
        "unklarer Ausgang",
    ],
    risks: ["niedrig", "mittel", "hoch", "kritisch"],
    outcomes: ["Freigegeben", "Abgelehnt", "Beantwortet", "Abgelaufen", "Nicht mehr nötig", "Ersetzt"],
    resolved: "Erledigt",
    opened: "Wartet auf eine Entscheidung: {}",
    asked: "Sie sind an der Reihe: {}",
    reminded: "Wartet noch immer: {}",
    escalated: "Bisher hat niemand entschieden: {}",
    expired: "Abgelaufen, niemand hat rechtzeitig entschieden: {}",
    of: "{} in {}",
    quoted: "„{}“",
    risk: "Risiko",
    asks: "Gefragt",
    expires: "Läuft ab",
    by: "Von",
    when: "Am",
    id: "Kennung",
    everybody: "Administratoren und Operatoren",
    more: "{} und {} weitere",
    open_and_decide: "Öffnen und entscheiden",
    open: "Öffnen",
    in_app: "In der App öffnen",
    yours: "Dieser Link ist für Sie allein: Wer ihn öffnet, entscheidet in Ihrem Namen. Er gilt einmal, bis {}. Geben Sie ihn nicht weiter.",
    sign_in: "Sie werden gebeten, sich anzumelden.",
    no_reply: "Eine Antwort auf diese Mail entscheidet nichts, und niemand liest sie.",
    several: "{} neue Benachrichtigungen",
    inbox: "Eingang öffnen",
    not_listed: "und {} weitere",
};

impl Phrases {
    /// Returns the phrases for a language tag. Only the first part of the tag is used: `de-AT` is German.
    pub(crate) fn for_language(language: Option<&str>) -> &'static Self {
        let first = language.unwrap_or_default().split(['-', '_']).next().unwrap_or_default();
        if first.eq_ignore_ascii_case(GERMAN.tag) { &GERMAN } else { &ENGLISH }
    }

    pub(crate) fn kind(&self, kind: Kind) -> &'static str {
        let [
            tool,
            plan,
            checkpoint,
            error,
            question,
            choice,
            turn,
            escalation,
            review,
            more,
            client,
            unknown,
        ] = self.kinds;
        match kind {
            Kind::ToolApproval => tool,
            Kind::PlanApproval => plan,
            Kind::Checkpoint => checkpoint,
            Kind::Error => error,
            Kind::Question => question,
            Kind::Choice => choice,
            Kind::Turn => turn,
            Kind::Escalation => escalation,
            Kind::Review => review,
            Kind::Continuation => more,
            Kind::ClientCall => client,
            Kind::UnknownOutcome => unknown,
        }
    }

    pub(crate) fn level(&self, risk: Level) -> &'static str {
        let [low, medium, high, critical] = self.risks;
        match risk {
            Level::Low => low,
            Level::Medium => medium,
            Level::High => high,
            Level::Critical => critical,
        }
    }

    fn outcome(&self, outcome: Option<Outcome>) -> &'static str {
        let [approved, rejected, answered, expired, cancelled, superseded] = self.outcomes;
        match outcome {
            Some(Outcome::Approved) => approved,
            Some(Outcome::Rejected) => rejected,
            Some(Outcome::Answered) => answered,
            Some(Outcome::Expired) => expired,
            Some(Outcome::Cancelled) => cancelled,
            Some(Outcome::Superseded) => superseded,
            None => self.resolved,
        }
    }

    /// Returns a phrase with the kind of an interrupt and the workflow, such as `review in payout`.
    pub(crate) fn subject(&self, kind: Kind, workflow: &str) -> String {
        filled(self.of, &[self.kind(kind), workflow])
    }

    pub(crate) fn headline(&self, occasion: Occasion, outcome: Option<Outcome>, subject: &str) -> String {
        let form = match occasion {
            Occasion::Opened => self.opened,
            Occasion::Asked => self.asked,
            Occasion::Reminded => self.reminded,
            Occasion::Escalated => self.escalated,
            // A checkpoint has separate texts in `checkpoint.rs`, so this case does not occur.
            Occasion::Expired | Occasion::Checkpoint => self.expired,
            Occasion::Resolved => return format!("{}: {subject}", self.outcome(outcome)),
        };
        filled(form, &[subject])
    }
}

/// Replaces each `{}` in the phrase `form` with the next value. A `{}` inside a value is kept.
pub(crate) fn filled(form: &str, values: &[&str]) -> String {
    let mut parts = form.split("{}");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (part, value) in parts.zip(values) {
        text.push_str(value);
        text.push_str(part);
    }
    text
}
