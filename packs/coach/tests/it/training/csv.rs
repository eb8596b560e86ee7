//! Tables of the athlete: columns, units, decimal marks, dates.

use holdshort_coach::training::{
    Activity, Code, ColumnMap, File, Measure, Options, Reading, Sport, Units, csv_exports, read,
};
use jiff::tz::TimeZone;

use crate::training::support::{codes, problem_lines, read_one, read_utc};

fn days(text: &str) -> Vec<(String, Measure, f64)> {
    let reading = read_one("days.csv", text.as_bytes());
    assert_eq!(codes(&reading), [], "{text}");
    let each = reading.season.days.into_iter();
    each.flat_map(|(date, day)| {
        day.measures.into_iter().map(move |(measure, known)| (date.to_string(), measure, known.value))
    })
    .collect()
}

#[test]
fn every_way_to_write_a_table_of_days_is_read_alike() {
    let expected = vec![
        ("2028-02-29".to_owned(), Measure::RestingHeartRate, 47.0),
        ("2028-02-29".to_owned(), Measure::Hrv, 63.5),
        ("2028-02-29".to_owned(), Measure::Sleep, 7.5),
        ("2028-02-29".to_owned(), Measure::Weight, 70.5),
    ];
    for text in [
        "date,resting_hr_bpm,hrv_ms,sleep_h,weight_kg\n2028-02-29,47,63.5,7.5,70.5\n",
        "\u{feff}Date;Resting HR;HRV rMSSD (ms);Sleep [h];Weight (kg)\r\n2028-02-29;47;63,5;7,5;70,5\r\n",
        "weight_kg\tdate\tsleep_min\thrv_ms\tresting_hr\n70.5\t2028-02-29\t450\t63.5\t47\n",
        "date,resting_hr,hrv_s,sleep_hms,weight_kg,notes\n\"2028-02-29\",47,0.0635,7:30:00,70.5,\"slept, well\"\n\n",
    ] {
        assert_eq!(days(text), expected, "{text}");
    }
    let [(_, _, kg)] = &days("date,weight_lb\n2026-03-01,155.4\n")[..] else { panic!("one") };
    assert!((kg - 70.488_254_298).abs() < 1e-9, "{kg}");
}

#[test]
fn a_table_of_activities_is_read_with_its_units() {
    let text = "start,sport,duration_min,distance_mi,avg_hr,max_hr,avg_power_w,rpe,name\n\
                2026-03-01T07:30:00+01:00,Trail Run,61.5,6.2,151,172,,7,\"long, hilly\"\n";
    let reading = read_one("log.csv", text.as_bytes());
    assert_eq!(codes(&reading), []);
    let [run] = &reading.season.activities[..] else { panic!("one activity") };
    assert_eq!((run.id.as_str(), run.sport.clone()), ("2026-03-01T06:30:00Z running", Sport::Running));
    let measures: Vec<_> = run.measures.iter().map(|(measure, known)| (*measure, known.value)).collect();
    assert_eq!(
        measures,
        [
            (Measure::Duration, 3_690.0),
            (Measure::Distance, 6.2 * 1_609.344),
            (Measure::HeartRateAverage, 151.0),
            (Measure::HeartRateMax, 172.0),
            (Measure::Exertion, 7.0),
        ]
    );
    assert_eq!(run.measures[&Measure::Exertion].source.to_string(), "log.csv:2");
}

#[test]
fn what_can_not_be_understood_is_refused_by_name() {
    for (text, code, said) in [
        ("", Code::CsvHeader, "empty"),
        ("when,weight_kg\n", Code::CsvHeader, "neither"),
        ("date,start\n", Code::CsvHeader, "both"),
        ("date,weight\n2026-03-01,70\n", Code::CsvUnit, "weight_kg, weight_lb"),
        ("date,weight_st\n2026-03-01,11\n", Code::CsvUnit, "weight_kg, weight_lb"),
        ("start,distance_furlong\n", Code::CsvUnit, "distance_m, distance_km, distance_mi"),
        ("start,duration\n", Code::CsvUnit, "duration_s, duration_min, duration_h"),
        ("date,weight_kg,weight_lb\n", Code::CsvColumnTwice, "weight_lb"),
        ("date,sleep_h,sleep_hms\n", Code::CsvColumnTwice, "sleep_hms"),
    ] {
        let reading = read_one("x.csv", text.as_bytes());
        let found: Vec<_> = reading.problems.iter().filter(|problem| problem.code == code).collect();
        let [problem] = found[..] else { panic!("{text}: {:?}", reading.problems) };
        assert!(problem.message.contains(said), "{text}: {problem}");
        assert!(reading.season.activities.is_empty() && reading.season.days.is_empty(), "{text}");
    }
}

