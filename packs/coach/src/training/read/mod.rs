//! Reads files into a season: determines the format of each file, reads it, and merges the content of all files.
//!
//! An unreadable file is refused with one error, and the other files are used. A fault in a readable file causes a
//! warning, and the faulty value is left out.

mod csv;
mod data_file;
mod draft;
mod fit;
mod gpx;
mod tcx;
mod xml;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use self::csv::TableOptions;
pub use self::csv::{ColumnMap, Units, export_headers as csv_exports, headers as csv_headers};
pub use self::data_file::{PARTS, parts};
use self::draft::Drafts;
use crate::training::limits;
use crate::training::measure::Measure;
use crate::training::merge::{Pieces, RankedActivity, RankedDay};
use crate::training::model::{FileLocation, OffsetFrom, Season, Source};
use crate::training::problem::{Code, Problem, Problems};

/// A training file: its name and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Name of the training file, whose extension determines the format. Sources and problems contain the name.
    pub name: &'a str,
    pub bytes: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    Fit,
    Tcx,
    Gpx,
    Csv,
    Json,
    Yaml,
}

impl Format {
    /// Returns the format of a training file from the extension of its name, in upper or lower case.
    pub fn from_file_name(name: &str) -> Option<Self> {
        let (_, ending) = name.rsplit_once('.')?;
        Some(match &*ending.to_lowercase() {
            "fit" => Self::Fit,
            "tcx" => Self::Tcx,
            "gpx" => Self::Gpx,
            "csv" => Self::Csv,
            "json" => Self::Json,
            "yaml" | "yml" => Self::Yaml,
            _ => return None,
        })
    }

    /// Returns an error if the training file is too large for its format.
    fn check(self, bytes: &[u8], context: &Context<'_>) -> Result<(), Refused> {
        let most = match self {
            Self::Fit | Self::Tcx | Self::Gpx | Self::Csv => limits::FILE_BYTES,
            Self::Json | Self::Yaml => limits::DATA_FILE_BYTES,
        };
        if bytes.len() <= most {
            return Ok(());
        }
        let message = format!("the file has {} bytes; at most {most} are read", bytes.len());
        Err(context.refuse(Code::FileTooLarge, FileLocation::File, message))
    }

    /// Returns the rank of a format. If several files state a measure of an activity, the format with the best rank is
    /// used. The format closest to the recording device has the best rank, 0.
    pub(crate) const fn activity_rank(self) -> u8 {
        match self {
            Self::Fit => 0,
            Self::Tcx => 1,
            Self::Gpx => 2,
            Self::Json | Self::Yaml => 3,
            Self::Csv => 4,
        }
    }

    /// Returns the code of the problem that training files state different values for a day. It depends on the format,
    /// because a person can delete a row of a table, but not a value of a recording.
    const fn conflict(self) -> Code {
        match self {
            Self::Csv => Code::ConflictingDay,
            Self::Fit | Self::Json | Self::Yaml | Self::Tcx | Self::Gpx => Code::ConflictingRecording,
        }
    }

    /// Returns the rank of a format. If several files state a daily measure, the format with the best rank is used. The
    /// athlete's own table has the best rank, 0.
    pub(crate) const fn day_rank(self) -> u8 {
        match self {
            Self::Csv => 0,
            Self::Fit => 1,
            Self::Json | Self::Yaml | Self::Tcx | Self::Gpx => 2,
        }
    }
}

/// Facts for reading training files that the files do not contain.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Time zone of the athlete, for times without an offset. `None` means UTC with a warning.
    pub zone: Option<TimeZone>,
    /// Columns of tables whose headers are not in `docs/training.md`.
    pub columns: ColumnMap,
    /// Units in the settings of the account that exported the files, for exports without units. If `None`, the
    /// distances in such exports are left out.
    pub units: Option<Units>,
}

