//! The metrics compared with published values. Each test cites the source of its numbers.

use holdshort_coach::training::metrics::daily::{DailyLoads, monotony_of, strain_of};
use holdshort_coach::training::metrics::efficiency::{OutputMeasure, decoupling, efficiency_factor};
use holdshort_coach::training::metrics::load::{
    Scale, heart_rate_tss, intensity_factor, load, power_tss, session_rpe, trimp,
};
use holdshort_coach::training::metrics::race::{best_run, predictions, riegel, vdot, vdot_time};
use holdshort_coach::training::metrics::trend::{self, TrendPosition};
use holdshort_coach::training::metrics::{Caveat, Metric, Need, Profile, Traced, power, volume, zones};
use holdshort_coach::training::{Athlete, File, Measure, Options, Season, Sex, Sport, read};
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;

use crate::training::fit_writer::{ENUM, FitWriter, U8, U16, U32, finish_run, hour_with_pauses, run, time};
use crate::training::support::START;

const DAY: Date = date(2026, 3, 1);

fn season(name: &str, bytes: &[u8]) -> Season {
    read(&[File { name, bytes }], &Options { zone: Some(TimeZone::UTC), ..Options::default() }).season
}

fn man() -> Athlete {
    Athlete {
        sex: Some(Sex::Male),
        max_heart_rate: Some(200.0),
        resting_heart_rate: Some(40.0),
        threshold_heart_rate: Some(170.0),
        threshold_power: Some(250.0),
        ..Athlete::default()
    }
}

fn assert_near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "{found} is not {expected} ± {within}");
}

fn profile(athlete: &Athlete) -> Profile {
    Profile::from_season(&Season::default(), athlete, DAY)
}

/// Tests the example of <http://fellrnr.com/wiki/TRIMP>: a TRIMP of 32 for a man with a maximum of 200, 40 at rest, and
/// 30 minutes at 130 bpm. The page gives 4.37 per minute at the maximum for men (0.64·e^1.92). Its constants for women
/// give 0.86·e^1.67.
#[test]
fn trimp_is_that_of_the_worked_example() {
    let log = |bpm: u32| format!("start,sport,duration_min,avg_hr\n2026-03-01T06:30:00Z,run,30,{bpm}\n");
    let example = season("a.csv", log(130).as_bytes());
    let found = trimp(&example.activities[0], &profile(&man())).unwrap();
    assert_near(found.value, 32.0, 0.5);
    assert_eq!(found.inputs.activities.into_iter().collect::<Vec<_>>(), [example.activities[0].id.clone()]);
    assert_eq!(
        found.inputs.athlete.into_iter().collect::<Vec<_>>(),
        ["max_heart_rate", "resting_heart_rate", "sex"]
    );
    assert_eq!(found.caveats.into_iter().collect::<Vec<_>>(), [Caveat::AverageHeartRate]);

    let flat_out = season("a.csv", log(200).as_bytes());
    assert_near(trimp(&flat_out.activities[0], &profile(&man())).unwrap().value / 30.0, 4.37, 0.005);
    // e^1.67 = 5.31217, and 0.86 · 5.31217 = 4.56846.
    let woman = Athlete { sex: Some(Sex::Female), ..man() };
    assert_near(trimp(&flat_out.activities[0], &profile(&woman)).unwrap().value / 30.0, 4.568_46, 1e-5);
}

/// Tests that an hour at the threshold gives the load 100, by definition (Allen & Coggan 2010, ch. 7).
#[test]
fn an_hour_at_the_threshold_is_100() {
    let rates = run(START, &[170; 200]).finish();
    let short = season("a.fit", &rates);
    let by_heart_rate = heart_rate_tss(&short.activities[0], &profile(&man())).unwrap();
    // Expected value: 200 of 3600 seconds. The samples cover 199 of them.
    assert_near(by_heart_rate.value, 5.555_56, 1e-5);

    let log = "start,sport,duration_h,avg_hr,avg_power_w,np_w\n\
               2026-03-01T06:30:00Z,ride,1,170,240,250\n\
               2026-03-02T06:30:00Z,ride,2,150,200,212.5\n";
    let rides = season("a.csv", log.as_bytes());
    assert_near(heart_rate_tss(&rides.activities[0], &profile(&man())).unwrap().value, 100.0, 1e-9);
    // 170 bpm is 130/160 = 0.8125 of the reserve: 0.52 · e^1.56 = 0.52 · 4.758821 = 2.474587 per minute. 150 bpm is
    // 110/160 = 0.6875: 0.44 · e^1.32 = 0.44 · 3.743421 = 1.647105. Two hours: 200 · 1.647105 / 2.474587.
    assert_near(heart_rate_tss(&rides.activities[1], &profile(&man())).unwrap().value, 133.121_6, 1e-4);
    assert_near(power_tss(&rides.activities[0], &profile(&man())).unwrap().value, 100.0, 1e-9);
    // Two hours at 0.85 of the threshold power: 2 · 0.85² · 100.
    assert_near(power_tss(&rides.activities[1], &profile(&man())).unwrap().value, 144.5, 1e-9);
    assert_eq!(load(&rides.activities[1], &profile(&man()), Scale::Tss).unwrap().metric, Metric::PowerTss);
    let without_power = Athlete { threshold_power: None, ..man() };
    assert_eq!(
        load(&rides.activities[1], &profile(&without_power), Scale::Tss).unwrap().metric,
        Metric::HeartRateTss
    );
}