#[test]
fn a_bad_row_or_cell_is_told_with_its_line_and_the_others_count() {
    let text = "date,weight_kg,mood\n\
                2026-02-29,70\n\
                2026-02-29,70,1\n\
                01.03.2026,70,1\n\
                3/1/2026,70,1\n\
                2026-03-02,heavy,1\n\
                2026-03-03,700,1\n\
                2026-03-04,1e2,1\n\
                2026-03-05,71,1\n";
    let reading = read_one("d.csv", text.as_bytes());
    let told: Vec<_> =
        reading.problems.iter().map(|problem| (problem.source.to_string(), problem.code)).collect();
    let expected = [
        (1, Code::CsvUnknownColumn),
        (2, Code::CsvRow),
        (3, Code::NoSuchDate),
        (4, Code::BadDate),
        (5, Code::BadDate),
        (6, Code::BadNumber),
        (7, Code::Implausible),
        (8, Code::BadNumber),
    ];
    assert_eq!(told, expected.map(|(line, code)| (format!("d.csv:{line}"), code)));
    let left: Vec<String> = reading.season.days.keys().map(ToString::to_string).collect();
    assert_eq!(left, ["2026-03-05"]);
}

/// Tests that an invalid cell is reported with row and column, and changes no other cell.
#[test]
fn a_cell_with_another_mark_is_told_with_row_and_column_and_is_absent() {
    // Separator, cells of a column, values that are read, and problems.
    for (separator, cells, counted, expected) in [
        // A decimal comma is rejected in a file with comma separators.
        (',', &["70.5", "\"70,5\"", "71"][..], &[70.5, 71.0][..], &[(3, Code::CsvDecimalComma, "70,5")][..]),
        // Most cells have a decimal comma, so the point is reported.
        (';', &["70,5", "70.4", "70,3"], &[70.5, 70.3], &[(3, Code::CsvMixedDecimals, "70.4")]),
        (';', &["70.5", "70.4", "70,3"], &[70.5, 70.4], &[(4, Code::CsvMixedDecimals, "70,3")]),
        // With equally many commas and points, the decimal mark is not guessed.
        (
            ';',
            &["70,5", "70.4", "71"],
            &[71.0],
            &[(2, Code::CsvMixedDecimals, "70,5"), (3, Code::CsvMixedDecimals, "70.4")],
        ),
        // `70.123` could have a thousands separator. The other cell cannot have one, so it determines the decimal mark.
        (
            ';',
            &["70.123", "71.123", "70,5"],
            &[70.5],
            &[(2, Code::CsvMixedDecimals, "70.123"), (3, Code::CsvMixedDecimals, "71.123")],
        ),
        (';', &["1.234,5", "70,5"], &[70.5], &[(2, Code::CsvMixedDecimals, "1.234,5")]),
        ('\t', &["1,234,567", "70,5"], &[70.5], &[(2, Code::CsvMixedDecimals, "1,234,567")]),
        (',', &["70.5", "7O.5"], &[70.5], &[(3, Code::BadNumber, "7O.5")]),
    ] {
        let row = |(day, cell): (usize, &&str)| format!("2026-03-{:02}{separator}{cell}\n", day + 1);
        let rows: String = cells.iter().enumerate().map(row).collect();
        let reading = read_one("d.csv", format!("date{separator}weight_kg\n{rows}").as_bytes());
        let expected: Vec<String> = expected
            .iter()
            .map(|(line, code, cell)| format!("d.csv:{line} {code}: `{cell}` in the column `weight_kg`"))
            .collect();
        assert_eq!(problem_lines(&reading), expected, "{cells:?}");
        let found: Vec<f64> =
            reading.season.days.values().filter_map(|day| day.measure(Measure::Weight)).collect();
        assert_eq!(found, counted, "{cells:?}");
    }
}

#[test]
fn a_bad_cell_of_an_activity_leaves_its_other_cells() {
    let text = "start;sport;duration_min;distance_km;avg_hr\n\
                2026-03-01T07:00:00Z;run;60,5;10.2;140\n\
                2026-03-02T07:00:00Z;run;61,5;10,3;fast\n";
    let reading = read_utc("log.csv", text);
    assert_eq!(
        problem_lines(&reading),
        [
            "log.csv:2 csv_mixed_decimals: `10.2` in the column `distance_km`",
            "log.csv:3 bad_number: `fast` in the column `avg_hr`",
            "log.csv:3 no_heart_rate: 2026-03-02T07:00:00Z running has no heart rate",
        ]
    );
    let runs = &reading.season.activities;
    assert_eq!(
        runs.iter().map(|run| run.measure(Measure::Duration)).collect::<Vec<_>>(),
        [Some(3_630.0), Some(3_690.0)]
    );
    assert_eq!(
        runs.iter().map(|run| run.measure(Measure::Distance)).collect::<Vec<_>>(),
        [None, Some(10_300.0)]
    );
}

