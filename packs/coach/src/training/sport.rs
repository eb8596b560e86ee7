//! Sports, and the names that they have in files and in six languages.

use serde::{Serialize, Serializer};

use crate::training::limits;

/// Sport of an activity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sport {
    Running,
    Cycling,
    /// Cycling with a motor, so that the speed is not only due to the athlete.
    EBiking,
    Swimming,
    Walking,
    Hiking,
    Rowing,
    Skiing,
    Strength,
    /// Change between two sports, as in a triathlon.
    Transition,
    /// A sport for which this type has no variant, by its name in the training file.
    Other(String),
    /// The training file states no sport.
    Unknown,
}

/// Words and phrases that can be in the name of a sport, with the sport that they mean. `None` means a sport for which
/// [`Sport`] has no variant. Such a sport keeps its name.
///
/// The first phrase in a name determines the sport. The longest of several phrases at the same word counts. The phrases
/// come from the FIT profile, and from Garmin Connect and Strava in English, German, French, Spanish, Italian and
/// Dutch.
static NAMES: &[(&str, Option<Sport>)] = &[
    ("running", Some(Sport::Running)),
    ("run", Some(Sport::Running)),
    ("virtualrun", Some(Sport::Running)),
    ("trailrun", Some(Sport::Running)),
    ("laufen", Some(Sport::Running)),
    ("lauf", Some(Sport::Running)),
    ("laufband", Some(Sport::Running)),
    ("laufbandlauf", Some(Sport::Running)),
    ("laufbandtraining", Some(Sport::Running)),
    ("traillauf", Some(Sport::Running)),
    ("geländelauf", Some(Sport::Running)),
    ("straßenlauf", Some(Sport::Running)),
    ("bahnlauf", Some(Sport::Running)),
    ("course_à_pied", Some(Sport::Running)),
    ("course_a_pied", Some(Sport::Running)),
    ("tapis_de_course", Some(Sport::Running)),
    ("carrera", Some(Sport::Running)),
    ("correr", Some(Sport::Running)),
    ("corsa", Some(Sport::Running)),
    ("hardlopen", Some(Sport::Running)),
    ("hardloopsessie", Some(Sport::Running)),
    ("cycling", Some(Sport::Cycling)),
    ("biking", Some(Sport::Cycling)),
    ("bike", Some(Sport::Cycling)),
    ("ride", Some(Sport::Cycling)),
    ("virtualride", Some(Sport::Cycling)),
    ("gravelride", Some(Sport::Cycling)),
    ("mountainbikeride", Some(Sport::Cycling)),
    ("mtb", Some(Sport::Cycling)),
    ("bmx", Some(Sport::Cycling)),
    ("cyclocross", Some(Sport::Cycling)),
    ("radfahren", Some(Sport::Cycling)),
    ("radfahrt", Some(Sport::Cycling)),
    ("rad", Some(Sport::Cycling)),
    ("rennradfahren", Some(Sport::Cycling)),
    ("mountainbiken", Some(Sport::Cycling)),
    ("mountainbiking", Some(Sport::Cycling)),
    ("indoorradfahren", Some(Sport::Cycling)),
    ("cyclisme", Some(Sport::Cycling)),
    ("vélo", Some(Sport::Cycling)),
    ("vtt", Some(Sport::Cycling)),
    ("sortie_à_vélo", Some(Sport::Cycling)),
    ("ciclismo", Some(Sport::Cycling)),
    ("bicicleta", Some(Sport::Cycling)),
    ("bici", Some(Sport::Cycling)),
    ("pedalata", Some(Sport::Cycling)),
    ("fietsen", Some(Sport::Cycling)),
    ("fietsrit", Some(Sport::Cycling)),
    ("wielrennen", Some(Sport::Cycling)),
    ("e_biking", Some(Sport::EBiking)),
    ("e_bike", Some(Sport::EBiking)),
    ("ebike", Some(Sport::EBiking)),
    ("ebiking", Some(Sport::EBiking)),
    ("ebikeride", Some(Sport::EBiking)),
    ("emountainbikeride", Some(Sport::EBiking)),
    ("e_mountain_bike", Some(Sport::EBiking)),
    ("e_mtb", Some(Sport::EBiking)),
    ("e_bike_fahren", Some(Sport::EBiking)),
    ("vélo_électrique", Some(Sport::EBiking)),
    ("vae", Some(Sport::EBiking)),
    ("bicicleta_eléctrica", Some(Sport::EBiking)),
    ("bici_elettrica", Some(Sport::EBiking)),
    ("e_fietsen", Some(Sport::EBiking)),
    ("e_fietsrit", Some(Sport::EBiking)),
    ("swimming", Some(Sport::Swimming)),
    ("swim", Some(Sport::Swimming)),
    ("schwimmen", Some(Sport::Swimming)),
    ("schwimmbad", Some(Sport::Swimming)),
    ("schwimmbadschwimmen", Some(Sport::Swimming)),
    ("freiwasserschwimmen", Some(Sport::Swimming)),
    ("bahnschwimmen", Some(Sport::Swimming)),
    ("beckenschwimmen", Some(Sport::Swimming)),
    ("natation", Some(Sport::Swimming)),
    ("nage", Some(Sport::Swimming)),
    ("natación", Some(Sport::Swimming)),
    ("nuoto", Some(Sport::Swimming)),
    ("nuotata", Some(Sport::Swimming)),
    ("zwemmen", Some(Sport::Swimming)),
    ("zwemsessie", Some(Sport::Swimming)),
    ("baanzwemmen", Some(Sport::Swimming)),
    ("walking", Some(Sport::Walking)),
    ("walk", Some(Sport::Walking)),
    ("gehen", Some(Sport::Walking)),
    ("spaziergang", Some(Sport::Walking)),
    ("marche", Some(Sport::Walking)),
    ("caminar", Some(Sport::Walking)),
    ("caminata", Some(Sport::Walking)),
    ("camminata", Some(Sport::Walking)),
    ("camminare", Some(Sport::Walking)),
    ("wandelen", Some(Sport::Walking)),
    ("wandeling", Some(Sport::Walking)),
    ("hiking", Some(Sport::Hiking)),
    ("hike", Some(Sport::Hiking)),
    ("wandern", Some(Sport::Hiking)),
    ("wanderung", Some(Sport::Hiking)),
    ("randonnée", Some(Sport::Hiking)),
    ("senderismo", Some(Sport::Hiking)),
    ("excursión", Some(Sport::Hiking)),
    ("escursionismo", Some(Sport::Hiking)),
    ("escursione", Some(Sport::Hiking)),
    ("hiken", Some(Sport::Hiking)),
    ("rowing", Some(Sport::Rowing)),
    ("row", Some(Sport::Rowing)),
    ("virtualrow", Some(Sport::Rowing)),
    ("rudern", Some(Sport::Rowing)),
    ("indoorrudern", Some(Sport::Rowing)),
    ("aviron", Some(Sport::Rowing)),
    ("rameur", Some(Sport::Rowing)),
    ("remo", Some(Sport::Rowing)),
    ("canottaggio", Some(Sport::Rowing)),
    ("vogatore", Some(Sport::Rowing)),
    ("roeien", Some(Sport::Rowing)),
    ("skiing", Some(Sport::Skiing)),
    ("ski", Some(Sport::Skiing)),
    ("biathlon", Some(Sport::Skiing)),
    ("nordicski", Some(Sport::Skiing)),
    ("alpineski", Some(Sport::Skiing)),
    ("backcountryski", Some(Sport::Skiing)),
    ("rollerski", Some(Sport::Skiing)),
    ("skifahren", Some(Sport::Skiing)),
    ("skilanglauf", Some(Sport::Skiing)),
    ("langlaufen", Some(Sport::Skiing)),
    ("esquí", Some(Sport::Skiing)),
    ("sci", Some(Sport::Skiing)),
    ("skiën", Some(Sport::Skiing)),
    ("strength", Some(Sport::Strength)),
    ("weights", Some(Sport::Strength)),
    ("weight_training", Some(Sport::Strength)),
    ("weighttraining", Some(Sport::Strength)),
    ("weightlifting", Some(Sport::Strength)),
    ("krafttraining", Some(Sport::Strength)),
    ("gewichtstraining", Some(Sport::Strength)),
    ("musculation", Some(Sport::Strength)),
    ("renforcement_musculaire", Some(Sport::Strength)),
    ("entraînement_aux_poids", Some(Sport::Strength)),
    ("fuerza", Some(Sport::Strength)),
    ("pesas", Some(Sport::Strength)),
    ("pesi", Some(Sport::Strength)),
    ("allenamento_forza", Some(Sport::Strength)),
    ("krachttraining", Some(Sport::Strength)),
    ("transition", Some(Sport::Transition)),
    // These names contain words of other sports.
    ("carrera_de_orientación", None),
    ("wheelchair_push_run", None),
    ("wheelchair_push_walk", None),
    ("indoor_wheelchair_run", None),
    ("indoor_wheelchair_walk", None),
    ("water_skiing", None),
    ("ski_nautique", None),
    ("jet_ski", None),
    ("horse_ride", None),
];

