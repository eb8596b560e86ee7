//! The metrics: one table that describes all of them, and one module per family of metrics.
//!
//! A metric is computed from a season and a day, without a clock. Each result names its inputs. A metric that cannot be
//! computed gives a reason and never the value zero.

pub mod daily;
pub mod efficiency;
pub mod load;
pub mod power;
mod profile;
pub mod race;
mod traced;
pub mod trend;
pub mod volume;
pub mod zones;

pub use self::profile::Profile;
pub use self::traced::{Caveat, Inputs, Missing, Need, Outcome, Traced};
use holdshort_tools::named;

/// Description, unit, formula, and source of the formula of a metric.
struct Row(&'static str, &'static str, &'static str, &'static str);

named! {
    /// Metric that is computed from a season of training data.
    Metric: Row;
    Trimp "trimp" (
        "Load of an activity by heart rate (training impulse): time, weighted with the share of the heart-rate reserve.",
        "AU",
        "Σ minutes · r · a · e^(b·r), r = (HR − rest)/(max − rest); a, b = 0.64, 1.92 (male), 0.86, 1.67 (female)",
        "Banister 1991, in: Physiological Testing of the High-Performance Athlete, 403–424; Morton et al. 1990, J Appl Physiol 69:1171–1177",
    )
    HeartRateTss "heart_rate_tss" (
        "Load of an activity by heart rate on the scale of TSS: 100 is an hour at the threshold heart rate.",
        "TSS",
        "100 · TRIMP / TRIMP of one hour at the threshold heart rate",
        "Coggan's scale (100 = one hour at threshold) over Banister's TRIMP, as Elevate computes its HRSS",
    )
    NormalisedPower "normalised_power" (
        "Average power of a ride, weighted so that hard parts count more than in a plain mean.",
        "W",
        "(mean of p⁴)^¼, p = mean power of 30 s, second by second",
        "Allen & Coggan, Training and Racing with a Power Meter, 2nd ed. 2010, ch. 7",
    )
    PowerTss "power_tss" (
        "Load of an activity by power: 100 is an hour at the threshold power.",
        "TSS",
        "100 · seconds · NP · (NP/FTP) / (FTP · 3600)",
        "Allen & Coggan 2010, ch. 7",
    )
    IntensityFactor "intensity_factor" (
        "Intensity of an activity by power: 1 is the threshold power.",
        "1",
        "NP / FTP",
        "Allen & Coggan 2010, ch. 7",
    )
    EfficiencyFactor "efficiency_factor" (
        "Output of an activity for each heartbeat. In similar efforts, it rises as aerobic fitness grows.",
        "W/bpm or m/min/bpm",
        "NP / average heart rate; for a run without power: mean speed / average heart rate",
        "Friel 2012, The Power Meter Handbook",
    )
    Decoupling "decoupling" (
        "Loss of output for each heartbeat from the first to the second half of a steady activity. A loss \
         below 5 % shows sufficient aerobic endurance.",
        "%",
        "100 · (1 − r₂/r₁), r = mean power / mean heart rate of a half; for a run without power: mean speed / mean heart rate",
        "Friel 2012; as GoldenCheetah computes its aerobic decoupling",
    )
    SessionRpe "session_rpe" (
        "Load of an activity by perceived exertion and time.",
        "AU",
        "CR-10 exertion · minutes",
        "Foster et al. 2001, J Strength Cond Res 15:109–115",
    )
    AcuteLoad "acute_load" (
        "Mean daily load of the last 7 days.",
        "of the load, a day",
        "mean of the daily loads of 7 days",
        "Hulin et al. 2014, Br J Sports Med 48:708–712",
    )
    ChronicLoad "chronic_load" (
        "Mean daily load of the last 28 days.",
        "of the load, a day",
        "mean of the daily loads of 28 days",
        "Hulin et al. 2014",
    )
    LoadRatio "load_ratio" (
        "Ratio of the mean daily load of the last 7 days to that of the last 28 days. Above 1, the load has \
         grown. The ratio does not predict injuries.",
        "1",
        "acute load / chronic load; the 7 days are among the 28",
        "Hulin et al. 2014; on its limits: Impellizzeri et al. 2020, Int J Sports Physiol Perform 15:907–913",
    )
    AcuteLoadEwma "acute_load_ewma" (
        "Moving average of the daily load over about a week. Recent days have more weight.",
        "of the load, a day",
        "E = λ·load + (1 − λ)·E of the day before, λ = 2/(7 + 1); the first E is the first load",
        "Williams et al. 2017, Br J Sports Med 51:209–210",
    )
    ChronicLoadEwma "chronic_load_ewma" (
        "Moving average of the daily load over about four weeks. Recent days have more weight.",
        "of the load, a day",
        "E = λ·load + (1 − λ)·E of the day before, λ = 2/(28 + 1); the first E is the first load",
        "Williams et al. 2017",
    )
    LoadRatioEwma "load_ratio_ewma" (
        "Ratio of the moving average over a week to that over four weeks. Above 1, the load has grown. The \
         ratio does not predict injuries.",
        "1",
        "acute load (EWMA) / chronic load (EWMA)",
        "Williams et al. 2017",
    )
    Ctl "ctl" (
        "Chronic training load (fitness): moving average of the daily load over about six weeks, which \
         starts at 0.",
        "of the load, a day",
        "C = C of the day before + (load − C of the day before) · (1 − e^(−1/42)); C before the first activity is 0",
        "Allen & Coggan 2010, ch. 8, after Banister et al. 1975, Aust J Sports Med 7:57–61",
    )
    Atl "atl" (
        "Acute training load (fatigue): moving average of the daily load over about a week, which starts at \
         0.",
        "of the load, a day",
        "C = C of the day before + (load − C of the day before) · (1 − e^(−1/7)); C before the first \
         activity is 0",
        "Allen & Coggan 2010, ch. 8",
    )
    Tsb "tsb" (
        "Training stress balance (form): fitness minus fatigue of the day before. Negative while the load grows.",
        "of the load, a day",
        "CTL − ATL of the day before",
        "Allen & Coggan 2010, ch. 8",
    )
    Monotony "monotony" (
        "Similarity of the loads of the last 7 days. High if no day is easy.",
        "1",
        "mean / standard deviation (n) of the daily loads of 7 days",
        "Foster 1998, Med Sci Sports Exerc 30:1164–1168; worked diary: Foster et al. 2001, table 5",
    )
    Strain "strain" (
        "Load of the last 7 days, multiplied by its monotony.",
        "of the load",
        "sum of the loads of 7 days · monotony",
        "Foster 1998",
    )
    ZonesOfMax "zones_of_max" (
        "Time of an activity in each of five heart-rate zones, which are shares of the maximal heart rate.",
        "s",
        "seconds in zones that begin at 50, 60, 70, 80 and 90 % of the maximal heart rate",
        "Edwards 1993, The Heart Rate Monitor Book",
    )
    ZonesOfReserve "zones_of_reserve" (
        "Time of an activity in each of five heart-rate zones, which are shares of the heart-rate reserve.",
        "s",
        "seconds in zones that begin at 50, 60, 70, 80 and 90 % of the heart-rate reserve above rest",
        "Karvonen et al. 1957, Ann Med Exp Biol Fenn 35:307–315, with the steps of Edwards 1993",
    )
    IntensitySplit "intensity_split" (
        "Shares of easy, moderate and hard time, by heart rate.",
        "share of time",
        "easy below 83 % of the maximal heart rate, hard from 88 %, moderate between",
        "Haugen et al. 2021, Sports Med 51:1835–1854, table 4 (zones 1 and 2, 3, 4 and above of the Norwegian scale); the three parts: Seiler 2010, Int J Sports Physiol Perform 5:276–291",
    )
    HrvTrend "hrv_trend" (
        "Heart-rate variability of the last week, compared with the normal range of the athlete: below, within or above.",
        "ln ms",
        "mean of ln rMSSD of 7 days against mean ± 0.5 SD of the 60 days before",
        "Plews et al. 2013, Sports Med 43:773–781; at least 3 days a week: Plews et al. 2014, Int J Sports Physiol Perform 9:783–790",
    )
    RestingTrend "resting_heart_rate_trend" (
        "Resting heart rate of the last week, compared with the normal range of the athlete: below, within or above.",
        "bpm",
        "mean of 7 days against mean ± 0.5 SD of the 60 days before",
        "the method of HRV (Plews et al. 2013); Buchheit 2014, Front Physiol 5:73",
    )
    Riegel "riegel" (
        "Predicted time of a race, computed from the best run of the last 42 days by a power law.",
        "s",
        "T₂ = T₁ · (D₂/D₁)^1.06",
        "Riegel 1981, American Scientist 69:285–290",
    )
    Vdot "vdot" (
        "Running fitness (VDOT) of the best run of the last 42 days.",
        "ml/kg/min",
        "(−4.60 + 0.182258·v + 0.000104·v²) / (0.8 + 0.1894393·e^(−0.012778·t) + 0.2989558·e^(−0.1932605·t)), v in m/min, t in min",
        "Daniels & Gilbert 1979, Oxygen Power",
    )
    VdotTime "vdot_time" (
        "Predicted time of a race, computed from the best run of the last 42 days by its VDOT.",
        "s",
        "the predicted time for this distance at the same VDOT",
        "Daniels & Gilbert 1979; tables of Daniels, Daniels' Running Formula, 3rd ed. 2014",
    )
    WeeklyVolume "weekly_volume" (
        "Activities, duration and distance by week and sport.",
        "s, m",
        "sums of duration and distance by sport and week from Monday (ISO 8601); no distance if none is known",
        "ISO 8601-1:2019, 3.1.1.23 (calendar week)",
    )
}

impl Metric {
    /// Returns one sentence about the metric, by which a model chooses a metric.
    pub const fn description(self) -> &'static str {
        self.row().0
    }

    pub const fn unit(self) -> &'static str {
        self.row().1
    }

    pub const fn formula(self) -> &'static str {
        self.row().2
    }

    pub const fn source(self) -> &'static str {
        self.row().3
    }
}