/// Tests that line numbers count empty lines and line breaks within cells, as in an editor.
#[test]
fn problems_name_the_line_in_which_their_row_begins() {
    let text = "date,weight_kg,notes\r\n\r\n\r\n2026-03-01,heavy,\"one\ntwo\"\r\n2026-03-02,light,\n\n";
    let reading = read_one("d.csv", text.as_bytes());
    assert_eq!(
        problem_lines(&reading),
        [
            "d.csv:4 bad_number: `heavy` in the column `weight_kg`",
            "d.csv:6 bad_number: `light` in the column `weight_kg`",
        ]
    );
}

#[test]
fn one_day_has_one_value_or_none() {
    let reading =
        read_one("d.csv", b"date,weight_kg\n2026-03-01,70\n2026-03-01,70\n2026-03-02,70\n2026-03-02,71\n");
    assert_eq!(codes(&reading), [Code::DuplicateDay, Code::ConflictingDay]);
    let left: Vec<String> = reading.season.days.keys().map(ToString::to_string).collect();
    assert_eq!(left, ["2026-03-01"]);
}

/// Tests local times in a time zone. Zones are given as POSIX rules, because this crate has no time zone database.
#[test]
fn local_times_are_of_the_zone_that_is_named_on_both_sides_of_its_change() {
    let text = "start,sport,duration_min,avg_hr\n\
                2026-03-28 23:30,run,30,140\n\
                2026-03-29 23:30,run,30,140\n";
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let file = holdshort_coach::training::File { name: "log.csv", bytes: text.as_bytes() };
    let reading =
        holdshort_coach::training::read(&[file], &Options { zone: Some(zone), ..Options::default() });
    assert_eq!(codes(&reading), []);
    let found: Vec<_> =
        reading.season.activities.iter().map(|run| (run.start.to_string(), run.day().to_string())).collect();
    assert_eq!(
        found,
        [
            ("2026-03-28T22:30:00Z".to_owned(), "2026-03-28".to_owned()),
            ("2026-03-29T21:30:00Z".to_owned(), "2026-03-29".to_owned()),
        ]
    );
    let unnamed = read_one("log.csv", text.as_bytes());
    assert_eq!(codes(&unnamed), [Code::OffsetAssumed]);
}

/// Tests that local times that a clock change skipped or repeated are read in the most likely way, and reported.
#[test]
fn local_times_around_a_change_of_the_clock_are_told() {
    let text = "start,sport,duration_min,avg_hr\n\
                2026-03-29 01:59:59,run,30,140\n\
                2026-03-29 02:30,run,30,140\n\
                2026-03-29 03:00,walk,30,140\n\
                2026-10-25 02:30,run,30,140\n\
                2026-10-25T02:30:00+01:00,ride,30,140\n\
                2026-10-25 03:00,walk,30,140\n";
    let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    let file = holdshort_coach::training::File { name: "log.csv", bytes: text.as_bytes() };
    let reading =
        holdshort_coach::training::read(&[file], &Options { zone: Some(zone), ..Options::default() });
    let mut told: Vec<_> = reading.problems.iter().map(|it| (it.source.to_string(), it.code)).collect();
    told.retain(|(_, code)| *code != Code::OffsetChanged);
    assert_eq!(
        told,
        [("log.csv:3".to_owned(), Code::LocalTimeSkipped), ("log.csv:5".to_owned(), Code::LocalTimeTwice),]
    );
    let starts: Vec<_> = reading.season.activities.iter().map(|run| run.start.to_string()).collect();
    assert_eq!(
        starts,
        [
            "2026-03-29T00:59:59Z",
            "2026-03-29T01:00:00Z",
            "2026-03-29T01:30:00Z",
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:30:00Z",
            "2026-10-25T02:00:00Z",
        ]
    );
}

#[test]
fn a_start_that_is_none_and_an_activity_without_a_duration_are_told() {
    let text = "start,sport,duration_hms,avg_hr\n\
                2027-02-29T07:00:00Z,run,1:00:00,140\n\
                2026-03-01,run,1:00:00,140\n\
                2026-03-02T07:00:00Z,run,,140\n\
                2026-03-03T07:00:00Z,run,75:00,140\n\
                2026-03-04T07:00:00Z,run,1:75:00,140\n";
    let file = holdshort_coach::training::File { name: "a.csv", bytes: text.as_bytes() };
    let reading = holdshort_coach::training::read(
        &[file],
        &Options { zone: Some(TimeZone::UTC), ..Options::default() },
    );
    let told: Vec<_> =
        reading.problems.iter().map(|problem| (problem.source.to_string(), problem.code)).collect();
    let expected = [
        (2, Code::NoSuchDate),
        (3, Code::BadDate),
        (4, Code::NoDuration),
        (6, Code::BadNumber),
        (6, Code::NoDuration),
    ];
    assert_eq!(told, expected.map(|(line, code)| (format!("a.csv:{line}"), code)));
    assert_eq!(reading.season.activities[0].measure(Measure::Duration), Some(4_500.0));
}

