//! The rules for a case, as data. They contain thresholds with their sources, and tell when a person must review a
//! report before its release.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::casework::limits;
use crate::casework::names::NameTables;
use holdshort_tools::named;

/// Names of the numbers that a compliance rule must have, such as its threshold.
struct Row(&'static [&'static str]);

named! {
    /// Ids of the compliance rules. Findings are sorted in this order.
    RuleId: Row;
    LargeCash "large_cash" (&["amount"])
    Structuring "structuring" (&["amount", "floor", "count", "hours"])
    RoundAmounts "round_amounts" (&["multiple", "floor", "count", "hours"])
    Velocity "velocity" (&["amount", "count", "hours"])
    PassThrough "pass_through" (&["amount", "share", "hours"])
    HighRiskCountry "high_risk_country" (&[])
    NovelTechnique "novel_technique" (&[])
    Sanctions "sanctions" (&["similarity"])
    Pep "pep" (&["similarity"])
}

impl<'de> Deserialize<'de> for RuleId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| serde::de::Error::custom("there is no rule with this id"))
    }
}

/// A compliance rule: its description, its source and its numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub id: RuleId,
    pub description: String,
    pub source: String,
    /// Certainty of the rule's findings in percent. A rule about names uses the similarity of the names instead.
    pub confidence: u32,
    /// Percentage points by which a finding of this rule increases the risk of a customer or a counterparty.
    pub weight: u32,
    /// Regulatory consequences of a finding of this rule, for the person who reviews the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implications: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    amount: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    floor: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    multiple: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hours: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    share: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    similarity: Option<u32>,
}

impl Rule {
    fn numbers(&self) -> [(&'static str, Option<u32>); 7] {
        [
            ("amount", self.amount),
            ("floor", self.floor),
            ("multiple", self.multiple),
            ("count", self.count),
            ("hours", self.hours),
            ("share", self.share),
            ("similarity", self.similarity),
        ]
    }

    /// Returns the number of the compliance rule with this name, such as `amount`. The parser ensures that every rule
    /// has its numbers.
    fn number(&self, name: &str) -> i64 {
        let found = self.numbers().into_iter().find(|(known, _)| *known == name);
        found.and_then(|(_, value)| value).map_or(0, i64::from)
    }

    /// Returns the amount of the rule in hundredths of the base currency.
    pub(crate) fn amount(&self) -> i64 {
        self.number("amount") * 100
    }

    pub(crate) fn floor(&self) -> i64 {
        self.number("floor") * 100
    }

    pub(crate) fn multiple(&self) -> i64 {
        self.number("multiple") * 100
    }

    pub(crate) fn count(&self) -> usize {
        usize::try_from(self.number("count")).unwrap_or(usize::MAX)
    }

    pub(crate) fn seconds(&self) -> i64 {
        self.number("hours") * 3_600
    }

    pub(crate) fn share(&self) -> i64 {
        self.number("share")
    }

    /// Returns the minimum similarity of two names for a finding of this rule, from 0 to 1.
    pub fn least_similarity(&self) -> f64 {
        f64::from(self.similarity.unwrap_or(100)) / 100.0
    }

    /// Describes the numbers of the rule in a phrase for people who read the report.
    pub(crate) fn describe_numbers(&self) -> String {
        let named = self.numbers().into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value?)));
        named.collect::<Vec<_>>().join(", ")
    }
}

/// Condition under which a person must review the report before its release. It is met if a finding meets all given
/// criteria for findings, and the risk of the case is at least `min_risk`, if it is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    pub id: String,
    pub description: String,
    /// Rules whose findings match the condition. An empty list means all rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleId>,
    /// Minimum amount of a finding that matches the condition, in units of the base currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_amount: Option<u32>,
    /// Exclusive upper limit of the confidence of a finding that matches the condition, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below_confidence: Option<u32>,
    /// Minimum risk of the case that meets the condition, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_risk: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    pub version: String,
    /// Base currency, to which all amounts of a case are converted before they are compared.
    pub base: String,
    /// Value of one unit of each currency in the base currency, in millionths.
    pub currencies: BTreeMap<String, u64>,
    pub high_risk_countries: BTreeSet<String>,
    pub novel_kinds: BTreeSet<String>,
    /// Word lists for comparing names. [`Rules::parse_case_rules`] refuses rules without these lists.
    #[serde(default)]
    pub names: NameTables,
    pub rules: Vec<Rule>,
    pub pause: Vec<Pause>,
    /// True if the rules come from the case, and false if they come with the compliance pack.
    #[serde(skip)]
    pub are_own: bool,
}

