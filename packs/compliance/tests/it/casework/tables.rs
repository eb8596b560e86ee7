//! Valid values of tables, and invalid cells that are reported with line and column.

use std::fmt::Write as _;

use holdshort_compliance::casework::{Direction, Problems, limits, read};

use crate::casework::support::{AS_OF, CUSTOMERS, HEADER, NOBODY, case, codes, rules};

fn refused(rows: &str) -> Vec<String> {
    codes(&case(rows, CUSTOMERS, NOBODY).unwrap_err())
}

fn read_text(transactions: &str) -> Result<holdshort_compliance::casework::Case, Problems> {
    read(transactions.as_bytes(), CUSTOMERS.as_bytes(), NOBODY.as_bytes(), &rules(), AS_OF)
}

const ROW: &str = "T1,2026-03-01,C1,in,cash,1234.50,EUR,Meadow,DE";

#[test]
fn every_bad_cell_has_its_line_its_column_and_its_code() {
    let wrong = [
        (ROW.replace("2026-03-01", "2026-02-30"), "2 time bad_date"),
        (ROW.replace("2026-03-01", "01.03.2026"), "2 time bad_date"),
        (ROW.replace("2026-03-01", "2026-03-01T25:00:00Z"), "2 time bad_date"),
        (ROW.replace("2026-03-01", "2026-03-01T10:00é00"), "2 time bad_date"),
        (ROW.replace("2026-03-01", "2026-04-01"), "2 time future_date"),
        (ROW.replace("2026-03-01", "2026-04-01T00:30:00Z"), "2 time future_date"),
        (ROW.replace("C1", "C9"), "3 customer unknown_customer"),
        (ROW.replace("in", "both"), "4 direction bad_word"),
        (ROW.replace("cash", "barter"), "5 kind bad_word"),
        (ROW.replace("1234.50", "0"), "6 amount bad_amount"),
        (ROW.replace("1234.50", "-5"), "6 amount bad_amount"),
        (ROW.replace("1234.50", "1e5"), "6 amount bad_amount"),
        (ROW.replace("1234.50", "NaN"), "6 amount bad_amount"),
        (ROW.replace("1234.50", "12.345"), "6 amount ambiguous_amount"),
        (ROW.replace("1234.50", "1234567890123"), "6 amount bad_amount"),
        (ROW.replace("1234.50", ""), "6 amount missing_value"),
        (ROW.replace("EUR", "XXX"), "7 currency unknown_currency"),
        (ROW.replace("DE", "Germany"), "9 country bad_country"),
        (ROW.replace("DE", "de"), "9 country bad_country"),
    ];
    for (row, expected) in wrong {
        assert_eq!(refused(&row), [format!("transactions.csv:2 {expected}")], "{row}");
    }
    assert_eq!(refused("T1,2026-03-01,C1"), ["transactions.csv:2 cells"]);
    assert_eq!(refused(&format!("{ROW}\n{ROW}")), ["transactions.csv:3 1 id duplicate_id"]);
}