/// Tests durations of two parts. `7:30` of sleep is hours, and `1:05` of an activity is ambiguous and rejected.
#[test]
fn times_of_two_parts_are_read_where_they_can_mean_one_thing() {
    for (cell, hours) in [("7:30", 7.5), ("7:30:00", 7.5), ("0:45", 0.75)] {
        let text = format!("date,sleep_hms\n2026-03-01,{cell}\n");
        assert_eq!(days(&text), [("2026-03-01".to_owned(), Measure::Sleep, hours)], "{cell}");
    }
    for (cell, told, seconds) in [
        ("1:05:00", &[][..], Some(3_900.0)),
        ("62:03", &[], Some(3_723.0)),
        ("1:05", &[Code::CsvAmbiguousTime, Code::NoDuration], None),
        ("23:59", &[Code::CsvAmbiguousTime, Code::NoDuration], None),
        ("7:75", &[Code::CsvAmbiguousTime, Code::NoDuration], None),
        ("61:75", &[Code::BadNumber, Code::NoDuration], None),
    ] {
        let text = format!("start,sport,duration_hms,avg_hr\n2026-03-01T07:00:00Z,run,{cell},140\n");
        let reading = crate::training::support::read_utc("a.csv", text);
        assert_eq!(codes(&reading), told, "{cell}");
        let read = reading.season.activities.first().and_then(|run| run.measure(Measure::Duration));
        assert_eq!(read, seconds, "{cell}");
    }
}

/// Tests that an impossible speed, such as 10 km in 65 s, is reported: either the distance or the time is wrong.
#[test]
fn a_distance_that_nobody_covers_in_its_time_is_told() {
    for (sport, seconds, taken) in [
        ("run", 65, false),
        ("run", 1_600, true),
        ("swim", 1_600, false),
        ("ride", 250, false),
        ("", 100, true),
    ] {
        let text = format!(
            "start,sport,duration_s,distance_m,avg_hr\n2026-03-01T07:00:00Z,{sport},{seconds},10000,140\n"
        );
        let reading = crate::training::support::read_utc("a.csv", text);
        assert_eq!(codes(&reading).contains(&Code::Implausible), !taken, "{sport} {seconds}");
        assert_eq!(reading.season.activities.len(), usize::from(taken), "{sport} {seconds}");
    }
}

fn read_with(text: impl AsRef<[u8]>, columns: &[(&str, &str)], units: Option<Units>) -> Reading {
    let columns = ColumnMap::new(columns.iter().copied()).unwrap();
    let file = File { name: "activities.csv", bytes: text.as_ref() };
    read(&[file], &Options { zone: Some(TimeZone::UTC), columns, units })
}

fn measures(activity: &Activity) -> Vec<(Measure, f64)> {
    activity.measures.iter().map(|(measure, known)| (*measure, known.value)).collect()
}

