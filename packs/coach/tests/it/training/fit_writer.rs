//! Writes FIT files for tests: definitions and data messages as bytes, with header and CRC.

/// Numbers of the base types in the FIT protocol.
pub(crate) const ENUM: u8 = 0x00;
pub(crate) const U8: u8 = 0x02;
pub(crate) const TEXT: u8 = 0x07;
pub(crate) const U16: u8 = 0x84;
pub(crate) const U32: u8 = 0x86;

/// Time 0 of FIT files in seconds since 1970: 1989-12-31T00:00:00Z.
pub(crate) const EPOCH: i64 = 631_065_600;

#[derive(Default)]
pub(crate) struct FitWriter {
    pub(crate) data: Vec<u8>,
}

impl FitWriter {
    /// Writes a definition message of a FIT file. Each field has its number, size and base type.
    pub(crate) fn define(&mut self, local: u8, number: u16, fields: &[(u8, u8, u8)]) -> &mut Self {
        self.data.extend([0x40 | local, 0, 0]);
        self.data.extend(number.to_le_bytes());
        self.data.push(u8::try_from(fields.len()).unwrap());
        self.data.extend(fields.iter().flat_map(|(number, size, base)| [*number, *size, *base]));
        self
    }

    /// Writes a definition message of a FIT file that also has developer fields, each with number, size and developer
    /// index.
    pub(crate) fn define_with_apps(
        &mut self,
        local: u8,
        number: u16,
        fields: &[(u8, u8, u8)],
        apps: &[(u8, u8, u8)],
    ) -> &mut Self {
        let header = self.data.len();
        self.define(local, number, fields);
        self.data[header] |= 0x20;
        self.data.push(u8::try_from(apps.len()).unwrap());
        self.data.extend(apps.iter().flat_map(|(number, size, index)| [*number, *size, *index]));
        self
    }

    pub(crate) fn message(&mut self, local: u8, fields: &[&[u8]]) -> &mut Self {
        self.data.push(local);
        self.data.extend(fields.concat());
        self
    }

    /// Returns the written FIT file with its header and CRC.
    pub(crate) fn finish(&self) -> Vec<u8> {
        let mut file = vec![14, 0x20, 0x54, 0x08];
        file.extend(u32::try_from(self.data.len()).unwrap().to_le_bytes());
        file.extend(*b".FIT");
        file.extend(crc(&file).to_le_bytes());
        file.extend(&self.data);
        file.extend(crc(&file).to_le_bytes());
        file
    }

    /// Begins a FIT file with the message `file_id` of an activity, which Python's readers require.
    pub(crate) fn activity_file() -> Self {
        let mut writer = Self::default();
        writer.define(0, 0, &[(0, 1, ENUM), (1, 2, U16)]).message(0, &[&[4], &1_u16.to_le_bytes()]);
        writer
    }
}

/// Converts seconds since 1970 to a time of a FIT file.
pub(crate) fn time(seconds: i64) -> [u8; 4] {
    u32::try_from(seconds - EPOCH).unwrap().to_le_bytes()
}

/// Computes the CRC-16/ARC of a FIT file bit by bit.
fn crc(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0_u16, |crc, byte| {
        (0..8)
            .fold(crc ^ u16::from(*byte), |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xA001 } else { crc >> 1 })
    })
}

/// Writes a FIT file of a run: one session, one record per second, local time two hours ahead of UTC.
pub(crate) fn run(start: i64, rates: &[u8]) -> FitWriter {
    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(253, 4, U32), (3, 1, U8), (5, 4, U32), (6, 2, U16)]);
    for (second, bpm) in (0_u32..).zip(rates) {
        let at = time(start + i64::from(second));
        writer.message(1, &[&at, &[*bpm], &(second * 300).to_le_bytes(), &3_000_u16.to_le_bytes()]);
    }
    let seconds = u32::try_from(rates.len()).unwrap();
    finish_run(&mut writer, start, seconds, 1);
    writer
}

/// Writes the session and the activity of a run into a FIT file.
pub(crate) fn finish_run(writer: &mut FitWriter, start: i64, seconds: u32, sport: u8) {
    let end = start + i64::from(seconds);
    let session = [(253, 4, U32), (2, 4, U32), (5, 1, ENUM), (7, 4, U32), (8, 4, U32), (9, 4, U32)];
    writer.define(2, 18, &session).message(
        2,
        &[
            &time(end),
            &time(start),
            &[sport],
            &(seconds * 1_000).to_le_bytes(),
            &(seconds * 1_000).to_le_bytes(),
            &(seconds * 300).to_le_bytes(),
        ],
    );
    writer.define(3, 34, &[(253, 4, U32), (5, 4, U32)]).message(3, &[&time(end), &time(end + 7_200)]);
}

/// Value of the FIT field `event_type` with which the timer starts.
pub(crate) const TIMER_STARTS: u8 = 0;
pub(crate) const TIMER_STOPS: u8 = 4;

impl FitWriter {
    pub(crate) fn timer(&mut self, at: i64, kind: u8) -> &mut Self {
        self.define(5, 21, &[(253, 4, U32), (0, 1, ENUM), (1, 1, ENUM)])
            .message(5, &[&time(at), &[0], &[kind]])
    }

    /// Writes a session of a FIT file with its elapsed and its timer time, and its sport and sub-sport.
    pub(crate) fn session(&mut self, start: i64, elapsed: u32, timer: u32, sports: [u8; 2]) -> &mut Self {
        let fields = [(253, 4, U32), (2, 4, U32), (5, 1, ENUM), (6, 1, ENUM), (7, 4, U32), (8, 4, U32)];
        let end = time(start + i64::from(elapsed));
        let [sport, sub_sport] = sports;
        self.define(6, 18, &fields).message(
            6,
            &[
                &end,
                &time(start),
                &[sport],
                &[sub_sport],
                &(elapsed * 1_000).to_le_bytes(),
                &(timer * 1_000).to_le_bytes(),
            ],
        )
    }
}

/// Writes a FIT file with an hour of running time at one heart rate, with a pause of 24 s after each minute. The device
/// records no samples in a pause.
pub(crate) fn hour_with_pauses(start: i64, bpm: u8, with_events: bool) -> FitWriter {
    let mut writer = FitWriter::activity_file();
    writer.define(1, 20, &[(253, 4, U32), (3, 1, U8)]);
    for minute in 0..60 {
        let begins = start + minute * 84;
        if with_events {
            writer.timer(begins, TIMER_STARTS);
        }
        for second in 0..=60 {
            writer.message(1, &[&time(begins + second), &[bpm]]);
        }
        if with_events {
            writer.timer(begins + 60, TIMER_STOPS);
        }
    }
    writer.session(start, 60 * 84 - 24, 3_600, [1, 0]);
    writer
}