const SHIPPED: &str = include_str!("rules.yaml");

impl Rules {
    /// Returns the text of the rules that come with the compliance pack.
    pub const fn text() -> &'static str {
        SHIPPED
    }

    /// Parses the rules that come with the compliance pack.
    ///
    /// # Errors
    /// Never fails, because a test ensures that these rules are valid.
    pub fn shipped() -> Result<Self, String> {
        Self::parse(SHIPPED)
    }

    /// Parses the rules in the folder of a case.
    ///
    /// # Errors
    /// Returns a sentence about the error in the rules.
    pub fn parse_case_rules(text: &str) -> Result<Self, String> {
        Ok(Self { are_own: true, ..Self::parse(text)? })
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.len() > limits::RULES_BYTES {
            return Err(format!("longer than {} bytes", limits::RULES_BYTES));
        }
        let options = serde_saphyr::options! {
            strict_booleans: true,
            duplicate_keys: serde_saphyr::options::DuplicateKeyPolicy::Error,
            with_snippet: false,
        };
        let rules: Self = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
            let error = error.without_snippet();
            let plain = |c: char| if c.is_control() { ' ' } else { c };
            error
                .to_string()
                .lines()
                .next()
                .unwrap_or_default()
                .chars()
                .map(plain)
                .take(200)
                .collect::<String>()
        })?;
        rules.check()?;
        Ok(rules)
    }

    fn check(&self) -> Result<(), String> {
        // A file without `names` was written for another measure of similarity. With it, the same threshold finds other
        // names.
        if self.names.are_missing() {
            return Err("`names` is missing: since version 2026-02, names are compared word by word, and an earlier \
                        `similarity` has another meaning. Copy `names` from the file that `holdshort init compliance` \
                        writes, and set `similarity` again (85 in that file)"
                .to_owned());
        }
        self.names.check()?;
        for id in RuleId::ALL {
            let mut named = self.rules.iter().filter(|rule| rule.id == *id);
            let Some(rule) = named.next() else { return Err(format!("the rule `{}` is missing", id.name())) };
            if named.next().is_some() {
                return Err(format!("the rule `{}` occurs twice", id.name()));
            }
            for (name, value) in rule.numbers() {
                match (id.row().0.contains(&name), value) {
                    (true, None) => return Err(format!("the rule `{}` needs `{name}`", id.name())),
                    (false, Some(_)) => {
                        return Err(format!("the rule `{}` has no setting `{name}`: remove it", id.name()));
                    }
                    // With a threshold of zero, every transaction would be a finding, or none.
                    (true, Some(0)) => {
                        return Err(format!(
                            "`{name}` of the rule `{}` is zero, but must be at least 1",
                            id.name()
                        ));
                    }
                    (true, Some(_)) | (false, None) => {}
                }
            }
            if rule.implications.len() > limits::IMPLICATIONS {
                let most = limits::IMPLICATIONS;
                return Err(format!("the rule `{}` has more than {most} `implications`", id.name()));
            }
            if rule.implications.iter().any(|text| text.trim().is_empty()) {
                return Err(format!("the rule `{}` has an empty entry in `implications`", id.name()));
            }
            let percents = [Some(rule.confidence), Some(rule.weight), rule.similarity];
            if percents.into_iter().flatten().any(|percent| percent > 100) {
                return Err(format!(
                    "the rule `{}` has a value above 100 percent: write at most 100",
                    id.name()
                ));
            }
        }
        match self.currencies.get(&self.base) {
            Some(1_000_000) => {}
            _ => return Err("the base currency must have the rate 1000000".to_owned()),
        }
        let is_code = |code: &String| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
        if !self.currencies.keys().all(is_code) || self.currencies.values().any(|rate| *rate == 0) {
            return Err(
                "the name of a currency must be three capital letters, and its rate must be above zero"
                    .to_owned(),
            );
        }
        for pause in &self.pause {
            let conditions = [pause.min_amount, pause.below_confidence, pause.min_risk];
            if pause.rules.is_empty() && conditions.iter().all(Option::is_none) {
                return Err("an entry of `pause` has no criterion: add one, or remove the entry".to_owned());
            }
        }
        // Without a condition, every report would be released without review.
        if self.pause.is_empty() {
            return Err("`pause` is empty".to_owned());
        }
        Ok(())
    }

    pub(crate) fn rule(&self, id: RuleId) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.id == id)
    }
}