fn ride(watts: impl Iterator<Item = u16>) -> Season {
    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(253, 4, U32), (7, 2, U16)]);
    let mut seconds = 0;
    for power in watts {
        writer.message(1, &[&time(START + i64::from(seconds)), &power.to_le_bytes()]);
        seconds += 1;
    }
    finish_run(&mut writer, START, seconds - 1, 2);
    season("ride.fit", &writer.finish())
}

/// Tests that the normalised power of a constant power is this power. For two halves that are much longer than 30 s,
/// the fourth powers are averaged: (1e8 + 81e8)/2 = 4.1e9, and the fourth root of 4.1e9 is 253.044. Allen & Coggan
/// 2010, ch. 7, describe the four steps.
#[test]
fn normalised_power_follows_the_four_steps() {
    let constant = ride(std::iter::repeat_n(200, 1_801));
    let found = power::normalised_power(&constant.activities[0]).unwrap();
    assert_near(found.value, 200.0, 1e-9);
    assert!(found.caveats.is_empty());
    let halves = ride(std::iter::repeat_n(100, 7_200).chain(std::iter::repeat_n(300, 7_201)));
    assert_near(power::normalised_power(&halves.activities[0]).unwrap().value, 253.044, 0.2);
    // 30 s at 100 W and 1 s at 400 W: the means over 30 s are 100 W and (29 · 100 + 400)/30 = 110 W. (1e8 + 1.4641e8)/2
    // = 1.23205e8, and the fourth root of 1.23205e8 is 105.3555.
    let short = ride(std::iter::repeat_n(100, 30).chain([400, 400]));
    assert_near(power::normalised_power(&short.activities[0]).unwrap().value, 105.355_5, 1e-4);
}

/// Returns a two-hour ride with averages of the device. Samples of power cover one minute, samples of heart rate two.
fn mostly_unmeasured(averages: &[(u8, u16)]) -> Season {
    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(253, 4, U32), (7, 2, U16), (3, 1, U8)]);
    for second in 0..=120_u32 {
        let power = if second < 60 { 500_u16 } else { u16::MAX };
        writer.message(1, &[&time(START + i64::from(second)), &power.to_le_bytes(), &[180]]);
    }
    let mut fields = vec![(253, 4, U32), (2, 4, U32), (7, 4, U32), (8, 4, U32), (5, 1, ENUM)];
    fields.extend(averages.iter().map(|(number, _)| match number {
        16 => (*number, 1, U8),
        _ => (*number, 2, U16),
    }));
    writer.define(2, 18, &fields);
    let millis = 7_200_000_u32.to_le_bytes();
    let (begin, end) = (time(START), time(START + 7_200));
    let values: Vec<Vec<u8>> = averages
        .iter()
        .map(|(number, value)| match number {
            16 => vec![u8::try_from(*value).unwrap()],
            _ => value.to_le_bytes().to_vec(),
        })
        .collect();
    let mut message: Vec<&[u8]> = vec![&end, &begin, &millis, &millis, &[2]];
    message.extend(values.iter().map(Vec::as_slice));
    writer.message(2, &message);
    season("ride.fit", &writer.finish())
}

/// Tests that one minute at 500 W does not become the power of a two-hour ride.
#[test]
fn a_few_samples_are_not_taken_for_the_whole() {
    // Numbers of FIT session fields: 16 is avg_heart_rate, 20 is avg_power, 34 is normalized_power.
    let told = mostly_unmeasured(&[(16, 130), (20, 150), (34, 160)]);
    let ride = &told.activities[0];
    let found = power::normalised_power(ride).unwrap();
    assert_near(found.value, 160.0, 0.0);
    assert_eq!(found.caveats.into_iter().collect::<Vec<_>>(), [Caveat::DevicePower]);
    let man = Athlete { threshold_power: Some(240.0), ..man() };
    let tss = power_tss(ride, &profile(&man)).unwrap();
    assert_near(tss.value, 200.0 * (160.0_f64 / 240.0).powi(2), 1e-9);
    let zones = zones::of_max(ride, &profile(&man)).unwrap();
    assert_eq!(zones.caveats.into_iter().collect::<Vec<_>>(), [Caveat::PartialSamples]);
    let split = zones::intensity_split([ride], &profile(&man)).unwrap_err();
    assert_eq!(split.needs, Need::HeartRate);
    let average = mostly_unmeasured(&[(20, 150)]);
    let found = power::normalised_power(&average.activities[0]).unwrap();
    assert_near(found.value, 150.0, 0.0);
    assert_eq!(found.caveats.into_iter().collect::<Vec<_>>(), [Caveat::AveragePower]);
    // Without averages of the device, the metrics have no result.
    let alone = mostly_unmeasured(&[]);
    assert_eq!(power::normalised_power(&alone.activities[0]).unwrap_err().needs, Need::Power);
    assert!(
        alone.activities[0]
            .measures
            .keys()
            .all(|it| { !matches!(it, Measure::HeartRateAverage | Measure::PowerAverage) })
    );
    // With a second ride that has all samples, the split covers only the second ride, and has a caveat.
    let whole = season("a.fit", &run(START, &[120; 101]).finish());
    let split = zones::intensity_split([ride, &whole.activities[0]], &profile(&man)).unwrap();
    assert_near(split.value.seconds, 100.0, 0.0);
    assert!(split.caveats.contains(&Caveat::UnknownIntensity));
}

