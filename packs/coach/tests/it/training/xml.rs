//! GPX and TCX files.

use holdshort_coach::training::{Code, File, Measure, OffsetFrom, Options, Sport, read};
use jiff::tz::TimeZone;

use crate::training::support::{codes, problem_lines, read_utc};

/// Four points on a meridian, ten seconds and 0.0001° apart, with a pause between the second and the third.
const GPX: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1"
  xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v1">
 <metadata><time>2026-03-01T06:00:00Z</time></metadata>
 <trk><name>Tom &amp; Jerry</name><type>running</type><trkseg>
  <trkpt lat="50.0000" lon="8.0"><ele>100</ele><time>2026-03-01T06:30:00Z</time>
   <extensions><gpxtpx:TrackPointExtension><gpxtpx:hr>140</gpxtpx:hr></gpxtpx:TrackPointExtension></extensions></trkpt>
  <trkpt lat="50.0001" lon="8.0"><time>2026-03-01T06:30:10Z</time>
   <extensions><power>210</power><gpxtpx:TrackPointExtension><gpxtpx:hr>150</gpxtpx:hr></gpxtpx:TrackPointExtension></extensions></trkpt>
 </trkseg><trkseg>
  <trkpt lat="50.0101" lon="8.0"><time>2026-03-01T06:40:10Z</time></trkpt>
  <trkpt lat="50.0102" lon="8.0"><time>2026-03-01T06:40:20Z</time></trkpt>
 </trkseg></trk></gpx>"#;

const TCX: &str = r#"<?xml version="1.0"?>
<TrainingCenterDatabase xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2"><Activities>
 <Activity Sport="Biking"><Id>2026-03-01T06:30:00.000Z</Id>
  <Lap StartTime="2026-03-01T06:30:00Z"><TotalTimeSeconds>60</TotalTimeSeconds><DistanceMeters>500</DistanceMeters>
   <AverageHeartRateBpm><Value>140</Value></AverageHeartRateBpm><MaximumHeartRateBpm><Value>150</Value></MaximumHeartRateBpm>
   <Track><Trackpoint><Time>2026-03-01T06:30:00Z</Time><DistanceMeters>0</DistanceMeters>
    <HeartRateBpm><Value>130</Value></HeartRateBpm>
    <Extensions><ns3:TPX xmlns:ns3="x"><ns3:Speed>8.5</ns3:Speed><ns3:Watts>200</ns3:Watts></ns3:TPX></Extensions>
   </Trackpoint></Track></Lap>
  <Lap StartTime="2026-03-01T06:31:00Z"><TotalTimeSeconds>180</TotalTimeSeconds><DistanceMeters>1500</DistanceMeters>
   <AverageHeartRateBpm><Value>160</Value></AverageHeartRateBpm><MaximumHeartRateBpm><Value>171</Value></MaximumHeartRateBpm>
   <Track><Trackpoint><Time>2026-03-01T06:31:00Z</Time></Trackpoint></Track></Lap>
 </Activity></Activities></TrainingCenterDatabase>"#;

#[test]
fn a_track_is_an_activity() {
    let reading = read_utc("a.gpx", GPX);
    // The heart rate of the second point ends with the pause, so the samples cover half of the 20 seconds.
    assert_eq!(codes(&reading), [Code::NoHeartRate]);
    let [run] = &reading.season.activities[..] else { panic!("one activity") };
    assert_eq!((run.id.as_str(), run.sport.clone()), ("2026-03-01T06:30:00Z running", Sport::Running));
    // The running time excludes the pause, and the distance excludes the gap between the segments.
    assert_eq!(run.measure(Measure::Duration), Some(20.0));
    // On a great circle with a radius of 6371.0088 km, 0.0001° is 11.1195 m.
    let metres = run.measure(Measure::Distance).unwrap();
    assert!((metres - 2.0 * 11.119_508).abs() < 1e-3, "{metres}");
    assert_eq!(run.measure(Measure::HeartRateMax), Some(150.0));
    let seen: Vec<_> =
        run.samples.iter().map(|sample| (sample.at_s, sample.heart_rate, sample.power)).collect();
    assert_eq!(
        seen,
        [
            (0.0, Some(140.0), None),
            (10.0, Some(150.0), Some(210.0)),
            (610.0, None, None),
            (620.0, None, None)
        ]
    );
}

