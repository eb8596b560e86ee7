//! Similarity of names: single cases, and recall and precision over the pairs in `tests/names`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use holdshort_compliance::casework::{RuleId, Rules, similarity, warnings};

use crate::casework::support::{CUSTOMERS, case, found, rules};

/// Two names, with their kind, such as `arabic`, and whether they are of one person or company.
pub(crate) struct Pair {
    pub kind: String,
    pub is_same: bool,
    pub one: String,
    pub other: String,
}

/// Reads a file of pairs of names: paragraphs of a name, its other spellings after `=`, and other names after `!`.
pub(crate) fn pairs(file: &str) -> Vec<Pair> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/names").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let (mut kind, mut one, mut pairs) = (String::new(), None, Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if line.is_empty() {
            one = None;
        } else if let Some(name) = line.strip_prefix('[') {
            name.trim_end_matches(']').clone_into(&mut kind);
        } else if let Some(head) = one {
            let (mark, other) = line.split_once(' ').unwrap();
            assert!(["=", "!"].contains(&mark), "{line}");
            let (head, other): (&str, &str) = (head, other);
            pairs.push(Pair {
                kind: kind.clone(),
                is_same: mark == "=",
                one: head.to_owned(),
                other: other.to_owned(),
            });
        } else {
            one = Some(line);
        }
    }
    pairs
}

/// Numbers of pairs of names, by whether they are one name and whether the rule matches them.
#[derive(Clone, Copy, Default)]
struct Counts {
    found: usize,
    missed: usize,
    wrong: usize,
    right: usize,
}

impl Counts {
    fn of(pairs: &[Pair]) -> (Self, BTreeMap<&str, Self>) {
        let rules = rules();
        let least = rules.rules.iter().find(|rule| rule.id == RuleId::Sanctions).unwrap().least_similarity();
        let (mut all, mut kinds) = (Self::default(), BTreeMap::<&str, Self>::new());
        let pairs = pairs.iter().map(|pair| (pair, similarity(&rules, &pair.one, &pair.other) >= least));
        for (pair, is_found) in pairs {
            for counts in [&mut all, kinds.entry(&pair.kind).or_default()] {
                *match (pair.is_same, is_found) {
                    (true, true) => &mut counts.found,
                    (true, false) => &mut counts.missed,
                    (false, true) => &mut counts.wrong,
                    (false, false) => &mut counts.right,
                } += 1;
            }
        }
        (all, kinds)
    }

    fn percent(part: usize, whole: usize) -> String {
        let tenths = part * 1_000 / whole.max(1);
        format!("{}.{} %", tenths / 10, tenths % 10)
    }

    fn recall(self) -> String {
        Self::percent(self.found, self.found + self.missed)
    }

    fn precision(self) -> String {
        Self::percent(self.found, self.found + self.wrong)
    }

    /// Returns the recall and the precision for pairs of names as a row of the guide.
    fn row(self, part: &str) -> String {
        let (same, others) = (self.found + self.missed, self.wrong + self.right);
        format!("| {part} | {same} | {others} | {} | {} |", self.recall(), self.precision())
    }
}

/// Tests that the recall of matching names is at least 0.95 at a precision of at least 0.9, on pairs with which nothing
/// was tuned.
#[test]
fn the_held_back_pairs_are_told_apart() {
    let held_back = pairs("held_back.txt");
    let (all, kinds) = Counts::of(&held_back);
    for (kind, counts) in kinds {
        println!("{}", counts.row(kind));
    }
    println!("{}", all.row("held back"));
    assert!(all.found * 100 >= (all.found + all.missed) * 95, "the recall is {}", all.recall());
    assert!(all.found * 10 >= (all.found + all.wrong) * 9, "the precision is {}", all.precision());
    let tuning = pairs("tuning.txt");
    assert!(held_back.len() >= 350 && held_back.len() + tuning.len() >= 500);
    // A pair that is in both files would have been tuned with.
    let names = |pair: &Pair| {
        let mut names = [pair.one.to_lowercase(), pair.other.to_lowercase()];
        names.sort();
        names
    };
    for pair in &held_back {
        let is_known = tuning.iter().any(|known| known.one == pair.one || names(known) == names(pair));
        assert!(!is_known, "`{}` is in both files", pair.one);
    }
}

#[test]
fn the_guide_has_the_figures() {
    let mut rows = String::new();
    for (part, file) in [("tuning", "tuning.txt"), ("held back", "held_back.txt")] {
        let _ = writeln!(rows, "{}", Counts::of(&pairs(file)).0.row(part));
    }
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    assert!(
        guide.contains(&rows),
        "the table `How well names are compared` of docs/guide.md must be:\n{rows}"
    );
}