/// Tests the diary of Foster et al. 2001, table 5: nine sessions, weekly load 3400, monotony 1.26, strain 4284.
#[test]
fn monotony_and_strain_are_those_of_fosters_diary() {
    let diary = [940.0, 50.0, 840.0, 280.0, 180.0, 390.0, 50.0, 390.0, 280.0];
    let monotony = monotony_of(&diary).unwrap();
    assert_near(monotony, 1.26, 0.005);
    // The table multiplies by the rounded monotony 1.26, so its strain may differ by up to 3400 · 0.005.
    assert_near(strain_of(&diary, monotony), 4_284.0, 17.0);
    for constant in [&[50.0; 7][..], &[0.0; 7], &[]] {
        assert_eq!(monotony_of(constant), None);
    }
}

/// Tests a week with loads of 60, 0, 90, 0, 60, 0 and 120: the sum is 330 and the mean 47.142857. The squared
/// deviations are 2 · 165.306, 3 · 2222.449, 1836.735 and 5308.163, in total 14142.857. A seventh of the total is
/// 2020.408, and its square root is 44.94895. Monotony: 47.142857 / 44.94895 = 1.048809. Strain: 330 · 1.048809 =
/// 346.1069.
#[test]
fn monotony_and_strain_of_a_week_with_rest() {
    let week = [Some(60.0), None, Some(90.0), None, Some(60.0), None, Some(120.0)];
    let found = loads_of(&week);
    assert_near(found.acute().unwrap().value, 47.142_857, 1e-6);
    assert_near(found.monotony().unwrap().value, 1.048_809, 1e-6);
    assert_near(found.strain().unwrap().value, 346.106_9, 1e-4);
}

/// Tests exertion and minutes in Foster et al. 2001, table 5: 7 · 120 = 840, 7 · 40 = 280, 3 · 60 = 180, 2 · 25 = 50.
#[test]
fn session_rpe_is_that_of_fosters_diary() {
    for (exertion, minutes, expected) in [(7, 120, 840.0), (7, 40, 280.0), (3, 60, 180.0), (2, 25, 50.0)] {
        let log = format!("start,sport,duration_min,rpe\n2026-03-01T06:30:00Z,skate,{minutes},{exertion}\n");
        let found = session_rpe(&season("a.csv", log.as_bytes()).activities[0]).unwrap();
        assert_near(found.value, expected, 1e-9);
    }
}

/// Returns the season of a log with one session per day. The exertion is 1, so the load equals the minutes. `None` is a
/// rest day.
fn daily(loads: &[Option<f64>]) -> (Season, Date) {
    let mut log = "start,sport,duration_min,rpe\n".to_owned();
    let first = date(2026, 1, 1);
    let mut last = first;
    for (day, load) in (0_i64..).zip(loads) {
        last = first + jiff::Span::new().days(day);
        if let Some(minutes) = load {
            log = log + &last.to_string() + "T06:30:00Z,run," + &minutes.to_string() + ",1\n";
        }
    }
    (season("a.csv", log.as_bytes()), last)
}

fn loads_of(loads: &[Option<f64>]) -> DailyLoads {
    let (season, last) = daily(loads);
    DailyLoads::compute(&season, &profile(&man()), Scale::SessionRpe, last).unwrap()
}

/// Tests acute and chronic load. Hulin et al. 2014: three weeks of 100 per day, then a week of 200: (21 · 100 + 7 ·
/// 200) / 28 = 125, and 200 / 125 = 1.6. Williams et al. 2017: λ = 2/(N + 1). For 7 days λ = 0.25: 100 becomes 125,
/// 143.75, 157.8125, 168.3594, 176.2695, 182.2021 and 186.6516. For 28 days λ = 0.069: 106.8966, 113.3175, 119.2956,
/// 124.8614, 130.0434, 134.8680 and 139.3598.
#[test]
fn acute_and_chronic_load_follow_their_definitions() {
    let mut loads = vec![Some(100.0); 21];
    loads.extend([Some(200.0); 7]);
    let found = loads_of(&loads);
    assert_near(found.acute().unwrap().value, 200.0, 1e-9);
    assert_near(found.chronic().unwrap().value, 125.0, 1e-9);
    assert_near(found.ratio().unwrap().value, 1.6, 1e-9);
    assert_near(found.acute_ewma().unwrap().value, 186.651_6, 1e-4);
    assert_near(found.chronic_ewma().unwrap().value, 139.359_8, 1e-4);
    let ratio = found.ratio_ewma().unwrap();
    assert_near(ratio.value, 1.339_35, 1e-5);
    assert_eq!(ratio.inputs.activities.len(), 28);
    assert_eq!(ratio.caveats.into_iter().collect::<Vec<_>>(), [Caveat::WarmingUp]);
}

