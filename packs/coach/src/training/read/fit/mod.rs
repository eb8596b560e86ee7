//! FIT files: sessions with their records, and daily measures of devices. Maps FIT fields to measures.
//!
//! Source: Garmin, *FIT Profile* (`Profile.xlsx` of the FIT SDK): numbers, scales and units of messages and fields.

mod protocol;

use jiff::Timestamp;
use jiff::tz::Offset;

use self::protocol::{Broken, Message, Segment};
use super::draft::{Clock, Draft, DraftDay, Drafts, too_many};
use super::{Context, Refused};
use crate::training::limits;
use crate::training::measure::Measure;
use crate::training::model::{FileLocation, Sample, Sport};
use crate::training::problem::Code;

/// Message numbers that are read.
mod message {
    pub(super) const SPORT: u16 = 12;
    pub(super) const SESSION: u16 = 18;
    pub(super) const RECORD: u16 = 20;
    pub(super) const WEIGHT_SCALE: u16 = 30;
    pub(super) const ACTIVITY: u16 = 34;
    pub(super) const FIELD_DESCRIPTION: u16 = 206;
    pub(super) const MONITORING_HEART_RATE: u16 = 211;
    pub(super) const HRV_STATUS_SUMMARY: u16 = 370;

    pub(super) const READ: [u16; 8] = [
        SPORT,
        SESSION,
        RECORD,
        WEIGHT_SCALE,
        ACTIVITY,
        FIELD_DESCRIPTION,
        MONITORING_HEART_RATE,
        HRV_STATUS_SUMMARY,
    ];
}

/// Session fields: field number, divisor, and measure.
const SESSION: [(u8, f64, Measure); 7] = [
    (8, 1_000.0, Measure::Duration),
    (9, 100.0, Measure::Distance),
    (16, 1.0, Measure::HeartRateAverage),
    (17, 1.0, Measure::HeartRateMax),
    (20, 1.0, Measure::PowerAverage),
    (34, 1.0, Measure::PowerNormalised),
    // `workout_rpe` is ten times the exertion.
    (193, 10.0, Measure::Exertion),
];
const SESSION_START: u8 = 2;
const SESSION_SPORT: u8 = 5;
const SESSION_ELAPSED: (u8, f64) = (7, 1_000.0);
const ACTIVITY_LOCAL_TIME: u8 = 5;
const FIELD_NAME: u8 = 3;

/// Daily measures: message number, field number, divisor, and measure.
const DAYS: [(u16, u8, f64, Measure); 3] = [
    (message::WEIGHT_SCALE, 0, 100.0, Measure::Weight),
    (message::MONITORING_HEART_RATE, 0, 1.0, Measure::RestingHeartRate),
    // Field `last_night_average`.
    (message::HRV_STATUS_SUMMARY, 1, 128.0, Measure::Hrv),
];

/// Sports, by value of the field `sport`.
const SPORTS: [(u8, Sport); 9] = [
    (1, Sport::Running),
    (2, Sport::Cycling),
    (3, Sport::Transition),
    (5, Sport::Swimming),
    (11, Sport::Walking),
    (12, Sport::Skiing),
    (13, Sport::Skiing),
    (15, Sport::Rowing),
    (17, Sport::Hiking),
];

/// Messages of one FIT file in a chain of FIT files.
#[derive(Default)]
struct SegmentMessages {
    sessions: Vec<Session>,
    records: Vec<(i64, Sample)>,
    sport: Option<Sport>,
    offset: Option<Offset>,
    days: Vec<(i64, Measure, f64, usize)>,
    developer_fields: Vec<String>,
}

impl SegmentMessages {
    /// Returns the problem code and the message if a limit is exceeded.
    fn exceeded_limit(&self) -> Option<(Code, String)> {
        let limits = [
            (self.records.len(), limits::SAMPLES, Code::TooManySamples, "records"),
            (self.sessions.len(), limits::ACTIVITIES, Code::TooManyActivities, "sessions"),
            (self.days.len(), limits::DAY_VALUES, Code::TooManyDays, "values of days"),
        ];
        let (_, most, code, what) = limits.into_iter().find(|(count, most, ..)| count > most)?;
        Some((code, too_many(most, what)))
    }
}

struct Session {
    at: usize,
    starts: i64,
    ends: i64,
    sport: Sport,
    measures: Vec<(Measure, f64)>,
}

