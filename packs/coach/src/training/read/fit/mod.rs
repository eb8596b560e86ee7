//! FIT files: training sessions with their records, and daily measures of devices. Converts FIT fields to measures.
//!
//! Source: Garmin, *FIT Profile* (`Profile.xlsx` of the FIT SDK): numbers, scales and units of messages and fields.

mod protocol;
mod sports;

use jiff::Timestamp;
use jiff::tz::Offset;

use self::protocol::{Broken, Ending, Message, Segment};
use super::draft::{Clock, Draft, DraftDay, Drafts, too_many};
use super::{Context, Refused};
use crate::training::limits;
use crate::training::measure::Measure;
use crate::training::model::{FileLocation, Sample};
use crate::training::problem::Code;
use crate::training::sport::Sport;

/// Numbers of the FIT messages that are read.
mod message {
    pub(super) const SPORT: u16 = 12;
    pub(super) const SESSION: u16 = 18;
    pub(super) const RECORD: u16 = 20;
    pub(super) const EVENT: u16 = 21;
    pub(super) const WEIGHT_SCALE: u16 = 30;
    pub(super) const ACTIVITY: u16 = 34;
    pub(super) const FIELD_DESCRIPTION: u16 = 206;
    pub(super) const MONITORING_HEART_RATE: u16 = 211;
    pub(super) const HRV_STATUS_SUMMARY: u16 = 370;

    pub(super) const READ: [u16; 9] = [
        SPORT,
        SESSION,
        RECORD,
        EVENT,
        WEIGHT_SCALE,
        ACTIVITY,
        FIELD_DESCRIPTION,
        MONITORING_HEART_RATE,
        HRV_STATUS_SUMMARY,
    ];
}

/// Fields of the FIT message `session`: field number, divisor, and measure.
const SESSION: [(u8, f64, Measure); 7] = [
    (8, 1_000.0, Measure::Duration),
    (9, 100.0, Measure::Distance),
    (16, 1.0, Measure::HeartRateAverage),
    (17, 1.0, Measure::HeartRateMax),
    (20, 1.0, Measure::PowerAverage),
    (34, 1.0, Measure::PowerNormalised),
    // The field `workout_rpe` is ten times the exertion.
    (193, 10.0, Measure::Exertion),
];
const SESSION_START: u8 = 2;
const SESSION_SPORT: (u8, u8) = (5, 6);
const SPORT_SPORT: (u8, u8) = (0, 1);
const SESSION_ELAPSED: (u8, f64) = (7, 1_000.0);
const ACTIVITY_LOCAL_TIME: u8 = 5;
const FIELD_NAME: u8 = 3;

/// Daily measures in FIT files: message number, field number, divisor, and measure.
const DAYS: [(u16, u8, f64, Measure); 3] = [
    (message::WEIGHT_SCALE, 0, 100.0, Measure::Weight),
    (message::MONITORING_HEART_RATE, 0, 1.0, Measure::RestingHeartRate),
    // The field `last_night_average`.
    (message::HRV_STATUS_SUMMARY, 1, 128.0, Measure::Hrv),
];

/// Numbers of the fields `event` and `event_type` in the FIT message `event`. The value 0 of `event` means the timer.
const EVENT_FIELDS: (u8, u8) = (0, 1);
const TIMER: f64 = 0.0;
/// Values of `event_type`: `start`, `stop`, `stop_all`, `stop_disable` and `stop_disable_all`. The flag is true if the
/// timer runs afterwards. Automatic and manual pauses have the same values.
const TIMER_EVENTS: [(f64, bool); 5] = [(0.0, true), (1.0, false), (4.0, false), (8.0, false), (9.0, false)];

/// Messages of one FIT file in a chain of FIT files.
#[derive(Default)]
struct SegmentMessages {
    sessions: Vec<Session>,
    records: Vec<(i64, Sample)>,
    /// Times in seconds since 1970 at which the timer of the recording was started (true) or stopped (false).
    timer: Vec<(i64, bool)>,
    sport: Option<Sport>,
    offset: Option<Offset>,
    days: Vec<(i64, Measure, f64, usize)>,
    developer_fields: Vec<String>,
}