#[test]
fn days_without_data_are_told_and_too_few_are_no_result() {
    let week = [Some(60.0), None, Some(90.0), None, Some(60.0), None, Some(120.0)];
    let found = loads_of(&week);
    let acute = found.acute().unwrap();
    assert_eq!(acute.caveats.into_iter().collect::<Vec<_>>(), [Caveat::RestDays]);
    assert_eq!(found.chronic().unwrap_err().needs, Need::History);
    assert_eq!(loads_of(&[Some(60.0); 7]).monotony().unwrap_err().needs, Need::Variation);

    // A session without exertion has an unknown load, and is not a rest day.
    let log = "start,sport,duration_min,rpe\n2026-03-01T06:30:00Z,run,60,5\n2026-03-02T06:30:00Z,run,60,\n\
               2026-03-03T06:30:00Z,run,60,5\n2026-03-07T06:30:00Z,run,60,5\n";
    let season = season("a.csv", log.as_bytes());
    let loads = DailyLoads::compute(&season, &profile(&man()), Scale::SessionRpe, date(2026, 3, 7)).unwrap();
    let acute = loads.acute().unwrap();
    // Expected value: 3 · 300 over the six days with a known load.
    assert_near(acute.value, 150.0, 1e-9);
    assert_eq!(acute.caveats.into_iter().collect::<Vec<_>>(), [Caveat::RestDays, Caveat::UnknownLoads]);
    assert_eq!(acute.inputs.activities.len(), 3);

    let none = DailyLoads::compute(&season, &profile(&Athlete::default()), Scale::Trimp, date(2026, 3, 7))
        .unwrap_err();
    assert_eq!((none.metric, none.needs), (Metric::Trimp, Need::Sex));
}

#[test]
fn an_activity_of_a_clock_that_was_never_set_hides_no_day() {
    let log = "start,sport,duration_min,rpe\n1970-01-01T00:00:00Z,run,60,5\n2026-03-01T06:30:00Z,run,70,1\n";
    let season = season("a.csv", log.as_bytes());
    let loads = DailyLoads::compute(&season, &profile(&man()), Scale::SessionRpe, DAY).unwrap();
    assert_near(loads.acute().unwrap().value, 10.0, 1e-9);
    let weeks = volume::weekly(&season, DAY).unwrap();
    assert_eq!(weeks.last().unwrap().1[&Sport::Running].inputs.activities.len(), 1);
    // The mean of a week is correct without older loads. The exponentially weighted average has a caveat.
    assert!(!loads.acute().unwrap().caveats.contains(&Caveat::OlderLoads));
    assert!(loads.acute_ewma().unwrap().caveats.contains(&Caveat::OlderLoads));
    assert!(loads.days().len() <= holdshort_coach::training::limits::DAYS && weeks.len() < 2_200);
}

/// Tests that heart-rate zones begin at 50 to 90 %. With a maximum of 200 they begin at 100, 120, 140, 160 and 180
/// (Edwards 1993). With 40 at rest they begin at 120, 136, 152, 168 and 184 (Karvonen 1957). A heart rate at a boundary
/// belongs to the upper zone.
#[test]
fn zones_begin_where_they_are_said_to() {
    let rates = [99, 100, 119, 120, 139, 140, 159, 160, 179, 180, 200, 200];
    let season = season("a.fit", &run(START, &rates).finish());
    let by_max = zones::of_max(&season.activities[0], &profile(&man())).unwrap().value;
    assert_eq!(by_max.begin_bpm.to_vec(), [100.0, 120.0, 140.0, 160.0, 180.0]);
    assert_eq!((by_max.below_s, by_max.zones_s), (1.0, [2.0, 2.0, 2.0, 2.0, 2.0]));
    let by_reserve = zones::of_reserve(&season.activities[0], &profile(&man())).unwrap().value;
    assert_eq!(by_reserve.begin_bpm.to_vec(), [120.0, 136.0, 152.0, 168.0, 184.0]);
    assert_eq!((by_reserve.below_s, by_reserve.zones_s), (3.0, [1.0, 2.0, 2.0, 2.0, 1.0]));
}

/// Tests the shares of easy and hard time. Haugen et al. 2021, table 4: zone 3 is 83 to 87 % of the maximal heart rate,
/// and zone 4 begins at 88 %. With a maximum of 200, the boundaries are 166 and 176.
#[test]
fn easy_and_hard_are_parted_at_83_and_88_percent() {
    let season = season("a.fit", &run(START, &[120, 150, 165, 165, 166, 175, 176, 190, 120]).finish());
    let split = zones::intensity_split(&season.activities, &profile(&man())).unwrap().value;
    assert_eq!([split.easy, split.moderate, split.hard, split.seconds].to_vec(), [0.5, 0.25, 0.25, 8.0]);
}