/// Tests a run from Garmin Connect with headers in six languages, decimal points and decimal commas.
#[test]
fn an_export_of_garmin_connect_is_read_in_each_language() {
    let point = "2026-03-01 07:30:00,false,\"Title, with comma\",\"10.02\",\"1,612\",\"01:02:03\",\"151\",\"172\",\"--\",\"251\",\"263\"";
    let comma = "2026-03-01 07:30:00,false,\"Title, with comma\",\"10,02\",\"1.612\",\"01:02:03\",\"151\",\"172\",\"--\",\"251\",\"263\"";
    for (header, sport, row) in [
        (
            "Activity Type,Date,Favorite,Title,Distance,Calories,Time,Avg HR,Max HR,Aerobic TE,Avg Power,\
             Normalized Power® (NP®)",
            "Running",
            point,
        ),
        (
            "Aktivitätstyp,Datum,Favorit,Titel,Distanz,Kalorien,Zeit,Ø HF,Max. HF,Aerober TE,Ø Leistung,\
             Normalized Power® (NP®)",
            "Laufen",
            point,
        ),
        (
            "Aktivitätstyp,Datum,Favorit,Titel,Distanz,Kalorien,Zeit,Ø Herzfrequenz,Maximale Herzfrequenz,\
             Aerober TE,Durchschnittliche Leistung,Normalized Power® (NP®)",
            "Traillauf",
            comma,
        ),
        (
            "Type d'activité,Date,Favori,Titre,Distance,Calories,Durée,Fréquence cardiaque moyenne,\
             Fréquence cardiaque maximale,TE aérobie,Puissance moyenne,Normalized Power® (NP®)",
            "Course à pied",
            comma,
        ),
        (
            "Tipo de actividad,Fecha,Favorito,Título,Distancia,Calorías,Tiempo,Frecuencia cardiaca media,FC máxima,\
             TE aeróbico,Potencia media,Normalized Power® (NP®)",
            "Carrera",
            comma,
        ),
        (
            "Tipo di attività,Data,Preferita,Titolo,Distanza,Calorie,Tempo,FC Media,FC max,TE attività aerobica,\
             Potenza media,Normalized Power® (NP®)",
            "Corsa",
            comma,
        ),
        (
            "Activiteittype,Datum,Favoriet,Titel,Afstand,Calorieën,Tijd,Gem. HS,Max. HS,Aeroob TE,Gem. vermogen,\
             Normalized Power® (NP®)",
            "Hardlopen",
            comma,
        ),
    ] {
        for text in [format!("{header}\n{sport},{row}\n"), format!("\u{feff}{header}\r\n{sport},{row}\r\n")] {
            let reading = read_with(&text, &[], Some(Units::Metric));
            assert_eq!(codes(&reading), [], "{header}: {:?}", reading.problems);
            let [run] = &reading.season.activities[..] else { panic!("{header}: one activity") };
            assert_eq!(run.id, "2026-03-01T07:30:00Z running", "{header}");
            let expected = [
                (Measure::Duration, 3_723.0),
                (Measure::Distance, 10_020.0),
                (Measure::HeartRateAverage, 151.0),
                (Measure::HeartRateMax, 172.0),
                (Measure::PowerAverage, 251.0),
                (Measure::PowerNormalised, 263.0),
            ];
            assert_eq!(measures(run), expected, "{header}");
        }
    }
}

/// Tests a ride from Strava in each language. The elapsed time and the distance occur twice, and the second distance is
/// in metres. The date is UTC.
#[test]
fn an_export_of_strava_is_read_in_each_language() {
    for (header, sport, date) in [
        (
            "Activity ID,Activity Date,Activity Name,Activity Type,Elapsed Time,Distance,Max Heart Rate,Filename,\
             Elapsed Time,Moving Time,Distance,Max Heart Rate,Average Heart Rate,Average Watts,\
             Weighted Average Power,Perceived Exertion",
            "Ride",
            "Mar 1, 2026, 2:12:12 PM",
        ),
        (
            "Aktivitäts-ID,Aktivitätsdatum,Name der Aktivität,Aktivitätsart,Verstrichene Zeit,Distanz,\
             Max. Herzfrequenz,Dateiname,Verstrichene Zeit,Bewegungszeit,Distanz,Max. Herzfrequenz,\
             Durchschnittliche Herzfrequenz,Durchschnittliche Watt,Gewichtete durchschnittliche Leistung,\
             Gefühlte Anstrengung",
            "Radfahrt",
            "01.03.2026, 14:12:12",
        ),
        (
            "ID de l'activité,Date de l'activité,Nom de l'activité,Type d'activité,Temps écoulé,Distance,\
             Fréquence cardiaque max.,Nom du fichier,Temps écoulé,Durée de déplacement,Distance,\
             Fréquence cardiaque max.,Fréquence cardiaque moyenne,Puissance moyenne,Puissance moyenne pondérée,\
             Effort perçu",
            "Vélo",
            "1 mars 2026 à 14:12:12",
        ),
        (
            "ID de actividad,Fecha de la actividad,Nombre de la actividad,Tipo de actividad,Tiempo transcurrido,\
             Distancia,Frecuencia cardiaca máxima,Nombre de archivo,Tiempo transcurrido,Tiempo en movimiento,\
             Distancia,Frecuencia cardiaca máxima,Frecuencia cardiaca media,Vatios promedio,\
             Potencia media ponderada,Esfuerzo percibido",
            "Bicicleta",
            "1 mar 2026, 2:12:12 p. m.",
        ),
        (
            "ID attività,Data dell'attività,Nome dell'attività,Tipo di attività,Tempo trascorso,Distanza,\
             Frequenza cardiaca massima,Nome del file,Tempo trascorso,Tempo in movimento,Distanza,\
             Frequenza cardiaca massima,Frequenza cardiaca media,Watt medi,Potenza media ponderata,Sforzo percepito",
            "Pedalata",
            "1 mar 2026, 14:12:12",
        ),
        (
            "Activiteits-ID,Datum van activiteit,Naam van activiteit,Activiteitstype,Verstreken tijd,Afstand,\
             Max. hartslag,Bestandsnaam,Verstreken tijd,Beweegtijd,Afstand,Max. hartslag,Gemiddelde hartslag,\
             Gemiddeld wattage,Gewogen gemiddeld vermogen,Ervaren inspanning",
            "Fietsrit",
            "1 mrt. 2026 14:12:12",
        ),
    ] {
        let row = format!(
            "123,\"{date}\",Tour,{sport},3700,\"24,5\",171,activities/123.fit.gz,3700.0,3600.0,24500.0,171.0,140.0,\
             200.0,212.5,7.0"
        );
        let reading = read_with(format!("{header}\n{row}\n"), &[], None);
        assert_eq!(codes(&reading), [], "{header}: {:?}", reading.problems);
        let [ride] = &reading.season.activities[..] else { panic!("{header}: one activity") };
        assert_eq!(ride.id, "2026-03-01T14:12:12Z cycling", "{header}");
        let expected = [
            (Measure::Duration, 3_600.0),
            (Measure::Distance, 24_500.0),
            (Measure::HeartRateAverage, 140.0),
            (Measure::HeartRateMax, 171.0),
            (Measure::PowerAverage, 200.0),
            (Measure::PowerNormalised, 212.5),
            (Measure::Exertion, 7.0),
        ];
        assert_eq!(measures(ride), expected, "{header}");
    }
    // Without a moving time, the elapsed time is used.
    let header = "Activity ID,Activity Date,Activity Type,Elapsed Time,Moving Time,Average Heart Rate";
    let reading =
        read_with(format!("{header}\n1,\"Mar 1, 2026, 6:00:00 AM\",Yoga,1800.0,0.0,90.0\n"), &[], None);
    assert_eq!(reading.season.activities[0].measure(Measure::Duration), Some(1_800.0));
    assert_eq!(reading.season.activities[0].start.to_string(), "2026-03-01T06:00:00Z");
}