/// Tests that a stray quote in a table does not hide the following rows, whose findings would be lost.
#[test]
fn a_stray_quote_takes_no_row_with_it() {
    let noted = |cells: [&str; 3]| {
        let mut table = format!("{HEADER},note\n");
        for (number, cell) in (1..).zip(cells) {
            let _ = writeln!(table, "{},{cell}", ROW.replace("T1", &format!("T{number}")));
        }
        table
    };
    for (written, line, why) in [
        (["\"5 inch screen", "", ""], 2, "a quote is not closed on its line"),
        (["", "", "\"5 inch screen"], 4, "a quote is not closed on its line"),
        (["", "5\" screen", ""], 3, "a cell contains a quote"),
        (["", " \"screen\"", ""], 3, "a cell contains a quote"),
        (["", "\"5\" screen", ""], 3, "text follows a closing quote"),
        (["", "\"\"\"", ""], 3, "a quote is not closed on its line"),
        (["", "a\rb", ""], 3, "a cell has a line break"),
    ] {
        let problems = read_text(&noted(written)).unwrap_err();
        assert_eq!(codes(&problems), [format!("transactions.csv:{line} cells")], "{written:?}");
        let said = problems.to_string();
        assert!(said.contains(why) && said.contains("double its quotes"), "{said}");
    }
    // Two stray quotes that could form a pair are both reported, also in a watch list.
    let paired = format!("{0}\n{ROW}\n{0}", ROW.replace("Meadow", "\"Meadow"));
    assert_eq!(refused(&paired), ["transactions.csv:2 cells", "transactions.csv:4 cells"]);
    let watched = "id,name,list\nW1,\"Elm,pep\nW2,Nightshade,sanctions\n";
    assert_eq!(codes(&case(ROW, CUSTOMERS, watched).unwrap_err()), ["watchlist.csv:2 cells"]);
    let good = noted(["\"5\"\" screen, flat\"", "\"\"", ""]);
    assert_eq!(read_text(&good).unwrap().transactions.len(), 3);
    // Line numbers are also right if a file has the old Mac line ends (`\r`).
    let rows = read_text(&good.replace('\n', "\r")).unwrap().transactions;
    assert_eq!(rows.iter().map(|one| one.row).collect::<Vec<_>>(), [2, 3, 4]);
}

#[test]
fn no_message_quotes_a_cell() {
    let customers = "id,name,birth_date,country,pep\nSECRET-1,Secret Name,SECRET-DATE,SECRETLAND,secret\nSECRET-1,,2999-01-01,DE,no\n";
    let watched = "id,name,birth_date,list\nSECRET-W,Secret Watched,secret-date,SECRET-LIST\n";
    let problems =
        case(&ROW.replace("C1", "SECRET-2").replace("cash", "secret-kind"), customers, watched).unwrap_err();
    let told = format!("{problems} {}", serde_json::to_string(&problems).unwrap());
    assert!(!told.to_lowercase().contains("secret"), "{told}");
    assert!(problems.first.len() >= 8, "{told}");
    assert!(told.contains("customers.csv:2: column 3 (`birth_date`): bad_date. Write dates as"), "{told}");
}

#[test]
fn amounts_are_read_as_they_are_written_in_europe_and_elsewhere() {
    for (written, hundredths) in [
        ("1234.50", 123_450),
        ("1234,5", 123_450),
        ("1.234,50", 123_450),
        ("1,234.50", 123_450),
        ("1 234,50", 123_450),
        ("1'234.50", 123_450),
        ("1.234.567", 123_456_700),
        ("1.234.567,8", 123_456_780),
        ("7", 700),
        ("999999999999.99", 99_999_999_999_999),
    ] {
        let table = format!("{}\nT1;2026-03-01;C1;in;cash;{written};EUR;;DE\n", HEADER.replace(',', ";"));
        assert_eq!(read_text(&table).unwrap().transactions[0].written, hundredths, "{written}");
    }
    for wrong in ["1.23.456", "12.34.567,1", ",50", "1..5", "1,2,3", "12,34.5"] {
        let table = format!("{}\nT1;2026-03-01;C1;in;cash;{wrong};EUR;;DE\n", HEADER.replace(',', ";"));
        assert!(read_text(&table).is_err(), "{wrong}");
    }
}

#[test]
fn a_mark_of_its_bytes_other_separators_and_columns_in_another_order_are_read() {
    let table = "\u{feff}Amount;ID;Note;Time;Customer;Direction;Kind;Currency;Counterparty;Country\r\n\
                 1.000,00;T1;\"a; b\"\"c\";2026-03-01 23:30;C2;out;card;JPY;Meadow;FR\r\n\r\n";
    let case = read_text(table).unwrap();
    let one = &case.transactions[0];
    assert_eq!((one.row, one.customer, one.direction, one.kind), (2, 1, Direction::Out, "card"));
    // 1000 units at a rate of 6200 millionths.
    assert_eq!((one.written, one.amount, one.country), (100_000, 620, *b"FR"));
    let tabs = table.replace("\"a; b\"\"c\"", "a").replace(';', "\t");
    assert_eq!(read_text(&tabs).unwrap().transactions[0].amount, 620);
}