/// Tests the maximal heart rate that is estimated from the age. Tanaka et al. 2001: 208 − 0.7 · age, which is 180 at
/// the age of 40.
#[test]
fn a_maximum_from_the_age_is_told() {
    let by_age = Athlete { max_heart_rate: None, birth_date: Some(date(1986, 3, 1)), ..man() };
    let season = season("a.fit", &run(START, &[150; 60]).finish());
    let zones = zones::of_max(&season.activities[0], &profile(&by_age)).unwrap();
    assert_near(zones.value.begin_bpm[0], 90.0, 0.0);
    assert_eq!(zones.caveats.into_iter().collect::<Vec<_>>(), [Caveat::EstimatedMax]);
    assert_eq!(zones.inputs.athlete.into_iter().collect::<Vec<_>>(), ["birth_date"]);
    // One day before the birthday, the age is one year less.
    let younger = Profile::from_season(&season, &by_age, date(2026, 2, 28));
    assert_near(zones::of_max(&season.activities[0], &younger).unwrap().value.begin_bpm[0], 90.35, 1e-9);
}

/// Tests race times for a VDOT with Daniels' Running Formula, 3rd ed. 2014, table 5.1. The table and the formula differ
/// by up to 0.2 %, because the table rounds its paces.
#[test]
fn vdot_times_are_those_of_daniels_table() {
    let clock = |hours: f64, minutes: f64, seconds: f64| hours * 3_600.0 + minutes * 60.0 + seconds;
    let (half, marathon) = (21_097.5, 42_195.0);
    for (value, metres, seconds) in [
        (30.0, 5_000.0, clock(0.0, 30.0, 40.0)),
        (30.0, 10_000.0, clock(0.0, 63.0, 46.0)),
        (30.0, marathon, clock(4.0, 49.0, 17.0)),
        (40.0, 5_000.0, clock(0.0, 24.0, 8.0)),
        (40.0, 10_000.0, clock(0.0, 50.0, 3.0)),
        (40.0, half, clock(1.0, 50.0, 59.0)),
        (40.0, marathon, clock(3.0, 49.0, 45.0)),
        (50.0, 5_000.0, clock(0.0, 19.0, 57.0)),
        (50.0, 10_000.0, clock(0.0, 41.0, 21.0)),
        (50.0, half, clock(1.0, 31.0, 35.0)),
        (50.0, marathon, clock(3.0, 10.0, 49.0)),
        (60.0, 5_000.0, clock(0.0, 17.0, 3.0)),
        (60.0, 10_000.0, clock(0.0, 35.0, 22.0)),
        (60.0, half, clock(1.0, 18.0, 9.0)),
        (60.0, marathon, clock(2.0, 43.0, 25.0)),
    ] {
        assert_near(vdot_time(value, metres).unwrap(), seconds, seconds / 500.0);
        assert_near(vdot(seconds, metres).unwrap(), value, 0.07);
    }
}

/// Tests the VDOT of 15 km in 1:07:48 with the calculator of runworks.com, which uses the same formula. Quoted on
/// <http://marathonquest.blogspot.com/2007/09/15k-as-warm-up-for-marathon.html>.
#[test]
fn vdot_times_are_those_of_another_calculator() {
    let found = vdot(4_068.0, 15_000.0).unwrap();
    assert_near(found, 46.4, 0.05);
    for (metres, seconds) in [
        (5_000.0, 1_275.1),
        (10_000.0, 2_643.9),
        (20_000.0, 5_531.9),
        (21_097.5, 5_856.7),
        (42_195.0, 12_178.7),
    ] {
        assert_near(vdot_time(found, metres).unwrap(), seconds, seconds / 4_000.0);
    }
}

/// Tests predicted race times with <https://usecalcpro.com/sports/race-predictor-calculator>: 5 km in 25:00 with the
/// exponent 1.06 give 10 km in 52:07, a half marathon in 1:55:00 and a marathon in 3:59:47.
#[test]
fn riegel_is_that_of_another_calculator() {
    for (metres, seconds) in
        [(5_000.0, 1_500.0), (10_000.0, 3_127.0), (21_097.5, 6_900.0), (42_195.0, 14_387.0)]
    {
        assert_near(riegel(1_500.0, 5_000.0, metres).unwrap(), seconds, 1.0);
    }
}

#[test]
fn predictions_name_the_run_that_they_come_from() {
    let log = "start,sport,duration_hms,distance_km\n\
               2026-01-01T06:30:00Z,run,0:35:00,10\n\
               2026-02-20T06:30:00Z,run,0:41:21,10\n\
               2026-02-25T06:30:00Z,run,1:00:00,11\n\
               2026-02-26T06:30:00Z,ride,0:30:00,15\n\
               2026-02-27T06:30:00Z,run,0:02:00,0.8\n";
    let season = season("a.csv", log.as_bytes());
    let (run, best) = best_run(&season, DAY).unwrap();
    assert_eq!(run.id, "2026-02-20T06:30:00Z running");
    assert_near(best.value, 50.0, 0.05);
    let found = predictions(&season, DAY).unwrap();
    let marathon = found.last().unwrap();
    assert_eq!(marathon.riegel.inputs.activities.iter().collect::<Vec<_>>(), [&run.id]);
    assert_near(marathon.vdot_time.value, 3.0 * 3_600.0 + 10.0 * 60.0 + 49.0, 10.0);
    assert_eq!(best_run(&season, date(2026, 6, 1)).unwrap_err().needs, Need::Run);
}

