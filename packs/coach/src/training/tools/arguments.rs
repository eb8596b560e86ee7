//! The parameters of a call that computes a metric: their JSON Schemas and their parser. Unknown parameters are
//! rejected.

use jiff::ToSpan;
use jiff::civil::Date;
use serde_json::{Map, Value, json};

use super::result::{Refusal, RefusalCode};
use crate::training::limits;
use crate::training::metrics::Metric;
use crate::training::metrics::load::Scale;
use holdshort_tools::named;

/// Scope of a metric, which determines the parameters of a call that computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// The metric is about one activity, or about each activity in a period of days.
    Activity,
    /// The metric is about daily loads on one of the scales.
    Loads,
    /// The metric is about all activities in a period of days, taken together.
    Split,
    /// The metric is about daily measures, or about the best run in a period of days.
    Day,
    Race,
    Weeks,
}

/// Description of a parameter of a metric, which a model reads.
struct Row(&'static str);

named! {
    /// Parameter of a call that computes a metric.
    Parameter: Row;
    Activity "activity" ("Id of one activity, from the summary. Not allowed together with `days`.")
    Days "days" ("Number of days, the last of which is `as_of`.")
    Scale "scale" ("Scale of the load: `trimp` needs heart rates, `tss` needs power or heart rates and a threshold, `session_rpe` needs the exertion.")
    AsOf "as_of" ("Last day of the data, such as 2026-03-01. Default: today. A later day is refused.")
    DistanceM "distance_m" ("Distance of one race. Default: 5 km, 10 km, half marathon and marathon.")
    Weeks "weeks" ("Number of calendar weeks, the last of which contains `as_of`.")
}

impl Parameter {
    /// Returns the description of the parameter that a model reads.
    pub const fn description(self) -> &'static str {
        self.row().0
    }
}

/// Shortest and longest distance of a race that can be predicted, in m.
const RACE_M: (f64, f64) = (1_500.0, 100_000.0);

impl Subject {
    pub(super) const fn for_metric(metric: Metric) -> Self {
        match metric {
            Metric::Trimp
            | Metric::HeartRateTss
            | Metric::NormalisedPower
            | Metric::PowerTss
            | Metric::IntensityFactor
            | Metric::EfficiencyFactor
            | Metric::Decoupling
            | Metric::SessionRpe
            | Metric::ZonesOfMax
            | Metric::ZonesOfReserve => Self::Activity,
            Metric::AcuteLoad
            | Metric::ChronicLoad
            | Metric::LoadRatio
            | Metric::AcuteLoadEwma
            | Metric::ChronicLoadEwma
            | Metric::LoadRatioEwma
            | Metric::Ctl
            | Metric::Atl
            | Metric::Tsb
            | Metric::Monotony
            | Metric::Strain => Self::Loads,
            Metric::IntensitySplit => Self::Split,
            Metric::HrvTrend | Metric::RestingTrend | Metric::Vdot => Self::Day,
            Metric::Riegel | Metric::VdotTime => Self::Race,
            Metric::WeeklyVolume => Self::Weeks,
        }
    }

    const fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::Activity => &[Parameter::Activity, Parameter::Days, Parameter::AsOf],
            Self::Loads => &[Parameter::Scale, Parameter::AsOf],
            Self::Split => &[Parameter::Days, Parameter::AsOf],
            Self::Day => &[Parameter::AsOf],
            Self::Race => &[Parameter::DistanceM, Parameter::AsOf],
            Self::Weeks => &[Parameter::Weeks, Parameter::AsOf],
        }
    }

    /// Returns the default number of days or weeks for a call that computes a metric of this scope.
    const fn default_count(self) -> usize {
        match self {
            Self::Activity => 7,
            Self::Split => 28,
            Self::Weeks => 12,
            Self::Loads | Self::Day | Self::Race => 0,
        }
    }

    pub(super) fn schema(self) -> Value {
        let property = |parameter: &Parameter| {
            let mut schema = match parameter {
                Parameter::Activity => json!({"type": "string"}),
                Parameter::Days => count(limits::TOOL_DAYS, self),
                Parameter::Weeks => count(limits::TOOL_WEEKS, self),
                Parameter::Scale => json!({"type": "string", "enum": Scale::ALL.map(Scale::name)}),
                Parameter::AsOf => json!({"type": "string", "format": "date"}),
                Parameter::DistanceM => json!({"type": "number", "minimum": RACE_M.0, "maximum": RACE_M.1}),
            };
            schema["description"] = json!(parameter.description());
            (parameter.name().to_owned(), schema)
        };
        let is_required = |parameter: &&Parameter| **parameter == Parameter::Scale;
        let required: Vec<&str> =
            self.parameters().iter().filter(is_required).map(|parameter| parameter.name()).collect();
        let properties: Map<String, Value> = self.parameters().iter().map(property).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }
}