const GARMIN: &str = "Activity Type,Date,Favorite,Title,Distance,Time,Avg HR";

/// Tests that the distances of an export of Garmin Connect, which states no unit, are left out if the person states
/// none.
#[test]
fn a_distance_without_a_unit_is_not_guessed() {
    let rows = "Running,2026-03-01 07:30:00,false,Run,\"10.00\",\"01:00:00\",150\n\
                Pool Swim,2026-03-02 07:30:00,false,Swim,\"1,500\",\"00:40:00\",130\n\
                Strength Training,2026-03-03 07:30:00,false,Gym,\"0.00\",\"00:50:00\",110\n";
    for (units, expected, told) in [
        (Some(Units::Metric), [Some(10_000.0), Some(1_500.0), None], &[][..]),
        (Some(Units::Statute), [Some(16_093.44), Some(1_371.6), None], &[]),
        (
            None,
            [None, None, None],
            &["activities.csv:1 csv_no_unit: the export does not state the unit of `Distance`"],
        ),
    ] {
        let reading = read_with(format!("{GARMIN}\n{rows}"), &[], units);
        assert_eq!(problem_lines(&reading), told);
        let found: Vec<_> =
            reading.season.activities.iter().map(|each| each.measure(Measure::Distance)).collect();
        assert_eq!(found, expected, "{units:?}");
    }
}

/// Tests headers that only look like an export, and an export in an unknown language.
#[test]
fn a_table_that_is_nearly_an_export_is_refused_by_name() {
    for header in [
        "Activity Type,Date,Favorite,Distance,Time,Avg HR",
        "Aktivitetstype,Dato,Favorit,Titel,Distance,Tid,Gns. puls",
        "Activity ID,Activity Name,Activity Type,Elapsed Time",
    ] {
        let reading = read_with(format!("{header}\n"), &[], None);
        let refused =
            codes(&reading).into_iter().filter(|code| *code == Code::CsvHeader || *code == Code::CsvUnit);
        assert_eq!(refused.count(), 1, "{header}: {:?}", reading.problems);
        assert!(Code::CsvHeader.what_to_do().contains("--columns"));
    }
}