/// Tests trends with the window and the band of Plews et al. 2013: the 7-day mean of ln rMSSD is compared with the mean
/// ± 0.5 SD of the days before.
#[test]
fn the_trend_of_a_week_is_seen_against_the_days_before() {
    let log = |week: &dyn Fn(i64) -> Option<f64>| {
        let mut text = "date,hrv_ms,resting_hr\n".to_owned();
        for day in 0..67_i64 {
            let date = date(2026, 1, 1) + jiff::Span::new().days(day);
            // In the baseline, ln is alternately 4 + 0.1 and 4 − 0.1.
            let before = (if day % 2 == 0 { 4.1_f64 } else { 3.9 }).exp();
            if let Some(hrv) = if day < 60 { Some(before) } else { week(day) } {
                text = format!("{text}{date},{hrv},{}\n", 48 + day % 2);
            }
        }
        season("d.csv", text.as_bytes())
    };
    let last = date(2026, 3, 8);
    // Each of 60 days differs from the mean by 0.1. The variance is 60 · 0.01 / 59 = 0.01016949, and its root
    // 0.1008439.
    for (ln, against) in
        [(3.9, TrendPosition::Below), (4.0, TrendPosition::Within), (4.1, TrendPosition::Above)]
    {
        let found = trend::hrv(&log(&|_| Some(f64::exp(ln))), last).unwrap();
        assert_near(found.value.week, ln, 1e-9);
        assert_near(found.value.baseline, 4.0, 1e-9);
        assert_near(found.value.deviation, 0.100_843_9, 1e-7);
        assert_eq!((found.value.against, found.inputs.days.len()), (against, 67));
        assert!(found.caveats.is_empty());
    }
    // Values of three of seven days are enough, values of two days are not.
    let some = trend::hrv(&log(&|day| (day > 63).then_some(55.0)), last).unwrap();
    assert_eq!((some.value.week_days, some.caveats.contains(&Caveat::MissingDays)), (3, true));
    assert_eq!(trend::hrv(&log(&|day| (day > 64).then_some(55.0)), last).unwrap_err().needs, Need::Days);
    let resting = trend::resting_heart_rate(&log(&|_| Some(55.0)), last).unwrap();
    assert_near(resting.value.baseline, 48.5, 1e-9);
    assert_eq!(trend::resting_heart_rate(&Season::default(), last).unwrap_err().needs, Need::Days);
}

/// Tests that training weeks begin on Mondays: 2024-12-30 begins the first week of 2025 (ISO 8601).
#[test]
fn weeks_are_those_of_the_calendar() {
    let log = "start,sport,duration_min,distance_km\n\
               2024-12-29T06:30:00Z,run,60,10\n\
               2024-12-30T06:30:00Z,run,30,5\n\
               2025-01-01T06:30:00Z,ride,90,\n\
               2025-01-05T23:30:00Z,run,40,8\n\
               2025-01-14T06:30:00Z,run,20,4\n";
    let weeks = volume::weekly(&season("a.csv", log.as_bytes()), date(2025, 1, 20)).unwrap();
    let shown: Vec<_> = weeks
        .iter()
        .map(|(begins, week)| {
            let of = |sport: &Sport| {
                week.get(sport).map(|Traced { value: v, .. }| (v.activities, v.duration_s, v.distance_m))
            };
            (begins.to_string(), of(&Sport::Running), of(&Sport::Cycling))
        })
        .collect();
    let week = |begins: &str, run, ride| (begins.to_owned(), run, ride);
    assert_eq!(
        shown,
        [
            week("2024-12-23", Some((1, 3_600.0, Some(10_000.0))), None),
            week("2024-12-30", Some((2, 4_200.0, Some(13_000.0))), Some((1, 5_400.0, None))),
            week("2025-01-06", None, None),
            week("2025-01-13", Some((1, 1_200.0, Some(4_000.0))), None),
            week("2025-01-20", None, None),
        ]
    );
    assert!(weeks[1].1[&Sport::Cycling].caveats.contains(&Caveat::UnknownDistances));
    assert_eq!(weeks[1].1[&Sport::Running].inputs.activities.len(), 2);
}