pub(super) fn read(bytes: &[u8], context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
    let (mut begins, mut segments) = (0, 0);
    while begins < bytes.len() {
        let (segment, next) = match protocol::segment(bytes, begins) {
            Ok(found) => found,
            Err(Broken::Header(_)) if begins > 0 => {
                let rest = bytes.len() - begins;
                context.warn(
                    Code::FitTrailing,
                    byte(begins),
                    format!("bytes after the end of the FIT data: {rest}"),
                );
                return Ok(());
            }
            Err(broken) => return Err(refuse(context, begins, broken)),
        };
        segments += 1;
        if segments > limits::FIT_SEGMENTS {
            let message = too_many(limits::FIT_SEGMENTS, "FIT files in one");
            return Err(context.refuse(Code::FitChain, byte(begins), message));
        }
        if segment.truncated {
            context.warn(Code::FitTruncated, byte(bytes.len()), "the file ends before its data is complete");
        }
        let found = collect(segment, context).map_err(|broken| refuse(context, begins, broken))?;
        if let Some((code, message)) = found.exceeded_limit() {
            return Err(context.refuse(code, byte(begins), message));
        }
        put(found, begins, context, drafts)?;
        // FIT files may be chained in one file.
        begins = next;
    }
    if bytes.is_empty() {
        return Err(context.refuse(Code::FitHeader, FileLocation::File, "the file is empty"));
    }
    Ok(())
}

fn byte(at: usize) -> FileLocation {
    FileLocation::Byte(at as u64)
}

fn refuse(context: &Context<'_>, begins: usize, broken: Broken) -> Refused {
    match broken {
        Broken::Header(why) => context.refuse(Code::FitHeader, byte(begins), why),
        Broken::Crc { stored, computed } => {
            let message = format!("the stored CRC is {stored:#06x}, the computed one {computed:#06x}");
            context.refuse(Code::FitCrc, byte(begins), message)
        }
        Broken::Record { at, why } => context.refuse(Code::FitRecord, byte(at), why),
    }
}

fn collect(mut segment: Segment<'_>, context: &mut Context<'_>) -> Result<SegmentMessages, Broken> {
    let mut found = SegmentMessages::default();
    while let Some(message) = segment.next(|number| message::READ.contains(&number))? {
        take(&message, &mut found, context);
        // The file will be refused, so the rest is not read.
        if found.exceeded_limit().is_some() {
            break;
        }
    }
    if segment.has_developer_fields {
        let names = found.developer_fields.join(", ");
        context.warn(Code::FitDeveloperFields, FileLocation::File, format!("fields of apps: {names}"));
    }
    Ok(found)
}

fn take(message: &Message, found: &mut SegmentMessages, context: &mut Context<'_>) {
    let mut no_time = |what: &str| {
        context.warn(Code::NoTime, byte(message.at), format!("{what} has no time"));
    };
    match message.number {
        message::RECORD => match message.time() {
            Some(time) => found.records.push((time, record(message))),
            None => no_time("a record"),
        },
        message::SESSION => match session(message) {
            Some(session) => found.sessions.push(session),
            None => no_time("a session"),
        },
        message::SPORT => found.sport = message.number_of(0).map(sport),
        message::ACTIVITY => {
            let local = message.time_of(ACTIVITY_LOCAL_TIME);
            if let Some(difference) = local.zip(message.time()).map(|(local, time)| local - time) {
                found.offset = offset(difference);
                if found.offset.is_none() {
                    let message_text = format!(
                        "the local time differs from UTC by {difference} s, which is no valid offset"
                    );
                    context.warn(Code::Implausible, byte(message.at), message_text);
                }
            }
        }
        message::FIELD_DESCRIPTION => {
            let name = message.text_of(FIELD_NAME).unwrap_or("one without a name");
            if found.developer_fields.len() < limits::CSV_COLUMNS {
                found.developer_fields.push(name.to_owned());
            }
        }
        number => {
            for (_, field, scale, measure) in DAYS.iter().filter(|(of, ..)| *of == number) {
                let Some(value) = message.number_of(*field) else { continue };
                match message.time() {
                    Some(time) => found.days.push((time, *measure, value / scale, message.at)),
                    None => no_time(measure.name()),
                }
            }
        }
    }
}

fn record(message: &Message) -> Sample {
    let scaled = |field: u8, scale: f64| message.number_of(field).map(|value| value / scale);
    Sample {
        at_s: 0.0,
        // A heart rate of zero means that the sensor lost contact with the skin.
        heart_rate: scaled(3, 1.0).filter(|bpm| *bpm > 0.0),
        power: scaled(7, 1.0),
        // `enhanced_speed` takes precedence, because `speed` has a smaller range.
        speed: scaled(73, 1_000.0).or_else(|| scaled(6, 1_000.0)),
        distance: scaled(5, 100.0),
    }
}

