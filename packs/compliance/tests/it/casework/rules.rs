//! Each rule just below and at its thresholds, the conditions that hold a report back for review, and the rules of a
//! case.

use holdshort_compliance::casework::{Rules, examine, read};

use crate::casework::support::{AS_OF, CUSTOMERS, HEADER, NOBODY, case, examined, found, rules};

fn rows(rows: &[&str]) -> String {
    let numbered = rows.iter().enumerate().map(|(at, row)| format!("T{at},{row}\n"));
    numbered.collect()
}

#[test]
fn large_cash_is_found_from_the_amount_on() {
    let of =
        |amount: &str| found(&rows(&[&format!("2026-03-01,C1,in,cash,{amount},EUR,,DE")]), CUSTOMERS, NOBODY);
    assert_eq!(of("9999.99"), [""; 0]);
    assert_eq!(of("10000.00"), ["large_cash customer 1 [2] 1000000 100"]);
    // 11111.11 dollars are 9999.999 euros, which is rounded to 10000.00.
    let dollars = "2026-03-01,C1,in,cash,11111.11,USD,,DE";
    assert_eq!(found(&rows(&[dollars]), CUSTOMERS, NOBODY), ["large_cash customer 1 [2] 1000000 100"]);
}

#[test]
fn structuring_needs_count_sum_and_time() {
    let cash = |day: &str, amount: &str| format!("{day},C1,in,cash,{amount},EUR,,DE");
    let of = |cells: &[(&str, &str)]| {
        let cells: Vec<String> = cells.iter().map(|(day, amount)| cash(day, amount)).collect();
        found(&rows(&cells.iter().map(String::as_str).collect::<Vec<_>>()), CUSTOMERS, NOBODY)
    };
    let found = of(&[("2026-03-01", "3400.01"), ("2026-03-04", "3400"), ("2026-03-08", "3200")]);
    assert_eq!(found, ["structuring customer 1 [2 3 4] 1000001 90"]);
    assert_eq!(
        of(&[("2026-03-01", "3400"), ("2026-03-04", "3400"), ("2026-03-08T00:00:01Z", "3400")]),
        [""; 0]
    );
    assert_eq!(of(&[("2026-03-01", "3400"), ("2026-03-04", "3400"), ("2026-03-08", "3199.99")]), [""; 0]);
    assert_eq!(of(&[("2026-03-01", "9000"), ("2026-03-04", "1999")]), [""; 0]);
}

#[test]
fn a_window_that_shows_it_is_one_finding_and_the_next_begins_behind_it() {
    let cells: Vec<String> =
        (1..=12).map(|day| format!("2026-03-{day:02},C1,in,cash,2500.50,EUR,,DE")).collect();
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let of = found(&rows(&cells), CUSTOMERS, NOBODY);
    let expected = [
        "structuring customer 1 [2 3 4 5 6 7 8 9] 2000400 90",
        "structuring customer 1 [10 11 12 13] 1000200 90",
    ];
    assert_eq!(of, expected);
}

#[test]
fn money_that_leaves_again_is_found_by_what_passed() {
    let of = |out: &str, time: &str| {
        let came = "2026-03-01T08:00:00Z,C2,in,transfer,6000,EUR,Meadow,DE";
        let left = format!("{time},C2,out,transfer,{out},EUR,Fern,FR");
        found(&rows(&[came, &left]), CUSTOMERS, NOBODY)
    };
    assert_eq!(of("5400.00", "2026-03-03T08:00:00Z"), ["pass_through customer 2 [2 3] 540000 88"]);
    assert_eq!(of("5399.99", "2026-03-03T08:00:00Z"), [""; 0]);
    assert_eq!(of("5400.00", "2026-03-03T08:00:01Z"), [""; 0]);
}

#[test]
fn lists_find_names_and_say_how_certain_they_are() {
    let watched = "id,name,aliases,birth_date,list\n\
                   W1,\"Hawthorn, Ash\",,1971-04-02,sanctions\n\
                   W2,Rowan Elders,,1950-01-01,pep\n\
                   W3,Nightshade Holdings,Belladonna | Atropa Trading,,sanctions\n";
    let customers =
        "id,name,birth_date,country,pep\nC1,Ash Hawthorn,1971-04-02,DE,no\nC2,Rowan Elder,1985-11-23,AT,no\n";
    let transactions =
        rows(&["2026-03-01,C1,out,card,10,EUR,Atropa Trading,FR", "2026-03-02,C2,out,card,20,EUR,Meadow,FR"]);
    let expected = [
        "sanctions customer 1 [2] 1000 100 row 2 of the watch list, 100 % similar",
        "sanctions party 1 [2] 1000 100 row 4 of the watch list, 100 % similar",
        "pep customer 2 [3] 2000 71 row 3 of the watch list, 91 % similar, different birth date",
    ];
    assert_eq!(found(&transactions, customers, watched), expected);
}

