//! Cases generated from a seed: amounts near every threshold, names similar to watch list entries, several table
//! formats.

use std::fmt::Write as _;

pub(crate) struct Generated {
    pub transactions: String,
    pub customers: String,
    pub watched: String,
}

struct Draw(u64);

impl Draw {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let at = self.below(words.len() as u64);
        words[usize::try_from(at).unwrap()]
    }
}

const NAMES: [&str; 17] = [
    "Ash Hawthorn",
    "Hawthorn Ashe",
    "Viorel Gențiană",
    "Gentian Viorel",
    "Nightshade Holdings",
    "Nightshade Holding",
    "Linde Weißdorn",
    "Linden Weissdorn",
    "Fern Pharmacy",
    "Pharmacy of Ferns",
    "Aster Bramble",
    "Aster Brambles",
    "Виорел Джентиана",
    "محمود الزيتوني",
    "Mahmud al-Zaituni",
    "ООО Ромашка",
    "Romashka LLC",
];
const AMOUNTS: [&str; 14] = [
    "9999.99", "10000.00", "2000.00", "1999.99", "3333.34", "5000.00", "1000.00", "4000.00", "12.30",
    "7000.00", "6000.00", "250.75", "11111.11", "3000.00",
];
const KINDS: [&str; 9] =
    ["cash", "cash", "cash", "transfer", "transfer", "card", "crypto", "hawala", "other"];

impl Generated {
    pub(crate) fn from_seed(seed: u64) -> Self {
        let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1);
        let count = 2 + draw.below(6);
        let mut customers = String::from("id,name,birth_date,country,pep\n");
        for number in 0..count {
            let name = draw.pick(&NAMES);
            let born = draw.pick(&["", "1971-04-02", "1980-01-01"]);
            let pep = draw.pick(&["no", "no", "no", "yes"]);
            let _ = writeln!(customers, "C{number},{name},{born},DE,{pep}");
        }
        let mut watched = String::from("id,name,aliases,birth_date,list\n");
        for number in 0..draw.below(5) {
            let (name, alias) = (draw.pick(&NAMES), draw.pick(&["", "Atropa|Belladonna", "Fern Pharmacie"]));
            let (born, list) = (draw.pick(&["", "1971-04-02"]), draw.pick(&["sanctions", "pep"]));
            let _ = writeln!(watched, "W{number},{name},{alias},{born},{list}");
        }
        // Every second table is written with decimal commas.
        let is_continental = seed % 2 == 1;
        let mut transactions =
            String::from("id,time,customer,direction,kind,amount,currency,counterparty,country\n");
        for number in 0..draw.below(160) {
            let (day, hour, minute) = (1 + draw.below(28), draw.below(24), draw.pick(&["00", "30"]));
            let direction = draw.pick(&["in", "out"]);
            let (kind, amount) = (draw.pick(&KINDS), draw.pick(&AMOUNTS));
            let currency = draw.pick(&["EUR", "EUR", "EUR", "USD", "JPY", "GBP"]);
            let (other, country) = (
                draw.pick(&["", "Meadow", NAMES[4], NAMES[5], NAMES[2], NAMES[15]]),
                draw.pick(&["DE", "FR", "IR", "US"]),
            );
            let customer = draw.below(count);
            let _ = writeln!(
                transactions,
                "T{number},2026-03-{day:02}T{hour:02}:{minute}:00Z,C{customer},{direction},{kind},{amount},{currency},{other},{country}"
            );
        }
        if is_continental {
            transactions = continental(&transactions);
        }
        Self { transactions, customers, watched }
    }
}

/// Rewrites a table of a case with `;` between columns, a decimal comma and thousands separators.
fn continental(table: &str) -> String {
    let mut lines = table.lines();
    let mut out = format!("\u{feff}{}\r\n", lines.next().unwrap_or_default().replace(',', ";"));
    for line in lines {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        let (whole, decimals) = cells[5].split_once('.').unwrap();
        let (thousands, rest) = whole.split_at(whole.len().saturating_sub(3));
        let whole = if thousands.is_empty() { whole.to_owned() } else { format!("{thousands}.{rest}") };
        cells[5] = format!("{whole},{decimals}");
        let _ = write!(out, "{}\r\n", cells.join(";"));
    }
    out
}