#[test]
fn times_count_in_utc() {
    let second =
        |time: &str| case(&ROW.replace("2026-03-01", time), CUSTOMERS, NOBODY).unwrap().transactions[0].at;
    assert_eq!(second("2026-03-01"), 1_772_323_200);
    assert_eq!(second("2026-03-01T01:00:00+01:00"), 1_772_323_200);
    assert_eq!(second("2026-02-28T19:00-05:00"), 1_772_323_200);
    assert_eq!(second("2026-03-01 00:00:07"), 1_772_323_207);
}

#[test]
fn headers_are_checked() {
    let of = |header: &str| codes(&read_text(&format!("{header}\n")).unwrap_err());
    assert_eq!(of(&HEADER.replace("amount,", "")), ["transactions.csv:1 missing_column"]);
    assert_eq!(of(&format!("{HEADER},amount")), ["transactions.csv:1 10 amount column_twice"]);
    let quoted = format!("{HEADER},\"note\n{ROW},\n");
    assert_eq!(codes(&read_text(&quoted).unwrap_err()), ["transactions.csv:1 cells"]);
    assert_eq!(codes(&read_text("").unwrap_err()), ["transactions.csv:0 empty"]);
    let latin = read(b"id,n\xe4me\n", CUSTOMERS.as_bytes(), NOBODY.as_bytes(), &rules(), AS_OF).unwrap_err();
    assert_eq!(codes(&latin), ["transactions.csv:0 not_utf8"]);
    // A case without transactions is valid, and has no findings.
    assert!(read_text(&format!("{HEADER}\n")).unwrap().transactions.is_empty());
}

#[test]
fn limits_have_names() {
    let long = ROW.replace("Meadow", &"m".repeat(limits::CELL_BYTES + 1));
    assert_eq!(refused(&long), ["transactions.csv:2 cell_too_long"]);
    let mut customers = String::from("id,name,country,pep\n");
    for number in 0..=limits::CUSTOMERS {
        let _ = writeln!(customers, "C{number},Ash,DE,no");
    }
    assert_eq!(codes(&case(ROW, &customers, NOBODY).unwrap_err()), ["customers.csv:0 too_many_rows"]);
    let mut rows = String::new();
    for number in 0..200 {
        let _ = writeln!(rows, "T{number},soon,C1,in,cash,5,EUR,,DE");
    }
    let problems = case(&rows, CUSTOMERS, NOBODY).unwrap_err();
    assert_eq!((problems.first.len(), problems.more), (limits::PROBLEMS, 200 - limits::PROBLEMS));
    assert!(problems.to_string().ends_with("\nand 150 more"));
}

#[test]
fn comparisons_of_names_have_a_limit() {
    // The names of a case count by their words and letters: few long names cost as much as many short ones.
    let long = "hawthorn ".repeat(limits::NAME_WORDS);
    for (names, name, is_refused) in
        [(4_600, "Ash", false), (15_000, "Ash", true), (500, long.as_str(), false), (1_000, &long, true)]
    {
        let (mut customers, mut watched) =
            (String::from("id,name,country,pep\n"), String::from("id,name,list\n"));
        for number in 0..names {
            let _ = writeln!(customers, "C{number},{name},DE,no");
            let _ = writeln!(watched, "W{number},{name},pep");
        }
        let table = format!("{HEADER}\n");
        let outcome = read(table.as_bytes(), customers.as_bytes(), watched.as_bytes(), &rules(), AS_OF);
        let expected: &[&str] = if is_refused { &["watchlist.csv:0 too_many_names"] } else { &[] };
        let refused = outcome.err().map(|refused| codes(&refused)).unwrap_or_default();
        assert_eq!(refused, expected, "{names} names: {name}");
    }
}