/// Season that was read from training files, and the problems that were found.
#[derive(Clone, Debug, Serialize)]
pub struct Reading {
    pub season: Season,
    /// Problems in the training files, sorted by file and place.
    pub problems: Vec<Problem>,
    /// Number of warnings about training files that were only counted, because they exceed [`limits::PLACES`] or
    /// [`limits::WARNINGS`].
    pub more_warnings: usize,
    /// Number of training files, including refused files.
    #[serde(skip)]
    pub files: usize,
    /// Number of problems for each training file and code, including those that were only counted.
    #[serde(skip)]
    pub(crate) counts: BTreeMap<(Arc<str>, Code), usize>,
}

impl Reading {
    /// Adds a problem about a training file that was not opened.
    pub fn not_opened(&mut self, name: &str, code: Code, message: &str) {
        let source = Source::new(&name.into(), FileLocation::File);
        *self.counts.entry((Arc::clone(&source.file), code)).or_default() += 1;
        let problem = Problem::new(code, source, message);
        let at = self.problems.partition_point(|each| *each < problem);
        self.problems.insert(at, problem);
        self.files += 1;
    }
}

/// Problem that makes a training file unusable. [`read`] adds it to the problems.
pub(crate) struct Refused(Problem);

/// Context of reading one training file: its name, the time zone, and the list of problems.
pub(crate) struct Context<'a> {
    file: Arc<str>,
    zone: &'a TimeZone,
    problems: &'a mut Problems,
}

impl Context<'_> {
    fn zone(&self) -> &TimeZone {
        self.zone
    }

    fn source(&self, place: FileLocation) -> Source {
        Source::new(&self.file, place)
    }

    fn warn(&mut self, code: Code, place: FileLocation, message: impl Into<String>) {
        self.problems.push(Problem::new(code, self.source(place), message));
    }

    fn implausible(&mut self, measure: Measure, value: f64, place: FileLocation) {
        let (least, most) = measure.plausible();
        let message =
            format!("{} {value} {} is not within {least} to {most}", measure.name(), measure.unit());
        self.warn(Code::Implausible, place, message);
    }

    fn refuse(&self, code: Code, place: FileLocation, message: impl Into<String>) -> Refused {
        Refused(Problem::new(code, self.source(place), message))
    }
}