fn like(one: &str, other: &str) -> f64 {
    similarity(&rules(), one, other)
}

#[test]
fn letters_marks_order_forms_and_titles_make_no_difference() {
    for (one, other) in [
        ("Ash Hawthorn", "HAWTHORN, Ash"),
        ("Viorel Gențiană", "viorel gentiana"),
        ("Linde Weißdorn", "linde weissdorn"),
        ("Ｎightshade  Holdings", "Nightshade-Holdings"),
        ("Łucja Brzoza", "Lucja Brzoza"),
        ("ООО Ромашка", "OOO Romashka"),
        ("ООО Ромашка", "Romashka"),
        ("Atropa Trading S.A.", "Atropa Trading SA"),
        ("Dr. Ash Hawthorn", "Ash Hawthorn"),
        ("Rowan van der Elder", "Elder, Rowan"),
        ("Rowan van der Elder", "VAN DER ELDER, Rowan"),
        ("Ash Hawthorn", "Hawthorn, Ash, Dr."),
        ("Ash Hawthorn", "Ash Hawthorn Jr"),
        ("Colonel Ash Hawthorn", "Ash Hawthorn"),
        ("Dr. Graf", "Graf"),
        ("张松柏", "Zhang Songbai"),
        ("Snowdrop Line 01", "Snowdrop Line 1"),
    ] {
        assert!((like(one, other) - 1.0).abs() < 1e-12, "{one} and {other}: {}", like(one, other));
        assert!((like(other, one) - 1.0).abs() < 1e-12, "{other} and {one}: {}", like(other, one));
    }
}

/// Tests a name, another spelling of the name, and a near miss in each row.
#[test]
fn near_misses_are_other_names() {
    for (name, same, other) in [
        ("Mahmoud al-Zaytuni", "محمود الزيتوني", "محمد الزيتوني"),
        ("Muhammad al-Yasmini", "Mohammed Al Yasmini", "Muhammad al-Kattani"),
        ("Sergei Petrovich Lopukhov", "Sergei Lopukhov", "Sergei Ivanovich Lopukhov"),
        ("Al Rajhi Bank", "مصرف الراجحي", "Al Ahli Bank"),
        ("Tikhon Krapivnikov", "Тихон Крапивников", "Тимофей Крапивников"),
        ("Wang Xiaohe", "王小荷", "王小梅"),
        ("Snowdrop Line 1", "Snow Drop Line 1", "Snowdrop Line 2"),
        ("Robert Hawthornley", "Bob Hawthornley", "Roger Hawthornley"),
        ("Nightshade Holdings", "Nightshade Holding Ltd", "Nightingale Holdings"),
        ("Theodoros Chrysanthemis", "Θεόδωρος Χρυσανθέμης", "Θεόφιλος Χρυσανθέμης"),
        ("Abd al-Rahman Qurunfuli", "Abdulrahman Qurunfuli", "Abd al-Rahim Qurunfuli"),
        // Particles and titles that are family names.
        ("Du Wei", "DU, Wei", "Le Wei"),
        ("Du Wei", "杜薇", "Wei"),
        ("Chen Bin", "Chen, Bin", "Chen Di"),
        ("Ram Das", "Mr. Ram Das", "Ram De"),
        ("Le Hoa Quynh", "Quynh Le Hoa", "Do Hoa Quynh"),
        ("Carmen de la Retama", "Retama, Carmen de la", "Carmen de la Romana"),
        ("Karl Graf", "GRAF, Dr. Karl", "Karl"),
        ("Karl Graf", "Dr. Karl Graf", "Karl Baron"),
        ("Ali al-Hajj", "HAJJ, Ali", "Ali al-Imam"),
        ("Martin King", "King, Martin", "Martin Prince"),
    ] {
        assert!(like(name, same) >= 0.85, "{name} and {same}: {}", like(name, same));
        assert!(like(name, other) < 0.85, "{name} and {other}: {}", like(name, other));
    }
    assert!(like("Ash Hawthorn", "Hemlock Oleander") < 0.5);
    // The similarity of an empty name is 0, even to another empty name.
    for nothing in ["", "-", "...", "''"] {
        assert!(like(nothing, nothing).abs() < 1e-12, "{nothing}");
    }
}

#[test]
fn a_short_name_is_like_itself_alone() {
    for short in ["AB", "李明", "Ng", "Ltd", "al", "7"] {
        assert!((like(short, &short.to_lowercase()) - 1.0).abs() < 1e-12, "{short}");
        assert!(like(short, "Nga").abs() < 1e-12, "{short}");
        assert!(like(short, "").abs() < 1e-12, "{short}");
    }
}

