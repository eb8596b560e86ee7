//! Tables that Garmin Connect and Strava export. The tables are recognised by their headers in six languages (contract
//! C10).
//!
//! A table is an export if it has all headers that identify this export. A new language needs only an entry in this
//! module. Headers are compared in the form that [`plain`] gives them.

use super::columns::{Column, plain};
use crate::training::measure::Measure;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Garmin,
    Strava,
}

/// Content of an export's column that is read, or that identifies the export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The column contains the number of the activity, which only identifies the export.
    Id,
    /// The column contains the title of the activity, which only identifies the export.
    Title,
    Start,
    Sport,
    /// The column contains the duration without pauses, in which the timer ran.
    Duration,
    /// The column contains the time from the start of the activity to its end, including pauses.
    Elapsed,
    Distance,
    HeartRateAverage,
    HeartRateMax,
    PowerAverage,
    PowerNormalised,
    Exertion,
}

/// Headers of the table that a program exports in one language. A column can have several headers, because programs
/// have changed them.
pub(super) struct Export {
    pub(super) program: Program,
    headers: &'static [(Part, &'static [&'static str])],
}

const NORMALISED_POWER: (Part, &[&str]) =
    (Part::PowerNormalised, &["normalized power (np)", "normalised power (np)", "normalized power"]);

static EXPORTS: [Export; 12] = [
    Export {
        program: Program::Garmin,
        headers: &[
            (Part::Sport, &["activity type"]),
            (Part::Start, &["date"]),
            (Part::Title, &["title"]),
            (Part::Distance, &["distance"]),
            (Part::Duration, &["time", "activity time"]),
            (Part::HeartRateAverage, &["avg hr"]),
            (Part::HeartRateMax, &["max hr"]),
            (Part::PowerAverage, &["avg power"]),
            NORMALISED_POWER,
        ],
    },
    Export {
        program: Program::Garmin,
        headers: &[
            (Part::Sport, &["aktivitätstyp"]),
            (Part::Start, &["datum"]),
            (Part::Title, &["titel"]),
            (Part::Distance, &["distanz"]),
            (Part::Duration, &["zeit"]),
            (Part::HeartRateAverage, &["ø hf", "ø herzfrequenz", "durchschnittliche herzfrequenz"]),
            (Part::HeartRateMax, &["max. hf", "maximale herzfrequenz", "max. herzfrequenz"]),
            (Part::PowerAverage, &["ø leistung", "durchschnittliche leistung"]),
            NORMALISED_POWER,
        ],
    },
    Export {
        program: Program::Garmin,
        headers: &[
            (Part::Sport, &["type d'activité"]),
            (Part::Start, &["date"]),
            (Part::Title, &["titre"]),
            (Part::Distance, &["distance"]),
            (Part::Duration, &["durée", "heure", "temps"]),
            (Part::HeartRateAverage, &["fréquence cardiaque moyenne", "fc moyenne"]),
            (Part::HeartRateMax, &["fréquence cardiaque maximale", "fc max.", "fc maximale"]),
            (Part::PowerAverage, &["puissance moyenne"]),
            NORMALISED_POWER,
        ],
    },
    Export {
        program: Program::Garmin,
        headers: &[
            (Part::Sport, &["tipo de actividad"]),
            (Part::Start, &["fecha"]),
            (Part::Title, &["título"]),
            (Part::Distance, &["distancia"]),
            (Part::Duration, &["tiempo"]),
            (Part::HeartRateAverage, &["frecuencia cardiaca media", "frecuencia cardíaca media", "fc media"]),
            (
                Part::HeartRateMax,
                &["frecuencia cardiaca máxima", "frecuencia cardíaca máxima", "fc máxima", "fc máx."],
            ),
            (Part::PowerAverage, &["potencia media"]),
            NORMALISED_POWER,
        ],
    },
    Export {
        program: Program::Garmin,
        headers: &[
            (Part::Sport, &["tipo di attività"]),
            (Part::Start, &["data"]),
            (Part::Title, &["titolo"]),
            (Part::Distance, &["distanza"]),
            (Part::Duration, &["tempo"]),
            (Part::HeartRateAverage, &["fc media", "frequenza cardiaca media"]),
            (Part::HeartRateMax, &["fc max", "fc massima", "frequenza cardiaca massima"]),
            (Part::PowerAverage, &["potenza media"]),
            NORMALISED_POWER,
        ],
    },
    Export {
        program: Program::Garmin,
        headers: &[
            (Part::Sport, &["activiteittype", "activiteitstype", "type activiteit"]),
            (Part::Start, &["datum"]),
            (Part::Title, &["titel"]),
            (Part::Distance, &["afstand"]),
            (Part::Duration, &["tijd"]),
            (Part::HeartRateAverage, &["gem. hs", "gemiddelde hartslag"]),
            (Part::HeartRateMax, &["max. hs", "maximale hartslag", "max. hartslag"]),
            (Part::PowerAverage, &["gem. vermogen", "gemiddeld vermogen"]),
            NORMALISED_POWER,
        ],
    },
    Export {
        program: Program::Strava,
        headers: &[
            (Part::Id, &["activity id"]),
            (Part::Start, &["activity date"]),
            (Part::Sport, &["activity type"]),
            (Part::Elapsed, &["elapsed time"]),
            (Part::Duration, &["moving time"]),
            (Part::Distance, &["distance"]),
            (Part::HeartRateAverage, &["average heart rate"]),
            (Part::HeartRateMax, &["max heart rate"]),
            (Part::PowerAverage, &["average watts"]),
            (Part::PowerNormalised, &["weighted average power"]),
            (Part::Exertion, &["perceived exertion"]),
        ],
    },
    Export {
        program: Program::Strava,
        headers: &[
            (Part::Id, &["aktivitäts-id"]),
            (Part::Start, &["aktivitätsdatum"]),
            (Part::Sport, &["aktivitätsart"]),
            (Part::Elapsed, &["verstrichene zeit"]),
            (Part::Duration, &["bewegungszeit"]),
            (Part::Distance, &["distanz"]),
            (Part::HeartRateAverage, &["durchschnittliche herzfrequenz"]),
            (Part::HeartRateMax, &["max. herzfrequenz", "maximale herzfrequenz"]),
            (Part::PowerAverage, &["durchschnittliche watt"]),
            (Part::PowerNormalised, &["gewichtete durchschnittliche leistung"]),
            (Part::Exertion, &["gefühlte anstrengung"]),
        ],
    },
    Export {
        program: Program::Strava,
        headers: &[
            (Part::Id, &["id de l'activité"]),
            (Part::Start, &["date de l'activité"]),
            (Part::Sport, &["type d'activité"]),
            (Part::Elapsed, &["temps écoulé"]),
            (Part::Duration, &["durée de déplacement", "temps de déplacement"]),
            (Part::Distance, &["distance"]),
            (Part::HeartRateAverage, &["fréquence cardiaque moyenne"]),
            (Part::HeartRateMax, &["fréquence cardiaque max.", "fréquence cardiaque maximale"]),
            (Part::PowerAverage, &["puissance moyenne", "watts moyens", "moyenne de watts"]),
            (Part::PowerNormalised, &["puissance moyenne pondérée"]),
            (Part::Exertion, &["effort perçu", "effort ressenti"]),
        ],
    },
    Export {
        program: Program::Strava,
        headers: &[
            (Part::Id, &["id de actividad", "id de la actividad", "identificador de actividad"]),
            (Part::Start, &["fecha de la actividad", "fecha de actividad"]),
            (Part::Sport, &["tipo de actividad"]),
            (Part::Elapsed, &["tiempo transcurrido"]),
            (Part::Duration, &["tiempo en movimiento", "tiempo de movimiento"]),
            (Part::Distance, &["distancia"]),
            (
                Part::HeartRateAverage,
                &[
                    "frecuencia cardiaca media",
                    "frecuencia cardíaca media",
                    "ritmo cardiaco promedio",
                    "ritmo cardíaco promedio",
                ],
            ),
            (
                Part::HeartRateMax,
                &[
                    "frecuencia cardiaca máxima",
                    "frecuencia cardíaca máxima",
                    "ritmo cardiaco máximo",
                    "ritmo cardíaco máximo",
                    "ritmo cardiaco máx.",
                    "ritmo cardíaco máx.",
                ],
            ),
            (
                Part::PowerAverage,
                &["vatios promedio", "promedio de vatios", "vatios medios", "potencia media"],
            ),
            (Part::PowerNormalised, &["potencia media ponderada", "potencia promedio ponderada"]),
            (Part::Exertion, &["esfuerzo percibido"]),
        ],
    },
    Export {
        program: Program::Strava,
        headers: &[
            (Part::Id, &["id attività", "id dell'attività"]),
            (Part::Start, &["data attività", "data dell'attività"]),
            (Part::Sport, &["tipo di attività", "tipo attività"]),
            (Part::Elapsed, &["tempo trascorso"]),
            (Part::Duration, &["tempo in movimento"]),
            (Part::Distance, &["distanza"]),
            (Part::HeartRateAverage, &["frequenza cardiaca media"]),
            (
                Part::HeartRateMax,
                &["frequenza cardiaca max", "frequenza cardiaca max.", "frequenza cardiaca massima"],
            ),
            (Part::PowerAverage, &["watt medi", "potenza media"]),
            (Part::PowerNormalised, &["potenza media ponderata"]),
            (Part::Exertion, &["sforzo percepito"]),
        ],
    },
    Export {
        program: Program::Strava,
        headers: &[
            (Part::Id, &["activiteits-id"]),
            (Part::Start, &["datum van activiteit", "activiteitsdatum"]),
            (Part::Sport, &["activiteitstype"]),
            (Part::Elapsed, &["verstreken tijd"]),
            (Part::Duration, &["beweegtijd"]),
            (Part::Distance, &["afstand"]),
            (Part::HeartRateAverage, &["gemiddelde hartslag"]),
            (Part::HeartRateMax, &["max. hartslag", "maximale hartslag"]),
            (Part::PowerAverage, &["gemiddeld wattage"]),
            (Part::PowerNormalised, &["gewogen gemiddeld vermogen"]),
            (Part::Exertion, &["ervaren inspanning"]),
        ],
    },
];

/// Returns the known export of Garmin Connect or Strava that has these headers.
pub(super) fn find(headers: &[String]) -> Option<&'static Export> {
    let plain: Vec<String> = headers.iter().map(|header| plain(header)).collect();
    EXPORTS.iter().find(|export| {
        export.program.identified_by().iter().all(|part| {
            let names = export.names(*part);
            plain.iter().any(|header| names.contains(&&**header))
        })
    })
}