/// Words that name a sport only if they are the complete name. In a longer name, they belong to another sport.
static COMPLETE_NAMES: [(&str, Sport); 10] = [
    ("treadmill", Sport::Running),
    ("cinta", Sport::Running),
    ("loopband", Sport::Running),
    ("course", Sport::Running),
    ("trail", Sport::Running),
    ("spin", Sport::Cycling),
    ("open_water", Sport::Swimming),
    ("bike_to_run_transition", Sport::Transition),
    ("run_to_bike_transition", Sport::Transition),
    ("swim_to_bike_transition", Sport::Transition),
];

const NO_SPORT: [&str; 3] = ["unknown", "generic", "other"];

impl Sport {
    /// Returns the sport that a name means, such as `trail_running`, `Biking`, `Ride` or `Course à pied`.
    pub fn from_name(text: &str) -> Self {
        // The name becomes a part of ids and of displayed text, so only letters and digits are kept.
        let plain = text.trim().chars().map(|c| if c.is_alphanumeric() { c } else { '_' });
        let lower: String = plain.take(limits::SPORT_CHARS).collect::<String>().to_lowercase();
        let words: Vec<&str> = lower.split('_').filter(|word| !word.is_empty()).collect();
        if let Some((_, sport)) = COMPLETE_NAMES.iter().find(|(name, _)| *name == lower) {
            return sport.clone();
        }
        let known = (0..words.len()).find_map(|at| longest(&words[at..]));
        match known {
            Some(Some(sport)) => sport.clone(),
            None if lower.is_empty() || NO_SPORT.contains(&&*lower) => Self::Unknown,
            Some(None) | None => Self::Other(lower),
        }
    }