#[test]
fn laps_are_added_up() {
    let reading = read_utc("a.tcx", TCX);
    assert_eq!(codes(&reading), []);
    let [ride] = &reading.season.activities[..] else { panic!("one activity") };
    assert_eq!((ride.id.as_str(), ride.sport.clone()), ("2026-03-01T06:30:00Z cycling", Sport::Cycling));
    let measures: Vec<_> = ride.measures.iter().map(|(measure, known)| (*measure, known.value)).collect();
    assert_eq!(
        measures,
        [
            (Measure::Duration, 240.0),
            (Measure::Distance, 2_000.0),
            // Mean of the laps, weighted by their duration.
            (Measure::HeartRateAverage, 155.0),
            (Measure::HeartRateMax, 171.0),
            // A single point of 200 W gives no average for four minutes.
        ]
    );
    let first = ride.samples[0];
    assert_eq!((first.heart_rate, first.speed, first.power), (Some(130.0), Some(8.5), Some(200.0)));
}

#[test]
fn a_file_that_ends_too_early_counts_as_far_as_it_goes() {
    for (name, text) in [("a.gpx", GPX), ("a.tcx", TCX)] {
        let cut = &text[..text.find("06:40:20").or(text.find("06:31:00Z</Time>")).unwrap()];
        let reading = read_utc(name, cut);
        assert!(codes(&reading).contains(&Code::XmlTruncated), "{name}: {:?}", reading.problems);
        assert_eq!(reading.season.activities.len(), 1, "{name}");
    }
}

#[test]
fn what_is_no_such_file_is_refused_and_a_route_is_told() {
    for (name, text, expected) in [
        ("a.gpx", "", &[Code::XmlSyntax][..]),
        ("a.gpx", "no XML at all", &[Code::XmlSyntax]),
        ("a.gpx", "<gpx><trk></gpx>", &[Code::XmlSyntax]),
        ("a.gpx", "<gpx><trk><name>&bomb;</name></trk></gpx>", &[Code::XmlSyntax]),
        ("a.gpx", "<gpx><rte><rtept lat=\"1\" lon=\"2\"/></rte></gpx>", &[Code::NoActivity]),
        (
            "a.gpx",
            "<gpx><trk><trkseg><trkpt lat=\"1\" lon=\"2\"/></trkseg></trk></gpx>",
            &[Code::NoActivity, Code::NoTime],
        ),
        ("a.tcx", "<TrainingCenterDatabase/>", &[Code::NoActivity]),
    ] {
        assert_eq!(codes(&read_utc(name, text)), expected, "{text}");
    }
    let deep = format!("<gpx>{}", "<a>".repeat(100_000));
    assert_eq!(codes(&read_utc("a.gpx", &deep)), [Code::TooNested]);
}

#[test]
fn a_time_that_is_none_is_told_with_its_line() {
    let reading = read_utc("a.gpx", GPX.replace("2026-03-01T06:40:10Z", "yesterday"));
    assert_eq!(
        problem_lines(&reading),
        [
            // The distance includes the gap between the two tracks, but the duration is only the ten seconds of the
            // first track.
            "a.gpx:5 implausible: 1134 m in 10 s are 113.4 m/s; for running at most 12 are accepted",
            "a.gpx:5 no_time: points without a time: 1 of 4",
            "a.gpx:11 bad_date: `yesterday` is not a time",
        ]
    );
}