/// Returns the headers of each export that are read, for `docs/training.md`.
pub(super) fn headers() -> Vec<(&'static str, Vec<&'static str>)> {
    let read = |export: &'static Export| {
        let names = export.headers.iter().filter(|(part, _)| *part != Part::Id && *part != Part::Title);
        (export.program.name(), names.filter_map(|(_, names)| names.first().copied()).collect())
    };
    EXPORTS.iter().map(read).collect()
}

impl Program {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Garmin => "Garmin Connect",
            Self::Strava => "Strava",
        }
    }

    const fn identified_by(self) -> &'static [Part] {
        match self {
            Self::Garmin => &[Part::Sport, Part::Start, Part::Title, Part::Distance, Part::Duration],
            Self::Strava => &[Part::Id, Part::Sport, Part::Start, Part::Elapsed],
        }
    }
}

impl Export {
    fn names(&self, part: Part) -> &'static [&'static str] {
        self.headers.iter().find(|(each, _)| *each == part).map_or(&[], |(_, names)| names)
    }

    /// Returns the content of each column of the export. Columns that are not read become remarks.
    ///
    /// Strava uses some headers for two columns. The first is in the unit of the account, and the last is in seconds or
    /// metres. The last is read. A single distance column is in the unit of the account.
    pub(super) fn columns(&self, headers: &[String]) -> Vec<Column> {
        let plain: Vec<String> = headers.iter().map(|header| plain(header)).collect();
        let mut columns = vec![Column::Remark; headers.len()];
        for (part, names) in self.headers {
            let mut found = (0..plain.len()).filter(|at| names.contains(&&*plain[*at]));
            let (Some(first), last) = (found.next(), found.next_back()) else { continue };
            let at = match self.program {
                Program::Garmin => first,
                Program::Strava => last.unwrap_or(first),
            };
            columns[at] = self.column(*part, last.is_some());
        }
        columns
    }

    const fn column(&self, part: Part, is_twice: bool) -> Column {
        match (part, self.program) {
            (Part::Id | Part::Title, _) => Column::Remark,
            (Part::Start, _) => Column::Start,
            (Part::Sport, _) => Column::Sport,
            (Part::Duration, Program::Garmin) => Column::Clock(Measure::Duration),
            (Part::Duration, Program::Strava) => Column::Number(Measure::Duration, 1.0),
            (Part::Elapsed, _) => Column::Fallback(Measure::Duration),
            (Part::Distance, Program::Strava) if is_twice => Column::Number(Measure::Distance, 1.0),
            (Part::Distance, Program::Strava | Program::Garmin) => Column::DistanceWithoutUnit,
            (Part::HeartRateAverage, _) => Column::Number(Measure::HeartRateAverage, 1.0),
            (Part::HeartRateMax, _) => Column::Number(Measure::HeartRateMax, 1.0),
            (Part::PowerAverage, _) => Column::Number(Measure::PowerAverage, 1.0),
            (Part::PowerNormalised, _) => Column::Number(Measure::PowerNormalised, 1.0),
            (Part::Exertion, _) => Column::Number(Measure::Exertion, 1.0),
        }
    }
}