/// Tests an hour of running at one heart rate with a pause of 24 s after each minute. Its load and zones are those of
/// an hour: with timer events, without them, and in the laps of a TCX file.
#[test]
fn pauses_add_no_time_to_loads_and_zones() {
    let laps = |bpm: u32| {
        let point = |second: i64| {
            let at = jiff::Timestamp::from_second(START + second).unwrap();
            format!(
                "<Trackpoint><Time>{at}</Time><HeartRateBpm><Value>{bpm}</Value></HeartRateBpm></Trackpoint>"
            )
        };
        let points: String =
            (0..60).flat_map(|minute| (0..=60).map(move |s| minute * 84 + s)).map(point).collect();
        format!(
            "<T><Activities><Activity Sport='Running'><Id>2026-03-01T06:30:00Z</Id><Lap><TotalTimeSeconds>3600\
             </TotalTimeSeconds><Track>{points}</Track></Lap></Activity></Activities></T>"
        )
    };
    let hour = "start,sport,duration_s,avg_hr\n2026-03-01T06:30:00Z,run,3600,150\n";
    let expected = trimp(&season("a.csv", hour.as_bytes()).activities[0], &profile(&man())).unwrap().value;
    for (what, paused) in [
        ("events", season("a.fit", &hour_with_pauses(START, 150, true).finish())),
        ("no events", season("a.fit", &hour_with_pauses(START, 150, false).finish())),
        ("laps", season("a.tcx", laps(150).as_bytes())),
    ] {
        let run = &paused.activities[0];
        let load = trimp(run, &profile(&man())).unwrap();
        assert_near(load.value, expected, 1e-9);
        assert!(load.caveats.is_empty(), "{what}: {:?}", load.caveats);
        let zones = zones::of_max(run, &profile(&man())).unwrap();
        assert_near(zones.value.below_s + zones.value.zones_s.iter().sum::<f64>(), 3_600.0, 1e-6);
        assert!(zones.caveats.is_empty(), "{what}: {:?}", zones.caveats);
        let split = zones::intensity_split([run], &profile(&man())).unwrap();
        assert!(split.value.seconds <= 3_600.0 + 1e-6, "{what}: {}", split.value.seconds);
    }
}

/// Tests an hour in which the sensor lost contact for a part. The load is that of the full hour, and a caveat reports
/// the gap.
#[test]
fn lost_samples_are_scaled_up_and_told() {
    let hour = |lost: usize| {
        let rates: Vec<u8> = (0..=3_600).map(|second| if second < lost { 255 } else { 150 }).collect();
        let mut writer = FitWriter::activity_file();
        writer.define(1, 20, &[(253, 4, U32), (3, 1, U8)]);
        for (second, bpm) in (0_i64..).zip(&rates) {
            writer.message(1, &[&time(START + second), &[*bpm]]);
        }
        writer.session(START, 3_600, 3_600, [1, 0]);
        season("a.fit", &writer.finish())
    };
    let whole = trimp(&hour(0).activities[0], &profile(&man())).unwrap().value;
    for (lost, caveats, zone_caveats) in [
        (0, &[][..], &[][..]),
        (36, &[], &[]),
        (37, &[Caveat::ScaledSamples], &[Caveat::PartialSamples]),
        (684, &[Caveat::ScaledSamples], &[Caveat::PartialSamples]),
        (720, &[Caveat::ScaledSamples], &[Caveat::PartialSamples]),
    ] {
        let run = &hour(lost).activities[0];
        let load = trimp(run, &profile(&man())).unwrap();
        assert_near(load.value, whole, 1e-9);
        assert_eq!(load.caveats.into_iter().collect::<Vec<_>>(), caveats, "{lost}");
        let zones = zones::of_max(run, &profile(&man())).unwrap();
        assert_eq!(zones.caveats.into_iter().collect::<Vec<_>>(), zone_caveats, "{lost}");
        let seconds = zones.value.below_s + zones.value.zones_s.iter().sum::<f64>();
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let known = (3_600 - lost) as f64;
        assert_near(seconds, known, 1e-6);
    }
    // With less than 80 %, an average of the device would be used. There is none.
    assert_eq!(trimp(&hour(721).activities[0], &profile(&man())).unwrap_err().needs, Need::HeartRate);
}

/// Tests a load of 100 a day: after one time constant, the average is 1 − 1/e of the load, and after two 1 − 1/e².
/// Source: Allen & Coggan 2010, ch. 8, and the performance manager of `GoldenCheetah`.
#[test]
fn fitness_and_fatigue_follow_their_time_constants() {
    let log = |days: i64, load: &dyn Fn(i64) -> u32| {
        let row = |day: i64| {
            let date = date(2026, 1, 1) + jiff::Span::new().days(day);
            format!("{date}T06:30:00Z,run,{},1\n", load(day))
        };
        let rows: String = (0..days).filter(|day| load(*day) > 0).map(row).collect();
        season("a.csv", format!("start,sport,duration_min,rpe\n{rows}").as_bytes())
    };
    let loads = |season: &Season, day: i64| {
        let as_of = date(2026, 1, 1) + jiff::Span::new().days(day);
        DailyLoads::compute(season, &profile(&man()), Scale::SessionRpe, as_of).unwrap()
    };
    let constant = log(90, &|_| 100);
    let e = std::f64::consts::E;
    assert_near(loads(&constant, 41).ctl().unwrap().value, 100.0 * (1.0 - 1.0 / e), 1e-9);
    assert_near(loads(&constant, 83).ctl().unwrap().value, 100.0 * (1.0 - e.powi(-2)), 1e-9);
    assert_near(loads(&constant, 6).atl().unwrap().value, 100.0 * (1.0 - 1.0 / e), 1e-9);
    // The form is that with which the day begins: of 42 days, fitness 63.212 and fatigue 99.752.
    assert_near(loads(&constant, 42).tsb().unwrap().value, 100.0 * (e.powi(-6) - e.powi(-1)), 1e-9);
    // One session of 420, and then rest: 420 · (1 − e^(−1/42)) = 9.8819, which falls by 1/e in 42 days.
    let once = log(1, &|_| 420);
    let first = 420.0 * (1.0 - (-1.0_f64 / 42.0).exp());
    assert_near(loads(&once, 42).ctl().unwrap().value, first / e, 1e-9);
    assert_near(first, 9.881_9, 1e-4);
    // Before the time constant is over, there is no result.
    for (day, needs) in [(40, Need::History), (5, Need::History)] {
        assert_eq!(loads(&constant, day).ctl().unwrap_err().needs, needs);
    }
    assert_eq!(loads(&constant, 41).tsb().unwrap_err().metric, Metric::Tsb);
    assert_eq!(loads(&constant, 5).atl().unwrap_err().needs, Need::History);
    let caveats = |day: i64| loads(&constant, day).atl().unwrap().caveats.contains(&Caveat::StartsAtZero);
    assert!(caveats(26) && !caveats(27));
}