pub(crate) fn date(text: &str) -> Result<Date, Code> {
    let mut parts = text.trim().splitn(3, '-');
    let mut number = |digits: usize| {
        let part =
            parts.next().filter(|part| part.len() == digits && part.bytes().all(|c| c.is_ascii_digit()));
        part.and_then(|part| part.parse::<i16>().ok()).ok_or(Code::BadDate)
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    let small = |number: i16| i8::try_from(number).map_err(|_| Code::NoSuchDate);
    Date::new(year, small(month)?, small(day)?).map_err(|_| Code::NoSuchDate)
}

/// Returns the UTF-8 text of a training file without a byte order mark.
fn text<'a>(bytes: &'a [u8], context: &Context<'_>) -> Result<&'a str, Refused> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        context.refuse(Code::NotUtf8, FileLocation::Byte(at as u64), format!("byte {at} is not UTF-8"))
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Returns the content of a table file as text. Spreadsheets write UTF-8, UTF-16 with a byte order mark, and
/// Windows-1252, which includes Latin-1.
fn table_text<'a>(bytes: &'a [u8], context: &mut Context<'_>) -> Result<Cow<'a, str>, Refused> {
    let marked = match (Encoding::for_bom(bytes), bytes) {
        (Some((encoding, mark)), _) => Some((encoding, mark)),
        // If there is no byte order mark, the first character shows UTF-16: it is an ASCII character, so one of its
        // bytes is 0.
        (None, [1..=255, 0, ..]) => Some((UTF_16LE, 0)),
        (None, [0, 1..=255, ..]) => Some((UTF_16BE, 0)),
        (None, _) => None,
    };
    if let Some((encoding, mark)) = marked.filter(|(encoding, _)| *encoding != UTF_8) {
        let text = encoding.decode_without_bom_handling_and_without_replacement(&bytes[mark..]);
        let message = format!("the file is not valid {}", encoding.name());
        return text.ok_or_else(|| context.refuse(Code::NotUtf8, FileLocation::File, message));
    }
    match text(bytes, context) {
        Ok(text) => Ok(text.into()),
        // A text contains no NUL byte.
        Err(refused) if bytes.contains(&0) => Err(refused),
        Err(_) => {
            let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
            context.warn(Code::CsvEncoding, FileLocation::File, "the file is not UTF-8");
            Ok(text)
        }
    }
}

/// Reads training files into one season. The result does not depend on the order of the files.
pub fn read(files: &[File<'_>], options: &Options) -> Reading {
    let zone = options.zone.clone().unwrap_or(TimeZone::UTC);
    let mut sorted: Vec<&File<'_>> = files.iter().collect();
    sorted.sort_by_key(|file| (file.name, file.bytes));
    let mut pieces = Pieces::default();
    let mut problems = Problems::default();
    let most = limits::FILES;
    for file in sorted.iter().take(most) {
        let mut context = Context { file: file.name.into(), zone: &zone, problems: &mut problems };
        let outcome = read_one(file, options, &mut context, &mut pieces);
        if let Err(Refused(problem)) = outcome {
            problems.push(problem);
        }
    }
    if let Some(first) = sorted.get(most) {
        let message =
            format!("the folder has {} files; only the first {most} by name are read", sorted.len());
        let source = Source::new(&first.name.into(), FileLocation::File);
        problems.push(Problem::new(Code::TooManyFiles, source, message));
    }
    let season = pieces.merge(&mut problems);
    let (problems, counts, more_warnings) = problems.finish();
    Reading { season, problems, more_warnings, files: files.len(), counts }
}

fn read_one(
    file: &File<'_>,
    options: &Options,
    context: &mut Context<'_>,
    pieces: &mut Pieces,
) -> Result<(), Refused> {
    let Some(format) = Format::from_file_name(file.name) else {
        return Err(context.refuse(
            Code::UnknownFormat,
            FileLocation::File,
            "the file name does not end in an extension of a known format",
        ));
    };
    format.check(file.bytes, context)?;
    let mut drafts = Drafts::with_remaining_capacity(pieces);
    match format {
        Format::Fit => fit::read(file.bytes, context, &mut drafts)?,
        Format::Tcx => tcx::read(text(file.bytes, context)?, context, &mut drafts)?,
        Format::Gpx => gpx::read(text(file.bytes, context)?, context, &mut drafts)?,
        Format::Csv => {
            let tables = TableOptions { columns: &options.columns, units: options.units };
            csv::read(&table_text(file.bytes, context)?, tables, context, &mut drafts)?;
        }
        Format::Json => data_file::read_json(text(file.bytes, context)?, context, &mut drafts)?,
        Format::Yaml => data_file::read_yaml(text(file.bytes, context)?, context, &mut drafts)?,
    }
    if drafts.is_empty() && matches!(format, Format::Fit | Format::Tcx | Format::Gpx) {
        context.warn(Code::NoActivity, FileLocation::File, "no recorded activity");
    }
    let Drafts { facts, activities, days, .. } = drafts;
    let mut assumed = 0;
    for draft in activities {
        let Some(activity) = draft.finish(context) else { continue };
        assumed += usize::from(activity.offset_from != OffsetFrom::File);
        pieces.samples += activity.samples.len();
        pieces.activities.push(RankedActivity { rank: format.activity_rank(), activity });
    }
    if options.zone.is_none() && assumed > 0 {
        let message = format!("no time zone is set; activities without an offset from UTC: {assumed}");
        context.warn(Code::OffsetAssumed, FileLocation::File, message);
    }
    for day in days {
        if day.measure.is_plausible(day.value) {
            let source = context.source(day.place);
            let (date, measure, value) = (day.date, day.measure, day.value);
            let (rank, conflict) = (format.day_rank(), format.conflict());
            pieces.days.push(RankedDay { rank, conflict, date, measure, value, source });
        } else {
            context.implausible(day.measure, day.value, day.place);
        }
    }
    pieces.facts.extend(facts.into_iter().map(|(fact, place)| (fact, context.source(place))));
    Ok(())
}