#[test]
fn the_longest_names_are_compared() {
    let many = "Ash ".repeat(250);
    let long = "х".repeat(400);
    assert!((like(&many, &many) - 1.0).abs() < 1e-12);
    assert!((like(&long, &long) - 1.0).abs() < 1e-12);
    assert!(like(&many, &long).abs() < 1e-12);
}

#[test]
fn a_match_between_scripts_says_so() {
    let watched = "id,name,aliases,birth_date,list\nW1,Тихон Крапивников,,,sanctions\n";
    let customers = "id,name,country,pep\nC1,Tikhon Krapivnikov,DE,no\n";
    let expected =
        ["sanctions customer 1 [2] 1000 100 row 2 of the watch list, 100 % similar, in another script"];
    assert_eq!(found("T1,2026-03-01,C1,out,card,10,EUR,,DE\n", customers, watched), expected);
}

#[test]
fn names_in_a_script_that_the_list_lacks_are_warned_of() {
    let customers =
        "id,name,country,pep\nC1,Тихон Крапивников,DE,no\nC2,Ash Hawthorn,DE,no\nC3,王小荷,CN,no\n";
    let rows = "T1,2026-03-01,C1,out,card,10,EUR,ООО Ромашка,DE\nT2,2026-03-01,C1,out,card,10,EUR,7,DE\n";
    let warned = |customers: &str, watched: &str| warnings(&case(rows, customers, watched).unwrap());
    let header = "id,name,aliases,birth_date,list\n";
    let latin = format!("{header}W1,Rowan Elder,,,pep\n");
    let expected = |script: &str, counts: &str, listed: &str| {
        format!(
            "The names of {counts} are in the script {script}, but the watch list only has names in {listed}. \
             Transliterated names match less reliably: add aliases in the script {script} to the watch list."
        )
    };
    assert_eq!(
        warned(customers, &latin),
        [
            expected("Cyrillic", "1 customer and 1 counterparty", "Latin"),
            expected("Han", "1 customer and 0 counterparties", "Latin")
        ]
    );
    // An alias in the script is enough, and an empty list is not compared at all.
    let aliases = format!("{header}W1,Rowan Elder,Рябина|王小梅,,pep\n");
    assert_eq!(warned(customers, &aliases), [""; 0]);
    assert_eq!(warned(customers, header), [""; 0]);
    let customers = CUSTOMERS.replace("Ash Hawthorn", "Ash Hawthorn (Эш)");
    assert_eq!(warned(&customers, &latin), [expected("Cyrillic", "0 customers and 1 counterparty", "Latin")]);
}

#[test]
fn earlier_rules_are_refused_and_the_lists_are_checked() {
    let start = Rules::text().find("# How names are compared").unwrap();
    let earlier = Rules::text()[..start].replace("similarity: 85", "similarity: 92");
    let told = Rules::parse_case_rules(&earlier).unwrap_err();
    assert!(told.starts_with("`names` is missing: since version 2026-02"), "{told}");
    for (from, to, why) in [
        ("  sounds: {", "  sounds: {É: e, ", "`names.sounds` may only have the letters a to z"),
        ("  alike: [", "  alike: [A1, ", "`names.alike` may only have the letters a to z, not `A1`"),
        ("  letters: {", "  letters: {ж: ж, ", "`names.letters` must map letters to the letters a to z"),
        ("  titles: [", "  titles: ['-', ", "an entry of `names.titles` has no letter: `-`"),
        ("  end_titles: [", "  end_titles: ['-', ", "an entry of `names.end_titles` has no letter: `-`"),
        (
            "  particles: [",
            "  particles: [de la, ",
            "an entry of `names.particles` must be one word: `de la`",
        ),
        (
            "  spellings:\n",
            "  spellings:\n    - [robert, ash]\n",
            "`robert` is in two lists of `names.spellings`",
        ),
        ("  titles: [", "  tittles: [", "tittles"),
    ] {
        let text = Rules::text().replacen(from, to, 1);
        assert_ne!(text, Rules::text(), "{from}");
        let told = Rules::parse_case_rules(&text).unwrap_err();
        assert!(told.contains(why), "{to}: {told}");
    }
}

/// Tests that a word is used in comparisons of names if a case adds it to the word lists.
#[test]
fn a_list_of_a_case_counts() {
    let own = Rules::text().replacen("  spellings:\n", "  spellings:\n    - [ash, escher]\n", 1);
    let own = Rules::parse_case_rules(&own).unwrap();
    assert!(similarity(&own, "Ash Hawthorn", "Escher Hawthorn") >= 0.85);
    assert!(like("Ash Hawthorn", "Escher Hawthorn") < 0.85);
}