#[test]
fn each_pause_rule_holds_by_itself() {
    let of = |cells: &[&str], customers: &str, watched: &str| {
        let examined = examined(&rows(cells), customers, watched);
        examined.pause.into_iter().map(|reason| reason.id).collect::<Vec<_>>()
    };
    let plain = "2026-03-01,C1,out,card,10,EUR,Meadow,DE";
    assert_eq!(of(&[plain], CUSTOMERS, NOBODY), [""; 0]);
    assert_eq!(of(&["2026-03-01,C1,in,cash,10000,EUR,,DE"], CUSTOMERS, NOBODY), ["amount_with_indicators"]);
    assert_eq!(
        of(&["2026-03-01,C1,out,card,10,EUR,Meadow,IR"], CUSTOMERS, NOBODY),
        ["high_risk_jurisdiction"]
    );
    assert_eq!(of(&["2026-03-01,C1,out,crypto,10,EUR,Meadow,DE"], CUSTOMERS, NOBODY), ["novel_technique"]);
    assert_eq!(of(&[plain], &CUSTOMERS.replace("DE,no", "DE,yes"), NOBODY), ["pep"]);
    let watched = format!("{NOBODY}W1,Meadow,,,sanctions\n");
    assert_eq!(of(&[plain], CUSTOMERS, &watched), ["sanctions", "risk"]);
    // If the birth dates differ, a name match is less certain.
    let watched = format!("{NOBODY}W1,Ash Hawthorn,,1950-01-01,pep\n");
    assert_eq!(of(&[plain], CUSTOMERS, &watched), ["pep", "low_confidence"]);
    let at_risk = ["2026-03-01,C1,in,cash,10000,EUR,,MM", "2026-03-01,C1,out,crypto,9000,EUR,,DE"];
    let all = ["amount_with_indicators", "high_risk_jurisdiction", "novel_technique", "risk"];
    assert_eq!(of(&at_risk, CUSTOMERS, NOBODY), all);
}

#[test]
fn rules_of_a_cases_own_always_hold_it_back() {
    let loose = Rules::text().replace("high_risk_countries: [IR, KP, MM]", "high_risk_countries: []");
    let own = Rules::parse_case_rules(&loose).unwrap();
    let table = format!("{HEADER}\nT1,2026-03-01,C1,out,card,10,EUR,Meadow,IR\n");
    let case = read(table.as_bytes(), CUSTOMERS.as_bytes(), NOBODY.as_bytes(), &own, AS_OF).unwrap();
    let examined = examine(&case, &own);
    assert!(examined.findings.is_empty());
    assert_eq!(examined.pause.iter().map(|reason| &*reason.id).collect::<Vec<_>>(), ["own_rules"]);
}

#[test]
fn rules_are_checked() {
    let wrong = [
        ("amount: 10000", "amont: 10000", "amont"),
        ("    share: 90\n", "", "the rule `pass_through` needs `share`"),
        (
            "    weight: 35\n",
            "    weight: 35\n    hours: 5\n",
            "the rule `high_risk_country` has no setting `hours`: remove it",
        ),
        ("confidence: 86", "confidence: 186", "the rule `round_amounts` has a value above 100 percent"),
        ("id: velocity", "id: pass_through", "the rule `velocity` is missing"),
        ("id: velocity", "id: speed", "there is no rule with this id"),
        ("EUR: 1000000", "EUR: 900000", "the base currency must have the rate 1000000"),
        ("    count: 8\n", "    count: 0\n", "`count` of the rule `velocity` is zero"),
        (
            r#"["Enhanced due diligence (FATF Recommendation 19)"]"#,
            r#"[" "]"#,
            "the rule `high_risk_country` has an empty entry in `implications`",
        ),
        (
            r#"["Enhanced due diligence (FATF Recommendation 19)"]"#,
            "[a, b, c, d, e, f, g, h, i, j, k]",
            "the rule `high_risk_country` has more than 10 `implications`",
        ),
        (", min_amount: 5000", "", "an entry of `pause` has no criterion"),
    ];
    for (from, to, why) in wrong {
        let text = Rules::text().replacen(from, to, if from.starts_with("amount") { 1 } else { usize::MAX });
        assert_ne!(text, Rules::text(), "{from}");
        let told = Rules::parse_case_rules(&text).unwrap_err();
        assert!(told.contains(why), "{to}: {told}");
    }
    assert!(rules().rules.iter().all(|rule| !rule.source.is_empty() && !rule.description.is_empty()));
}

/// Tests that the order of the rows in the tables of a case does not change the findings.
#[test]
fn rows_in_another_order_have_the_same_findings() {
    let cells = [
        "2026-03-01,C1,in,cash,4000,EUR,,DE",
        "2026-03-02,C1,in,cash,4000,EUR,,DE",
        "2026-03-03,C1,in,cash,4000,EUR,,DE",
    ];
    let turned: Vec<&str> = cells.iter().rev().copied().collect();
    let amounts = |cells: &[&str]| {
        let examined = examined(&rows(cells), CUSTOMERS, NOBODY);
        examined.findings.iter().map(|one| (one.rule, one.amount, one.rows.len())).collect::<Vec<_>>()
    };
    assert_eq!(amounts(&cells), amounts(&turned));
    assert!(case("", CUSTOMERS, NOBODY).is_ok());
}