/// Tests that quoted text of a file has no escape sequences and a limited length, because people see it in terminals.
#[test]
fn what_is_quoted_of_a_file_has_no_escapes_and_an_end() {
    let hostile = "\u{1b}]0;owned\u{7}\u{9b}31m\r".to_owned() + &"x".repeat(10_000);
    let track = GPX.replace("running", &hostile).replace("2026-03-01T06:40:10Z", &hostile);
    let reading = read_utc("a.gpx", &track);
    let table = format!("start,sport,duration_s,{hostile}\n2026-03-01T06:30:00Z,\"{hostile}\",60,\n");
    let also = read_utc("a.csv", &table);
    for reading in [reading, also] {
        assert!(!reading.problems.is_empty());
        for text in reading
            .problems
            .iter()
            .map(|problem| &problem.message)
            .chain(reading.season.activities.iter().map(|activity| &activity.id))
        {
            assert!(text.chars().count() <= 300 && !text.contains(char::is_control), "{text:?}");
        }
    }
}

/// Tests times that programs write as local time, without a zone or with an offset. The day is that of the local time.
#[test]
fn times_without_a_zone_are_local() {
    let berlin = || TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
    for (name, text) in [("a.gpx", GPX), ("a.tcx", TCX)] {
        let at = |zone: Option<TimeZone>, suffix: &str| {
            let text = text
                .replace(".000Z", "Z")
                .replace("Z<", &format!("{suffix}<"))
                .replace("Z\"", &format!("{suffix}\""));
            let options = Options { zone, ..Options::default() };
            let reading = read(&[File { name, bytes: text.as_bytes() }], &options);
            let [activity] = &reading.season.activities[..] else {
                panic!("{name} {suffix}: {:?}", reading.problems)
            };
            let seconds = activity.samples.last().unwrap().at_s;
            let mut codes = codes(&reading);
            codes.retain(|code| *code != Code::NoHeartRate);
            (codes, activity.start.to_string(), activity.offset.seconds(), activity.offset_from, seconds)
        };
        let (_, _, _, _, seconds) = at(None, "Z");
        let local = (vec![], "2026-03-01T05:30:00Z".to_owned(), 3_600, OffsetFrom::LocalTime, seconds);
        assert_eq!(at(Some(berlin()), ""), local, "{name}");
        let stated = (vec![], "2026-03-01T04:30:00Z".to_owned(), 7_200, OffsetFrom::File, seconds);
        assert_eq!(at(Some(berlin()), "+02:00"), stated, "{name}");
        let assumed =
            (vec![Code::OffsetAssumed], "2026-03-01T06:30:00Z".to_owned(), 0, OffsetFrom::LocalTime, seconds);
        assert_eq!(at(None, ""), assumed, "{name}");
    }
    // The points state UTC, although the `Id` does not.
    let mixed = TCX.replace("<Id>2026-03-01T06:30:00.000Z<", "<Id>2026-03-01T07:30:00<");
    let mixed =
        mixed.replace("<Lap StartTime=\"2026-03-01T06:30:00Z\">", "<Lap StartTime=\"2026-03-01T07:30:00\">");
    let options = Options { zone: Some(TimeZone::fixed(jiff::tz::offset(-5))), ..Options::default() };
    let reading = read(&[File { name: "a.tcx", bytes: mixed.as_bytes() }], &options);
    assert_eq!(reading.season.activities[0].start.to_string(), "2026-03-01T06:30:00Z");
    // A start that the clock showed twice is reported.
    let twice = GPX
        .replace("2026-03-01T06:3", "2026-10-25T02:3")
        .replace("2026-03-01T06:4", "2026-10-25T02:4")
        .replace("Z<", "<");
    let options = Options { zone: Some(berlin()), ..Options::default() };
    let reading = read(&[File { name: "a.gpx", bytes: twice.as_bytes() }], &options);
    assert!(codes(&reading).contains(&Code::LocalTimeTwice), "{:?}", reading.problems);
}