/// Tests tables as spreadsheets write them: with the line `sep=`, in UTF-16 with and without a mark, and in
/// Windows-1252.
#[test]
fn a_table_is_read_as_a_spreadsheet_writes_it() {
    let text = "Beginn;Sportart;Dauer;Ø Puls\r\n2026-03-01 07:30;Skilanglauf;62,5;151\r\n";
    let columns =
        [("start", "Beginn"), ("sport", "sportart"), ("duration_min", "Dauer"), ("avg_hr", "Ø Puls")];
    let utf16 = |little: bool, mark: &str, text: &str| -> Vec<u8> {
        let units: Vec<u16> = mark.encode_utf16().chain(text.encode_utf16()).collect();
        units
            .into_iter()
            .flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() })
            .collect()
    };
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    for (what, bytes, told, line) in [
        ("UTF-8", text.as_bytes().to_vec(), &[][..], 2),
        ("sep=", format!("sep=;\r\n{text}").into_bytes(), &[], 3),
        ("quoted sep=", format!("\"sep=;\"\n{text}").into_bytes(), &[], 3),
        ("UTF-16", utf16(true, "\u{feff}", text), &[], 2),
        ("big-endian UTF-16", utf16(false, "\u{feff}", text), &[], 2),
        ("UTF-16 without a mark", utf16(true, "", text), &[], 2),
        ("tabs in UTF-16", utf16(true, "\u{feff}", &text.replace(';', "\t")), &[], 2),
        ("Latin-1", latin, &[Code::CsvEncoding], 2),
    ] {
        let reading = read_with(bytes, &columns, None);
        assert_eq!(codes(&reading), told, "{what}: {:?}", reading.problems);
        let [activity] = &reading.season.activities[..] else { panic!("{what}: one activity") };
        let seconds = &activity.measures[&Measure::Duration];
        assert_eq!(
            (seconds.value, seconds.source.to_string()),
            (3_750.0, format!("activities.csv:{line}")),
            "{what}"
        );
        assert_eq!(
            (activity.sport.name(), activity.measure(Measure::HeartRateAverage)),
            ("skiing", Some(151.0))
        );
    }
    // Half a character, and a file that is no text.
    for bytes in [&b"\xff\xfed\0a"[..], b"\xffdate\x00"] {
        assert_eq!(codes(&read_with(bytes, &[], None)), [Code::NotUtf8], "{bytes:?}");
    }
}

/// Tests that ambiguous cells such as `1.800` and `12.345`, in which each mark may separate thousands, are left out and
/// reported by column.
#[test]
fn a_decimal_mark_without_evidence_is_not_guessed() {
    let header = "start;sport;duration_s;distance_m;avg_hr\n";
    let row = "2026-03-01T07:30:00Z;run;1.800;12.345;150\n";
    let reading = read_with(format!("{header}{row}"), &[], None);
    assert_eq!(
        problem_lines(&reading),
        [
            "activities.csv:2 csv_unsure_decimal: `1.800` in the column `duration_s`",
            "activities.csv:2 csv_unsure_decimal: `12.345` in the column `distance_m`",
            "activities.csv:2 no_duration: 2026-03-01T07:30:00Z running has no duration",
        ]
    );
    // Another row is evidence, and so is the mark that the person states.
    let evidence = "2026-03-02T07:30:00Z;run;1800,5;6000;150\n";
    let reading = read_with(format!("{header}{row}{evidence}"), &[], None);
    assert_eq!(
        codes(&reading),
        [Code::CsvMixedDecimals, Code::CsvMixedDecimals, Code::NoDuration],
        "{:?}",
        reading.problems
    );
    let stated = |decimal: &str, row: &str| {
        let reading = read_with(format!("{header}{row}"), &[("decimal", decimal)], None);
        let seconds = reading.season.activities.first().and_then(|run| run.measure(Measure::Duration));
        (codes(&reading), seconds)
    };
    let long = row.replace("1.800", "1800.125").replace("12.345", "6000");
    assert_eq!(stated(".", &row.replace("12.345", "4.345")), (vec![], Some(1.8)));
    // Then the other mark separates thousands: 1800 s.
    assert_eq!(stated(",", row), (vec![], Some(1_800.0)));
    // The statement does not overrule evidence. A group of thousands never begins with a zero, so that the mark of
    // `0,125` is the decimal mark: an eighth of a second is no plausible duration.
    let zero = row.replace("1.800", "0,125").replace("12.345", "6000");
    assert_eq!(stated(".", &zero), (vec![Code::Implausible, Code::NoDuration], None));
    assert_eq!(stated(",", &long), (vec![], Some(1_800.125)));
    for (cell, read) in
        [("0.125", true), ("1234.567", true), ("12.5", true), ("12.345", false), ("1,234", false)]
    {
        let reading = read_with(format!("date;hrv_ms\n2026-03-01;{cell}\n"), &[], None);
        let unsure = codes(&reading).contains(&Code::CsvUnsureDecimal);
        assert_eq!(unsure, !read, "{cell}: {:?}", reading.problems);
    }
}