/// Tests the intensity factor of Allen & Coggan 2010, ch. 7: two hours at a normalised power of 212.5 W and a threshold
/// of 250 W have the factor 0.85. The efficiency factor is that power divided by the average heart rate.
#[test]
fn intensity_and_efficiency_are_ratios() {
    let log = "start,sport,duration_h,distance_km,avg_hr,avg_power_w,np_w\n\
               2026-03-01T06:30:00Z,ride,2,60,150,200,212.5\n\
               2026-03-02T06:30:00Z,run,1,12,150,,\n\
               2026-03-03T06:30:00Z,ride,2,60,150,,\n\
               2026-03-04T06:30:00Z,run,1,12,,,\n";
    let log = season("a.csv", log.as_bytes());
    let [ride, run, without_power, without_heart_rate] = &log.activities[..] else { panic!("four") };
    assert_near(intensity_factor(ride, &profile(&man())).unwrap().value, 0.85, 1e-12);
    let nobody = Athlete { threshold_power: None, ..man() };
    assert_eq!(intensity_factor(ride, &profile(&nobody)).unwrap_err().needs, Need::ThresholdPower);
    assert_eq!(intensity_factor(run, &profile(&man())).unwrap_err().needs, Need::Power);
    let found = efficiency_factor(ride).unwrap();
    assert_near(found.value.per_beat, 212.5 / 150.0, 1e-12);
    assert_eq!(found.value.output, OutputMeasure::Power);
    // 12 km/h are 200 m/min.
    let found = efficiency_factor(run).unwrap();
    assert_near(found.value.per_beat, 200.0 / 150.0, 1e-12);
    assert_eq!(found.value.output, OutputMeasure::Speed);
    assert_eq!(efficiency_factor(without_power).unwrap_err().needs, Need::Power);
    assert_eq!(efficiency_factor(without_heart_rate).unwrap_err().needs, Need::HeartRate);
}

/// Tests the decoupling of half an hour at 200 W and 140 bpm, and half an hour at 200 W and 147 bpm: 1 − 140/147 =
/// 4.762 %.
#[test]
fn decoupling_compares_two_halves() {
    let recorded = |sport: u8, samples: &dyn Fn(i64) -> (u16, u16, u8)| {
        let mut writer = FitWriter::activity_file();
        writer.define(1, 20, &[(253, 4, U32), (7, 2, U16), (6, 2, U16), (3, 1, U8)]);
        for second in 0..=3_600 {
            let (watts, speed, bpm) = samples(second);
            writer.message(1, &[&time(START + second), &watts.to_le_bytes(), &speed.to_le_bytes(), &[bpm]]);
        }
        writer.session(START, 3_600, 3_600, [sport, 0]);
        season("a.fit", &writer.finish())
    };
    let drift = |second: i64| if second < 1_800 { 140 } else { 147 };
    let ride = recorded(2, &|second| (200, u16::MAX, drift(second)));
    assert_near(decoupling(&ride.activities[0]).unwrap().value, 100.0 * (1.0 - 140.0 / 147.0), 1e-9);
    // A run without power: 3 m/s, then 2.85 m/s at the same heart rate, is a loss of 5 %.
    let run = recorded(1, &|second| (u16::MAX, if second < 1_800 { 3_000 } else { 2_850 }, 140));
    assert_near(decoupling(&run.activities[0]).unwrap().value, 5.0, 1e-9);
    // The speed of a ride says nothing, and neither do too few samples.
    let without_power = recorded(2, &|second| (u16::MAX, 8_000, drift(second)));
    assert_eq!(decoupling(&without_power.activities[0]).unwrap_err().needs, Need::Power);
    let lost = recorded(2, &|second| (200, u16::MAX, if second < 800 { 255 } else { 140 }));
    assert_eq!(decoupling(&lost.activities[0]).unwrap_err().needs, Need::Power);
    let standing = recorded(2, &|_| (0, u16::MAX, 140));
    assert_eq!(decoupling(&standing.activities[0]).unwrap_err().needs, Need::Power);
}