impl SegmentMessages {
    /// Returns the problem code and the message if the FIT file exceeds a limit. Returns `None` if it exceeds none.
    fn exceeded_limit(&self) -> Option<(Code, String)> {
        let limits = [
            (self.records.len(), limits::SAMPLES, Code::TooManySamples, "records"),
            (self.timer.len(), limits::SAMPLES, Code::TooManySamples, "timer events"),
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
    if bytes.is_empty() {
        return Err(context.refuse(Code::FitHeader, FileLocation::File, "the file is empty"));
    }
    // FIT files may be chained in one file. If a part is broken, the other parts are still read.
    let (mut begins, mut parts, mut good) = (0, 0, 0);
    let mut broken: Vec<(usize, Broken)> = Vec::new();
    while begins < bytes.len() {
        parts += 1;
        if parts > limits::FIT_SEGMENTS {
            let message = too_many(limits::FIT_SEGMENTS, "FIT files in one file");
            return Err(context.refuse(Code::FitChain, byte(begins), message));
        }
        let found = protocol::segment(bytes, begins).and_then(|(segment, next)| {
            let ending = segment.ending;
            collect(segment, context).map(|found| (found, ending, next))
        });
        match found {
            Ok((found, ending, next)) => {
                good += 1;
                report_ending(ending, bytes.len(), context);
                if let Some((code, message)) = found.exceeded_limit() {
                    return Err(context.refuse(code, byte(begins), message));
                }
                put(found, begins, context, drafts)?;
                begins = next;
            }
            Err(Broken::Header(_)) if good > 0 && protocol::after_broken(bytes, begins).is_none() => {
                let rest = bytes.len() - begins;
                let message = format!("bytes after the end of the FIT data: {rest}");
                context.warn(Code::FitTrailing, byte(begins), message);
                break;
            }
            Err(why) => {
                broken.push((begins, why));
                let next = protocol::after_broken(bytes, begins);
                begins = next.filter(|_| broken.len() <= limits::FIT_BROKEN_PARTS).unwrap_or(bytes.len());
            }
        }
    }
    let mut broken = broken.into_iter();
    if good == 0
        && let Some((begins, why)) = broken.next()
    {
        let (code, place, message) = describe_broken(begins, why);
        return Err(context.refuse(code, place, message));
    }
    for (begins, why) in broken {
        let (code, place, message) = describe_broken(begins, why);
        context.warn(Code::FitPart, place, format!("part of the file not read ({code}): {message}"));
    }
    Ok(())
}

fn report_ending(ending: Ending, length: usize, context: &mut Context<'_>) {
    match ending {
        Ending::Complete => {}
        Ending::Truncated => {
            let message = "the file ends before its data is complete";
            context.warn(Code::FitTruncated, byte(length), message);
        }
        Ending::Unfinished => {
            let message = "the header states a length of 0, but records follow";
            context.warn(Code::FitUnfinished, FileLocation::File, message);
        }
    }
}

fn byte(at: usize) -> FileLocation {
    FileLocation::Byte(at as u64)
}

fn describe_broken(begins: usize, broken: Broken) -> (Code, FileLocation, String) {
    match broken {
        Broken::Header(why) => (Code::FitHeader, byte(begins), why),
        Broken::Crc { stored, computed } => {
            let message = format!("the stored CRC is {stored:#06x}, the computed one {computed:#06x}");
            (Code::FitCrc, byte(begins), message)
        }
        Broken::Record { at, why } => (Code::FitRecord, byte(at), why),
    }
}

fn collect(mut segment: Segment<'_>, context: &mut Context<'_>) -> Result<SegmentMessages, Broken> {
    let mut found = SegmentMessages::default();
    while let Some(message) = segment.next(|number| message::READ.contains(&number))? {
        take(&message, &mut found, context);
        // The file will be refused, so its rest is not read.
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
        message::EVENT => match timer_event(message) {
            Some((Some(time), runs)) => found.timer.push((time, runs)),
            Some((None, _)) => no_time("a timer event"),
            None => {}
        },
        message::SPORT => found.sport = sport(message, SPORT_SPORT),
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
        // `enhanced_speed` is used before `speed`, because `speed` has a smaller range.
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
    let sport = sport(message, SESSION_SPORT).unwrap_or(Sport::Unknown);
    Some(Session { at: message.at, starts, ends: starts + lasts, sport, measures })
}

/// Returns the sport of a FIT message. `sport` and `sub_sport` are the numbers of the two fields that state it.
fn sport(message: &Message, (sport, sub_sport): (u8, u8)) -> Option<Sport> {
    let value = message.number_of(sport)?;
    Some(sports::sport(value, message.number_of(sub_sport)))
}

/// Returns the time of a timer event in a FIT file, and true if the timer runs afterwards. Returns `None` for any other
/// event.
fn timer_event(message: &Message) -> Option<(Option<i64>, bool)> {
    let (event, kind) = EVENT_FIELDS;
    let is =
        |field: u8, value: f64| message.number_of(field).is_some_and(|it| it.to_bits() == value.to_bits());
    let (_, runs) = TIMER_EVENTS.iter().find(|(value, _)| is(event, TIMER) && is(kind, *value))?;
    Some((message.time(), *runs))
}

/// Returns the pauses between timer events of a FIT file, in seconds since 1970. The timer runs before the first event.
fn pauses(mut timer: Vec<(i64, bool)>) -> Vec<(i64, i64)> {
    // Events of the same second keep their order.
    timer.sort_by_key(|(time, _)| *time);
    let mut pauses = Vec::new();
    let mut stopped = None;
    for (time, runs) in timer {
        match (stopped, runs) {
            (None, false) => stopped = Some(time),
            (Some(begins), true) => {
                pauses.push((begins, time));
                stopped = None;
            }
            (None, true) | (Some(_), false) => {}
        }
    }
    pauses.extend(stopped.map(|begins| (begins, i64::MAX)));
    pauses
}

/// Returns the pauses in a session of a FIT file, in seconds since the start of the session. `next` is the start of the
/// next session. A pause is counted in only one of two overlapping sessions.
#[expect(clippy::cast_precision_loss, reason = "a session is shorter than 2^53 seconds")]
fn pauses_of(session: &Session, next: i64, pauses: &[(i64, i64)]) -> Vec<(f64, f64)> {
    let last = session.ends.min(next).max(session.starts);
    let clamp = |time: i64| (time.clamp(session.starts, last) - session.starts) as f64;
    let from = pauses.partition_point(|(_, ends)| *ends <= session.starts);
    let within = pauses.get(from..).unwrap_or_default().iter().take_while(|(begins, _)| *begins < last);
    within
        .map(|(begins, ends)| (clamp(*begins), clamp(*ends)))
        .filter(|(begins, ends)| begins < ends)
        .collect()
}

/// Returns the UTC offset for a difference between local time and UTC. The difference is rounded to a quarter of an
/// hour, because the two times in a FIT file can differ by seconds.
fn offset(difference_s: i64) -> Option<Offset> {
    const QUARTER_S: i64 = 15 * 60;
    let quarters = (difference_s + QUARTER_S / 2).div_euclid(QUARTER_S);
    let seconds = i32::try_from(quarters * QUARTER_S).ok()?;
    (seconds.abs() <= 14 * 3_600).then(|| Offset::from_seconds(seconds).ok()).flatten()
}

/// Converts a time of a FIT file, in seconds since 1970. Cannot fail, because FIT files state seconds since 1989 in 32
/// bits.
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
    let pauses = pauses(std::mem::take(&mut found.timer));
    for (index, session) in found.sessions.into_iter().enumerate() {
        // A record at the moment between two sessions belongs to the later one.
        let next = starts.get(index + 1).copied().unwrap_or(i64::MAX);
        let from = found.records.partition_point(|(time, _)| *time < session.starts);
        let to = found.records.partition_point(|(time, _)| *time <= session.ends && *time < next);
        #[expect(clippy::cast_precision_loss, reason = "a session is shorter than 2^53 seconds")]
        let sample =
            |(time, sample): &(i64, Sample)| Sample { at_s: (time - session.starts) as f64, ..*sample };
        let records = found.records.get(from..to).unwrap_or_default();
        taken += records.len();
        let pauses = pauses_of(&session, next, &pauses);
        let measures =
            session.measures.into_iter().map(|(measure, value)| (measure, value, byte(session.at)));
        let draft = Draft {
            start: instant(session.starts),
            clock: found.offset.map_or(Clock::Utc, Clock::Offset),
            sport: session.sport,
            measures: measures.collect(),
            samples: records.iter().map(sample).collect(),
            pauses,
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