/// Tests that a mapping tells which column is which, and that other columns are not read.
#[test]
fn a_mapping_reads_any_table() {
    let days = "Tag;Ruhepuls;Gewicht;Laune\n01.03.2026;47;70,5;gut\n2. März 2026;48;--;\n2026-03-03;;71,0;\n";
    let map = [("date", "Tag"), ("resting_hr", "Ruhepuls"), ("weight_kg", "gewicht")];
    let reading = read_with(days, &map, None);
    assert_eq!(codes(&reading), [], "{:?}", reading.problems);
    let found: Vec<_> = reading
        .season
        .days
        .iter()
        .map(|(date, day)| {
            (date.to_string(), day.measure(Measure::RestingHeartRate), day.measure(Measure::Weight))
        })
        .collect();
    assert_eq!(
        found,
        [
            ("2026-03-01".to_owned(), Some(47.0), Some(70.5)),
            ("2026-03-02".to_owned(), Some(48.0), None),
            ("2026-03-03".to_owned(), None, Some(71.0)),
        ]
    );
    let slashes = "Day,Weight\n3/4/2026,70.5\n";
    let map = |dates: Option<&'static str>| {
        let dates = dates.map(|order| ("dates", order));
        [("date", "Day"), ("weight_kg", "Weight")].into_iter().chain(dates).collect::<Vec<_>>()
    };
    for (dates, day) in [(None, None), (Some("mdy"), Some("2026-03-04")), (Some("dmy"), Some("2026-04-03"))] {
        let reading = read_with(slashes, &map(dates), None);
        assert_eq!(reading.season.days.keys().next().map(ToString::to_string).as_deref(), day, "{dates:?}");
        assert_eq!(codes(&reading).contains(&Code::BadDate), day.is_none(), "{dates:?}");
    }
    // A year of four digits comes first, whatever the stated order is. An offset is no number of seconds.
    for (start, at) in [
        ("2026-03-01 10:00", "2026-03-01T10:00:00Z"),
        ("2026-03-01 10:00:07", "2026-03-01T10:00:07Z"),
        ("2026-03-01T10:00:00+02:00", "2026-03-01T08:00:00Z"),
    ] {
        let table = format!("Begin,Seconds\n{start},1800\n");
        let map = [("start", "Begin"), ("duration_s", "Seconds"), ("dates", "dmy")];
        let reading = read_with(&table, &map, None);
        assert_eq!(reading.season.activities[0].start.to_string(), at, "{start}");
    }
    let offset = read_with(
        "Begin,Seconds\n2026-03-01 10:00+02,1800\n",
        &[("start", "Begin"), ("duration_s", "Seconds")],
        None,
    );
    let read: Vec<_> = offset.season.activities.iter().map(|activity| activity.start.to_string()).collect();
    assert!(read.iter().all(|start| start == "2026-03-01T08:00:00Z"), "{read:?} {:?}", codes(&offset));
    // A table without the columns of the mapping is read by its own headers. A refusal names the missing column.
    let own = read_with("date,weight_kg\n2026-03-01,70\n", &map(None), None);
    assert_eq!((codes(&own), own.season.days.len()), (vec![], 1));
    let typo = read_with("Day;Wieght\n2026-03-01;70\n", &map(None), None);
    let refused = problem_lines(&typo).into_iter().find(|line| line.contains("csv_header")).unwrap();
    assert!(
        refused.ends_with(
            "neither `date` nor `start`; `--columns` names `Weight`, which is not a column of this table"
        ),
        "{refused}"
    );
    // Two columns with the same header are not one.
    let twice = read_with("Day,Weight,Weight\n2026-03-01,70,71\n", &map(None), None);
    assert_eq!(codes(&twice), [Code::CsvColumnTwice]);
}

#[test]
fn a_wrong_mapping_is_refused_by_name() {
    for (pairs, told) in [
        (&[("start", "Beginn"), ("puls", "Puls")][..], "`puls`, which is not a known column name"),
        (
            &[("start", "Beginn"), ("distance", "Strecke")],
            "`distance` without a known unit: write one of distance_m, distance_km",
        ),
        (&[("duration_min", "Dauer")], "names neither `date` nor `start`"),
        (&[("start", "Beginn"), ("date", "Tag")], "names both `date` and `start`"),
        (&[("start", "Beginn"), ("avg_hr", "")], "no header for `avg_hr`: write avg_hr=HEADER"),
        (&[("start", "Beginn"), ("avg_hr", "beginn")], "an earlier entry has the same header or measure"),
        (
            &[("start", "A"), ("duration_s", "B"), ("duration_hms", "C")],
            "an earlier entry has the same header",
        ),
        (&[("decimal", ";")], "sets `decimal` to `;`: write `decimal=,` or `decimal=.`"),
        (
            &[("dates", "us")],
            "sets `dates` to `us`: write the order of day, month and year as `dmy`, `mdy` or `ymd`",
        ),
    ] {
        let why = ColumnMap::new(pairs.iter().copied()).unwrap_err();
        assert!(why.starts_with("`columns` ") && why.contains(told), "{pairs:?}: {why}");
    }
}

/// Tests that exports of both programs are known in six languages.
#[test]
fn every_export_has_its_headers() {
    let programs: Vec<&str> = csv_exports().into_iter().map(|(program, _)| program).collect();
    assert_eq!(programs, [["Garmin Connect"; 6], ["Strava"; 6]].concat());
}