fn session(message: &Message) -> Option<Session> {
    let starts = message.time_of(SESSION_START).or_else(|| message.time())?;
    let scaled = |field: u8, scale: f64| message.number_of(field).map(|value| value / scale);
    let measures: Vec<_> = SESSION
        .iter()
        .filter_map(|(field, scale, measure)| Some((*measure, scaled(*field, *scale)?)))
        .collect();
    let (elapsed, scale) = SESSION_ELAPSED;
    let duration =
        measures.iter().find(|(measure, _)| *measure == Measure::Duration).map(|(_, value)| *value);
    let lasts = scaled(elapsed, scale).or(duration).unwrap_or(0.0);
    #[expect(clippy::cast_possible_truncation, reason = "it is at most the range of u32")]
    let lasts = lasts.clamp(0.0, f64::from(u32::MAX)).ceil() as i64;
    let sport = message.number_of(SESSION_SPORT).map_or(Sport::Unknown, sport);
    Some(Session { at: message.at, starts, ends: starts + lasts, sport, measures })
}

fn sport(number: f64) -> Sport {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an enum is a byte")]
    let number = number as u8;
    match SPORTS.iter().find(|(value, _)| *value == number) {
        Some((_, sport)) => sport.clone(),
        None if number == 0 => Sport::Unknown,
        None => Sport::Other(format!("fit sport {number}")),
    }
}

/// Returns the UTC offset for the difference between local time and UTC, rounded to a quarter of an hour: device clocks
/// differ by seconds.
fn offset(difference_s: i64) -> Option<Offset> {
    const QUARTER_S: i64 = 15 * 60;
    let quarters = (difference_s + QUARTER_S / 2).div_euclid(QUARTER_S);
    let seconds = i32::try_from(quarters * QUARTER_S).ok()?;
    (seconds.abs() <= 14 * 3_600).then(|| Offset::from_seconds(seconds).ok()).flatten()
}

/// Converts a time of a FIT file. The conversion never fails, because FIT times are 32-bit seconds since 1989.
fn instant(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
}

fn put(
    mut found: SegmentMessages,
    begins: usize,
    context: &mut Context<'_>,
    drafts: &mut Drafts,
) -> Result<(), Refused> {
    for (time, measure, value, at) in std::mem::take(&mut found.days) {
        let offset = found.offset.unwrap_or_else(|| context.zone().to_offset(instant(time)));
        let date = offset.to_datetime(instant(time)).date();
        drafts.day(DraftDay { date, measure, value, place: byte(at) }, context)?;
    }
    found.records.sort_by_key(|(time, _)| *time);
    if let ([], Some((starts, _)), Some((ends, _))) =
        (&found.sessions[..], found.records.first(), found.records.last())
    {
        context.warn(Code::FitNoSession, byte(begins), "the records have no session");
        let sport = found.sport.clone().unwrap_or(Sport::Unknown);
        let (starts, ends) = (*starts, *ends);
        found.sessions.push(Session { at: begins, starts, ends, sport, measures: Vec::new() });
    }
    if found.sessions.len() > 1 {
        let mut sports: Vec<&str> = found.sessions.iter().map(|session| session.sport.name()).collect();
        sports.sort_unstable();
        context.warn(Code::SeveralSports, byte(begins), format!("sessions of {}", sports.join(", ")));
    }
    found.sessions.sort_by_key(|session| (session.starts, session.ends));
    let starts: Vec<i64> = found.sessions.iter().map(|session| session.starts).collect();
    let (all, mut taken) = (found.records.len(), 0);
    for (index, session) in found.sessions.into_iter().enumerate() {
        // A record at the exact moment between two sessions belongs to the later session.
        let next = starts.get(index + 1).copied().unwrap_or(i64::MAX);
        let from = found.records.partition_point(|(time, _)| *time < session.starts);
        let to = found.records.partition_point(|(time, _)| *time <= session.ends && *time < next);
        #[expect(clippy::cast_precision_loss, reason = "a session is shorter than 2^53 seconds")]
        let sample =
            |(time, sample): &(i64, Sample)| Sample { at_s: (time - session.starts) as f64, ..*sample };
        let records = found.records.get(from..to).unwrap_or_default();
        taken += records.len();
        let measures =
            session.measures.into_iter().map(|(measure, value)| (measure, value, byte(session.at)));
        let draft = Draft {
            start: instant(session.starts),
            clock: found.offset.map_or(Clock::Utc, Clock::Offset),
            sport: session.sport,
            measures: measures.collect(),
            samples: records.iter().map(sample).collect(),
            place: byte(session.at),
        };
        drafts.activity(draft, context)?;
    }
    if taken < all {
        let message = format!("records outside of all sessions: {} of {all}", all - taken);
        context.warn(Code::OutsideActivity, byte(begins), message);
    }
    Ok(())
}