    /// Returns true if recordings with these two sports can be of the same session: the sports are equal or related, or
    /// one of them has no variant or is unknown. A watch and a log rarely use the same name for a sport without a
    /// variant.
    pub(crate) fn may_be(&self, other: &Self) -> bool {
        self == other || !self.is_distinct() || !other.is_distinct() || self.relative() == other.relative()
    }

    /// Returns true if the sport has an enum variant of its own.
    pub(crate) const fn is_distinct(&self) -> bool {
        !matches!(self, Self::Other(_) | Self::Unknown)
    }

    /// Returns the related sport that recordings of this sport often state instead.
    pub(crate) const fn relative(&self) -> &Self {
        match self {
            Self::EBiking => &Self::Cycling,
            Self::Hiking => &Self::Walking,
            Self::Running
            | Self::Cycling
            | Self::Swimming
            | Self::Walking
            | Self::Rowing
            | Self::Skiing
            | Self::Strength
            | Self::Transition
            | Self::Other(_)
            | Self::Unknown => self,
        }
    }

    /// Returns the highest plausible average speed in the sport in m/s. Above it, the distance or the duration of the
    /// activity is wrong.
    pub(crate) const fn speed_limit(&self) -> f64 {
        match self {
            Self::Swimming => 4.0,
            Self::Rowing => 10.0,
            Self::Running | Self::Walking | Self::Hiking => 12.0,
            Self::Cycling | Self::EBiking => 35.0,
            Self::Skiing => 60.0,
            Self::Strength | Self::Transition | Self::Other(_) | Self::Unknown => 120.0,
        }
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Running => "running",
            Self::Cycling => "cycling",
            Self::EBiking => "e_biking",
            Self::Swimming => "swimming",
            Self::Walking => "walking",
            Self::Hiking => "hiking",
            Self::Rowing => "rowing",
            Self::Skiing => "skiing",
            Self::Strength => "strength",
            Self::Transition => "transition",
            Self::Other(name) => name,
            Self::Unknown => "unknown",
        }
    }
}

/// Returns the entry of the longest phrase with which the words of a sport's name begin.
fn longest(words: &[&str]) -> Option<&'static Option<Sport>> {
    let begins = |phrase: &str| {
        let mut left = words.iter();
        phrase.split('_').all(|word| left.next() == Some(&word))
    };
    NAMES.iter().filter(|(phrase, _)| begins(phrase)).max_by_key(|(phrase, _)| phrase.len()).map(|(_, it)| it)
}

impl Serialize for Sport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