fn count(most: usize, subject: Subject) -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": most, "default": subject.default_count()})
}

/// Parameters of a call that computes a metric, with defaults for missing ones.
pub(super) struct Arguments {
    subject: Subject,
    pub(super) activity: Option<String>,
    days: usize,
    pub(super) weeks: usize,
    /// Scale of the loads that the call computes. Ignored by metrics without loads.
    pub(super) scale: Scale,
    pub(super) distance_m: Option<f64>,
    pub(super) as_of: Date,
}

fn bad(parameter: Parameter, wanted: &str, found: &Value) -> Refusal {
    let shown: String = found.to_string().chars().take(60).collect();
    Refusal::new(RefusalCode::BadParameter, Some(parameter), &format!("{shown} is not {wanted}"))
}

impl Arguments {
    pub(super) fn parse(subject: Subject, parameters: &Value, today: Date) -> Result<Self, Refusal> {
        let none = Map::new();
        let named = match parameters {
            Value::Null => &none,
            Value::Object(named) => named,
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                let message = "the parameters are not an object";
                return Err(Refusal::new(RefusalCode::BadParameter, None, message));
            }
        };
        let mut arguments = Self {
            subject,
            activity: None,
            days: subject.default_count(),
            weeks: subject.default_count(),
            scale: Scale::Trimp,
            distance_m: None,
            as_of: today,
        };
        for (name, value) in named {
            let parameter = Parameter::from_name(name).filter(|each| subject.parameters().contains(each));
            let Some(parameter) = parameter else {
                let shown: String = name.chars().take(60).collect();
                let message = format!("`{shown}` is not a parameter of this metric");
                return Err(Refusal::new(RefusalCode::BadParameter, None, &message));
            };
            arguments.take(parameter, value, today)?;
        }
        if subject == Subject::Loads && !named.contains_key(Parameter::Scale.name()) {
            return Err(bad(Parameter::Scale, "one of trimp, tss and session_rpe", &Value::Null));
        }
        if let (Some(_), Some(days)) = (&arguments.activity, named.get(Parameter::Days.name())) {
            return Err(bad(Parameter::Days, "allowed together with `activity`", days));
        }
        Ok(arguments)
    }

    fn take(&mut self, parameter: Parameter, value: &Value, today: Date) -> Result<(), Refusal> {
        let whole = |most: usize| {
            let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
            let wanted = format!("a whole number from 1 to {most}");
            number.filter(|number| (1..=most).contains(number)).ok_or_else(|| bad(parameter, &wanted, value))
        };
        match parameter {
            Parameter::Activity => {
                let id = value.as_str().ok_or_else(|| bad(parameter, "the id of an activity", value))?;
                self.activity = Some(id.to_owned());
            }
            Parameter::Days => self.days = whole(limits::TOOL_DAYS)?,
            Parameter::Weeks => self.weeks = whole(limits::TOOL_WEEKS)?,
            Parameter::Scale => {
                let scale = Scale::ALL.into_iter().find(|scale| value == scale.name());
                self.scale =
                    scale.ok_or_else(|| bad(parameter, "one of trimp, tss and session_rpe", value))?;
            }
            Parameter::AsOf => {
                let date = value.as_str().and_then(|text| crate::training::read::date(text).ok());
                let wanted = format!("a date such as 2026-03-01, at most {today}");
                self.as_of =
                    date.filter(|date| *date <= today).ok_or_else(|| bad(parameter, &wanted, value))?;
            }
            Parameter::DistanceM => {
                let (least, most) = RACE_M;
                let metres = value.as_f64().filter(|metres| (least..=most).contains(metres));
                let wanted = format!("a number from {least} to {most}");
                self.distance_m = Some(metres.ok_or_else(|| bad(parameter, &wanted, value))?);
            }
        }
        Ok(())
    }

    /// Returns the first and the last day of the period that the call requests.
    pub(super) fn window(&self) -> (Date, Date) {
        let before = i64::try_from(self.days.saturating_sub(1)).unwrap_or(i64::MAX);
        (self.as_of.saturating_sub(before.days()), self.as_of)
    }

    /// Returns all parameters of the call that apply to its metric, including defaults.
    pub(super) fn stated(&self) -> Map<String, Value> {
        let value = |parameter: &Parameter| match parameter {
            Parameter::Activity => self.activity.as_ref().map(|id| json!(id)),
            Parameter::Days => self.activity.is_none().then(|| json!(self.days)),
            Parameter::Weeks => Some(json!(self.weeks)),
            Parameter::Scale => Some(json!(self.scale.name())),
            Parameter::AsOf => Some(json!(self.as_of)),
            Parameter::DistanceM => self.distance_m.map(|metres| json!(metres)),
        };
        let parameters = self.subject.parameters().iter();
        parameters.filter_map(|each| Some((each.name().to_owned(), value(each)?))).collect()
    }
}
